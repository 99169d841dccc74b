"""What calls are told that follow something: the newest, however slowly their clients read."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import grpc
import pytest
from grpc._cython import cygrpc

from bailiff.grpc_api.following import Following

if TYPE_CHECKING:
    from bailiff.grpc_api.connection import Connection
    from bailiff.grpc_api.interceptors import Context


class Client:
    """One that reads when it is let, and may go."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.reads = asyncio.Event()
        self.error: Exception | None = None

    async def write(self, answer: str) -> None:
        await self.reads.wait()
        if self.error is not None:
            raise self.error
        self.told.append(answer)

    def following(self) -> tuple[Following, Any]:
        connection = SimpleNamespace(active=1)
        return Following(cast("Context", self), cast("Connection", connection)), connection


async def test_nobody_waits_for_a_client_and_it_is_told_the_newest() -> None:
    client = Client()
    following, _ = client.following()
    for answer in ("a", "b", "c"):
        await following.write(answer)
        await asyncio.sleep(0)
    client.reads.set()
    await asyncio.sleep(0.01)
    assert client.told == ["a", "c"]
    await following.write("d")
    await asyncio.sleep(0.01)
    assert client.told == ["a", "c", "d"]


async def test_a_call_ends_when_its_answer_is_written_and_counts_as_unread_till_then() -> None:
    client = Client()
    following, connection = client.following()
    await following.write("a")
    await asyncio.sleep(0)
    await following.write("never told")
    ending = asyncio.create_task(following.end())
    for _ in range(2):
        await asyncio.sleep(0)
        ending.cancel()
    await asyncio.sleep(0.01)
    assert not ending.done()
    assert connection.active == 0
    client.reads.set()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert connection.active == 1
    assert client.told == ["a"]


@pytest.mark.parametrize("error", [grpc.aio.InternalError(), cygrpc._ServerStoppedError()])
async def test_of_a_client_that_has_gone_the_next_answer_tells(error: Exception) -> None:
    client = Client()
    client.error = error
    client.reads.set()
    following, _ = client.following()
    await following.write("a")
    await asyncio.sleep(0.01)
    with pytest.raises(type(error)):
        await following.write("b")
    await following.end()


async def test_a_call_that_was_told_nothing_ends_at_once() -> None:
    await Client().following()[0].end()
