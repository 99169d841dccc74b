"""The port of probes: answered by a thread of its own, with next to nothing."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncIterator

import pytest

from bailiff.serving import Answer, Complaint, HealthPort, Pulse, Verdicts
from bailiff.serving.probes import ProbeBounds

LIMIT = 20.0  # seconds for anything here; it is never reached
WRONG = Verdicts(
    (Complaint("tasks", "a task has ended"),),
    (Complaint("lists", "nothing is listed"), Complaint("clock", "the clock is wrong")),
)
LATE = "not well: loop"


def beating(verdicts: Verdicts) -> Pulse:
    pulse = Pulse(10, lambda: verdicts)
    pulse.beat()
    return pulse


@contextlib.asynccontextmanager
async def serving(
    pulse: Pulse | None = None, bounds: ProbeBounds | None = None
) -> AsyncIterator[int]:
    port = HealthPort(pulse or beating(Verdicts()), "127.0.0.1", 0, bounds or ProbeBounds())
    number = await port.start()
    try:
        async with asyncio.timeout(LIMIT):
            yield number
    finally:
        await port.stop()


def ask_at_once(port: int, sent: bytes) -> bytes:
    """All that comes until it hangs up; blocks."""
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as client:
        client.sendall(sent)
        return b"".join(iter(lambda: client.recv(4096), b""))


async def ask(port: int, sent: bytes) -> bytes:
    return await asyncio.to_thread(ask_at_once, port, sent)


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 10.0.0.1:8082\r\nUser-Agent: kube-probe\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("sent", "verdicts", "status", "body"),
    [
        (get("/healthz"), Verdicts(), 200, "ok"),
        (get("/readyz"), Verdicts(), 200, "ok"),
        (get("/readyz?verbose"), Verdicts(), 200, "ok"),
        (get("http://a/readyz"), Verdicts(), 200, "ok"),
        (get("/healthz"), WRONG, 503, "not well: tasks"),
        (get("/readyz"), WRONG, 503, "not ready: lists, clock"),
        (b"GET /healthz HTTP/1.0\r\n\r\n", Verdicts(), 200, "ok"),
        (get("/healthz/"), Verdicts(), 404, "here are /healthz and /readyz"),
        (get("/metrics"), Verdicts(), 404, "here are /healthz and /readyz"),
        (get("/"), Verdicts(), 404, "here are /healthz and /readyz"),
        (b"HEAD /healthz HTTP/1.1\r\n\r\n", WRONG, 503, ""),
        (b"POST /healthz HTTP/1.1\r\n\r\n", Verdicts(), 405, "only GET and HEAD are answered"),
        (b"\x16\x03\x01\x02\r\n\r\n", Verdicts(), 400, "not an HTTP request"),
        (b"hello there\r\n\r\n", Verdicts(), 400, "not an HTTP request"),
        (b"GET " + b"/" * 5000, Verdicts(), 431, "at most 4096 bytes are allowed"),
    ],
)
async def test_answers(sent: bytes, verdicts: Verdicts, status: int, body: str) -> None:
    async with serving(beating(verdicts)) as port:
        head, _, got = (await ask(port, sent)).partition(b"\r\n\r\n")
    line, *headers = head.decode().split("\r\n")
    assert line.startswith(f"HTTP/1.1 {status} ")
    assert {"Connection: close", "Content-Type: text/plain; charset=utf-8"} <= set(headers)
    assert ("Allow: GET, HEAD" in headers) == (status == 405)
    assert got.decode() == body


async def test_a_head_that_comes_in_pieces_is_waited_for() -> None:
    async with serving() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for piece in (b"GET /heal", b"thz HTTP/1.1\r\n", b"\r", b"\n"):
            writer.write(piece)
            await asyncio.sleep(0.01)
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()


async def test_a_head_that_does_not_come_is_hung_up_on() -> None:
    async with serving(bounds=ProbeBounds(patience=0.05)) as port:
        assert await ask(port, b"GET /healthz") == b""


async def test_a_long_complaint_is_cut() -> None:
    async with serving(beating(Verdicts(readiness=(Complaint("é" * 10_000, ""),)))) as port:
        got = await ask(port, get("/readyz"))
    assert len(got) < 5000
    got.decode()


async def test_who_asks_gets_in_though_others_hold_all_connections() -> None:
    most = 4
    async with serving(bounds=ProbeBounds(connections=most)) as port:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3 * most)]
        for _ in range(3):
            assert b" 200 " in await ask(port, get("/healthz"))
        # Those that came first have made room.
        for reader, _ in idle[: 2 * most]:
            assert await reader.read() == b""
        for _, writer in idle:
            writer.close()


async def test_who_asks_behind_a_crowd_of_silent_ones_is_answered_in_the_first_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pauses are as long as the test: what is not taken before the second is not answered."""
    paused = threading.Event()
    monkeypatch.setattr("bailiff.serving.probes.Pace.pause", lambda _: 0.5 * paused.is_set())
    async with serving(bounds=ProbeBounds(connections=8)) as port:
        with contextlib.ExitStack() as stack:

            def come(sent: bytes = b"") -> socket.socket:
                made = socket.create_connection(("127.0.0.1", port), timeout=LIMIT)
                made.sendall(sent)
                return stack.enter_context(made)

            come()
            paused.set()
            await asyncio.sleep(0.05)  # the round of the first is over, and the next may pause
            come()
            await asyncio.sleep(0.1)
            silent = [come() for _ in range(100)]
            since = time.monotonic()
            assert b" 200 " in await asyncio.to_thread(come(get("/healthz")).recv, 4096)
            assert time.monotonic() - since < 1.0
            assert all([await asyncio.to_thread(one.recv, 1) == b"" for one in silent[:90]])


async def test_it_answers_while_the_loop_is_stuck_and_says_so() -> None:
    """The client is a thread, too, since the test's loop is the one that is stuck."""
    pulse = Pulse(0.05, Verdicts)
    pulse.beat()
    got: list[bytes] = []
    async with serving(pulse) as port:

        def until_it_complains() -> None:
            while LATE.encode() not in b"".join(got[-1:]):
                got.append(ask_at_once(port, get("/healthz")))
                time.sleep(0.005)

        asking = threading.Thread(target=until_it_complains)
        asking.start()
        asking.join(LIMIT)  # the loop does not come round meanwhile
        assert not asking.is_alive()
        assert got[-1].startswith(b"HTTP/1.1 503 ")
        pulse.beat()
        assert pulse.health().is_well


async def test_a_port_that_is_taken_is_told() -> None:
    async with serving() as port:
        with pytest.raises(OSError, match="in use"):
            await HealthPort(beating(Verdicts()), "127.0.0.1", port).start()


async def test_what_the_thread_fails_of_is_told_to_its_owner() -> None:
    def broken() -> Answer:
        raise LookupError("broken")

    pulse = beating(Verdicts())
    pulse.health = broken  # type: ignore[method-assign]
    port = HealthPort(pulse, "127.0.0.1", 0)
    number = await port.start()
    with contextlib.suppress(OSError):
        await ask(number, get("/healthz"))
    with pytest.raises(LookupError, match="broken"):
        await port.wait()
    with pytest.raises(LookupError, match="broken"):
        await port.stop()


async def test_its_thread_has_ended_when_it_is_stopped() -> None:
    before = threading.active_count()
    async with serving():
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    await HealthPort(beating(Verdicts()), "127.0.0.1", 0).stop()
