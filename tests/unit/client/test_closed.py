"""A client that was closed says so, whichever of the four it is and whatever it was doing."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web

from bailiff.client import ClientSettings, Retries, UnavailableError
from bailiff.client.calls import AsyncCalls, Calls
from bailiff.client.errors import Failure, error_of, late
from bailiff.client.tokens import Bearer
from tests.harness import scripted_grpc
from tests.harness.judge import Judge, Stream, named
from tests.harness.scripts import GRPC, QUESTION, QUICK, REST, Script, ok, ok_grpc, part, scripted
from tests.harness.ways import WAYS, Ports, Way, client

NOBODY = Bearer(ClientSettings(), host="127.0.0.1", secure=False)
AN_HOUR = ClientSettings(timeout=10_000, retries=Retries(first_pause=7200, longest_pause=7200))
PATIENT = ClientSettings(timeout=60, attempt_timeout=60, retries=Retries(attempts=1))


async def never_used(_: Way) -> None:
    """Closed before its first question."""


async def used(asking: Way) -> None:
    assert (await asking.ask("decide", QUESTION)).decision.reason == "NoTaint"


USES: dict[str, Callable[[Way], Any]] = {
    "decide": lambda asking: asking.ask("decide", QUESTION),
    "decide_batch": lambda asking: asking.ask("decide_batch", {"pods": []}),
    "parts": lambda asking: asking.parts("decide_batch_in_parts", {"pods": []}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("before", [never_used, used])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
async def test_closed(way: str, before: Any, use: Callable[[Way], Any]) -> None:
    script = Script(ok if way in REST else ok_grpc)
    async with scripted(way, script) as ports, client(way, ports, QUICK) as asking:
        await before(asking)
        asked = script.calls
        await asking.close()
        with pytest.raises(UnavailableError) as raised:
            await use(asking)
    assert raised.value.code == "closed"
    assert script.calls == asked


@pytest.mark.parametrize("way", REST)
async def test_closed_and_a_look_up(way: str) -> None:
    async with client(way, Ports(1, 1), QUICK) as asking:
        await asking.close()
        with pytest.raises(UnavailableError) as raised:
            await asking.ask("decide_pod", "default", "web")
    assert raised.value.code == "closed"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
async def test_closed_while_others_wait_for_an_answer(way: str, use: Callable[[Way], Any]) -> None:
    """Well before their time is up, which is a minute here."""
    came = asyncio.Semaphore(0)

    async def hanging(_: Any) -> web.Response:
        came.release()
        await asyncio.sleep(60)
        return web.Response()

    async def hanging_grpc(_: Any) -> AsyncIterator[bytes]:
        await hanging(_)
        yield b""

    script = Script(hanging if way in REST else hanging_grpc)
    async with scripted(way, script) as ports, client(way, ports, PATIENT) as asking:
        others = [asyncio.create_task(use(asking)) for _ in range(3)]
        for _ in others:
            await came.acquire()
        await asking.close()
        async with asyncio.timeout(20):
            raised = await asyncio.gather(*others, return_exceptions=True)
    assert [getattr(one, "code", one) for one in raised] == ["closed"] * 3


@pytest.mark.parametrize("way", GRPC)
async def test_closed_between_two_parts(way: str) -> None:
    first = asyncio.Event()

    async def one_part(_: Any) -> AsyncIterator[bytes]:
        yield part("a")
        first.set()
        await asyncio.sleep(60)

    async with scripted(way, Script(one_part)) as ports, client(way, ports, PATIENT) as asking:
        other = asyncio.create_task(asking.parts("decide_batch_in_parts", {"pods": []}))
        await first.wait()
        await asking.close()
        async with asyncio.timeout(20):
            with pytest.raises(UnavailableError) as raised:
                await other
    assert raised.value.code == "closed"


async def test_closed_while_a_thread_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that is made when all others have been closed is closed, too."""
    connects, closed = threading.Event(), threading.Event()

    def addresses(host: str, port: int) -> list[str]:
        connects.set()
        closed.wait()
        return [host]

    monkeypatch.setattr("bailiff.client.deadlines._addresses", addresses)
    with socket.socket() as listening:
        # The kernel takes connections, and nobody answers.
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        async with client("rest", Ports(port, port), PATIENT) as asking:
            other = asyncio.create_task(asking.ask("decide", QUESTION))
            await asyncio.to_thread(connects.wait)
            await asking.close()
            closed.set()
            async with asyncio.timeout(20):
                with pytest.raises(UnavailableError, match="closed"):
                    await other


