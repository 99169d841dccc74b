"""A client with `await` belongs to the event loop in which it is used first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bailiff.client import (
    AsyncGrpcClient,
    AsyncRestClient,
    ClientSettings,
    Retries,
    UnavailableError,
)
from tests.harness.scripts import QUESTION

ONCE = ClientSettings(retries=Retries(attempts=1))


def rest() -> AsyncRestClient:
    return AsyncRestClient("http://127.0.0.1:1", ONCE)


def grpc() -> AsyncGrpcClient:
    return AsyncGrpcClient("127.0.0.1:1", ONCE)


async def all_parts(client: Any) -> None:
    async for _ in client.decide_batch_in_parts({"pods": []}):
        pass


async def register(client: Any) -> None:
    await client.judge_nodes_stream().register([])


USES: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "ask": lambda client: client.decide(QUESTION),
    "parts": all_parts,
    "close": lambda client: client.close(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("make", [rest, grpc])
def test_a_second_loop_is_refused(make: Callable[[], Any], use: Callable[[Any], Any]) -> None:
    client = make()
    with asyncio.Runner() as first, asyncio.Runner() as second:
        with pytest.raises(UnavailableError):
            first.run(client.decide(QUESTION))
        with pytest.raises(RuntimeError, match="make one in each loop"):
            second.run(use(client))
        # Where it belongs it goes on.
        with pytest.raises(UnavailableError):
            first.run(client.decide(QUESTION))
        first.run(client.close())


def test_a_stream_of_nodes_is_of_its_clients_loop() -> None:
    client = grpc()
    with asyncio.Runner() as first, asyncio.Runner() as second:
        with pytest.raises(UnavailableError):
            first.run(register(client))
        with pytest.raises(RuntimeError, match="make one in each loop"):
            second.run(register(client))
        first.run(client.close())


@pytest.mark.parametrize("make", [rest, grpc])
def test_a_client_that_asked_nothing_may_be_closed_in_any_loop(make: Callable[[], Any]) -> None:
    with asyncio.Runner() as first:
        first.run(make().close())
