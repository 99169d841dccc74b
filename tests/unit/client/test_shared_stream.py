"""A stream of nodes that several ask by: whoever waits, gives up, or closes it."""

from __future__ import annotations

import asyncio
import time

import pytest

from bailiff.client import ClientSettings, DeadlineError, Retries, UnavailableError
from bailiff.client.messages import Pod
from bailiff.client.registering import Registered, slim
from bailiff.grpc_api.errors import OverloadedError as OverloadedHereError
from tests.harness.judge import Judge, Stream, hang, named, opened, refusing
from tests.harness.scripts import GRPC
from tests.harness.ways import Ports, client

PATIENT = ClientSettings(timeout=20, attempt_timeout=20)


@pytest.mark.parametrize("way", GRPC)
async def test_who_waits_for_others_waits_no_longer_than_it_wants(way: str) -> None:
    judge = Judge()
    async with opened(way, judge, PATIENT) as stream:
        await stream.do("register", [named("a")])
        judge.on[len(judge.seen) + 1] = hang
        other = asyncio.create_task(stream.known())
        await judge.asked(3)
        for asked in (("judge", [Pod()]), ("change", [named("b")])):
            with pytest.raises(DeadlineError, match="others ask"):
                await stream.do(*asked, timeout=0.05)
        assert not other.done()
        await stream.do("close")
        with pytest.raises(UnavailableError):
            await other


@pytest.mark.parametrize("way", GRPC)
async def test_to_close_ends_what_others_ask(way: str) -> None:
    judge = Judge()
    async with opened(way, judge, PATIENT) as stream:
        await stream.do("register", [named("a")])
        judge.on[len(judge.seen) + 1] = hang
        other = asyncio.create_task(stream.known())
        await judge.asked(3)
        await stream.do("close")
        with pytest.raises(UnavailableError) as raised:
            await other
        assert raised.value.code == "closed"
        with pytest.raises(UnavailableError):
            await stream.known()


@pytest.mark.parametrize("way", GRPC)
async def test_the_stream_of_a_client_that_was_closed_says_so(way: str) -> None:
    async with client(way, Ports(1, 1)) as asking:
        stream = asking.client.judge_nodes_stream()
        await asking.close()
        with pytest.raises(UnavailableError) as raised:
            await Stream(stream).do("register", [named("a")])
        assert raised.value.code == "closed"


async def test_a_change_that_is_given_up_between_attempts_leaves_the_nodes_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bailiff.client.registering._BYTES", 1)
    judge = Judge()
    patient = ClientSettings(retries=Retries(first_pause=60, longest_pause=60))
    monkeypatch.setattr("bailiff.client.retrying.Attempts._drawn", lambda _: 10.0)
    async with opened("async grpc", judge, patient) as stream:
        await stream.do("register", [named("gone")])
        judge.on[len(judge.seen) + 2] = refusing(OverloadedHereError("no"))
        change = asyncio.create_task(stream.do("change", [named("a"), named("b")], ["gone"]))
        await judge.asked(4)
        await asyncio.wait([change], timeout=0.05)
        change.cancel()
        with pytest.raises(asyncio.CancelledError):
            await change
        assert stream.stream.names == {"gone"}
        assert await stream.known() == ["gone"]


def test_many_nodes_go_as_quickly_as_few() -> None:
    present = Registered(
        {one.metadata.name: one for one in slim(named(f"n{i}") for i in range(5000))}
    )
    began = time.process_time()
    made, _ = present.changed([], [f"n{i}" for i in range(4999)])
    assert time.process_time() - began < 0.3
    assert list(made.nodes) == ["n4999"]