async def test_closed_while_a_task_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    connects = asyncio.Event()

    async def connecting(*_: Any, **_more: Any) -> None:
        connects.set()
        await asyncio.sleep(60)

    monkeypatch.setattr("httpcore2.AnyIOBackend.connect_tcp", connecting)
    async with client("async rest", Ports(1, 1), PATIENT) as asking:
        other = asyncio.create_task(asking.ask("decide", QUESTION))
        await connects.wait()
        await asking.close()
        async with asyncio.timeout(20):
            with pytest.raises(UnavailableError, match="closed"):
                await other


async def test_closed_while_another_thread_waits_to_ask_again() -> None:
    """The pause would be an hour long."""
    failed = threading.Event()

    def failing(_: float) -> None:
        failed.set()
        raise error_of(Failure("unreachable", "nobody"))

    calls = Calls(AN_HOUR, NOBODY)
    other = asyncio.create_task(asyncio.to_thread(calls.make, failing, None))
    await asyncio.to_thread(failed.wait)
    calls.close()
    async with asyncio.timeout(20):
        with pytest.raises(UnavailableError, match="closed"):
            await other


@pytest.mark.looptime
async def test_closed_while_another_task_waits_to_ask_again() -> None:
    loop = asyncio.get_running_loop()

    async def failing(_: float) -> None:
        raise error_of(Failure("unreachable", "nobody"))

    calls = AsyncCalls(AN_HOUR, NOBODY)
    other = asyncio.create_task(calls.make(failing, None))
    await asyncio.sleep(1)
    calls.close()
    with pytest.raises(UnavailableError, match="closed"):
        await other
    assert loop.time() == 1


@pytest.mark.looptime
async def test_closed_while_an_attempt_of_another_task_ends_by_it() -> None:
    """It ends as one whose time is up, and is not asked again after an hour."""
    loop = asyncio.get_running_loop()
    calls = AsyncCalls(AN_HOUR, NOBODY)

    async def hanging(_: float) -> None:
        try:
            async with calls.within(None):
                await asyncio.sleep(7200)
        except TimeoutError:
            raise late() from None

    other = asyncio.create_task(calls.make(hanging, None))
    await asyncio.sleep(1)
    calls.close()
    with pytest.raises(UnavailableError, match="closed"):
        await other
    assert loop.time() == 1


@pytest.mark.parametrize("way", ["async grpc", "async rest"])
async def test_two_close_at_once_while_another_waits_to_ask_again(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second comes when the wait has been ended, and who waits does not know it yet."""
    waits = asyncio.Event()

    def pause(*_: Any) -> float:
        waits.set()
        return 3600

    monkeypatch.setattr("bailiff.client.retrying.Attempts.pause", pause)
    async with client(way, Ports(1, 1)) as asking:
        other = asyncio.create_task(asking.ask("decide", QUESTION))
        await waits.wait()
        first = asyncio.create_task(asking.close())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await asking.close()
        await first
        with pytest.raises(UnavailableError, match="closed"):
            await other


async def test_a_task_that_is_cancelled_is_no_error_of_ours() -> None:
    async def hanging_grpc(_: Any) -> AsyncIterator[bytes]:
        await asyncio.sleep(60)
        yield b""

    async with (
        scripted("async grpc", Script(hanging_grpc)) as ports,
        client("async grpc", ports, PATIENT) as asking,
    ):
        task = asyncio.create_task(asking.ask("decide", QUESTION))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("way", GRPC)
async def test_a_client_is_closed_while_others_ask_by_its_stream(way: str) -> None:
    judge = Judge()
    async with (
        scripted_grpc.serving(judge) as port,
        client(way, Ports(port, port), PATIENT) as asking,
    ):
        stream = Stream(asking.client.judge_nodes_stream())
        await stream.do("register", [named("a")])
        hangs = asyncio.Event()

        async def hanging(_: Any) -> None:
            hangs.set()
            await asyncio.sleep(60)

        judge.on[len(judge.seen) + 1] = hanging
        other = asyncio.create_task(stream.known())
        await hangs.wait()
        await asking.close()
        async with asyncio.timeout(20):
            with pytest.raises(UnavailableError) as raised:
                await other
    assert raised.value.code == "closed"
