"""What comes from many clients in one turn of the event loop is looked at in several."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from bailiff.serving import Bounds, HttpServer
from bailiff.serving.pieces import SHORT_PIECE, Pieces
from tests.harness.http_edge import APP, ASK, LIMIT, Port, Streams, post, serving, streams

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Looks:
    """Pieces, each of which takes 1 s to look at."""

    def __init__(self, seconds: float) -> None:
        self.now = 0.0
        self.seen: list[str] = []
        self.pieces = Pieces(seconds, lambda: self.now)

    def come(self, *names: str) -> None:
        """Named by their address and a number."""
        for name in names:
            if self.pieces.is_time():
                self.look(name)
            else:
                self.pieces.wait(name[0], partial(self.look, name))

    def look(self, name: str) -> None:
        self.seen.append(name)
        self.now += 1.0

    async def turn(self) -> list[str]:
        """What the next turn looks at."""
        before = len(self.seen)
        await asyncio.sleep(0)
        return self.seen[before:]


async def test_a_turn_looks_for_so_long_and_peers_take_turns() -> None:
    looks = Looks(seconds=2)
    looks.come("a1", "a2", "a3", "a4", "a5", "b1")
    assert looks.seen == ["a1", "a2"]
    assert await looks.turn() == ["a3", "b1"]
    assert await looks.turn() == ["a4", "a5"]
    assert await looks.turn() == []


async def test_what_comes_while_others_wait_waits_behind_them() -> None:
    looks = Looks(seconds=2)
    looks.come("a1", "a2", "a3", "a4", "a5")
    assert await looks.turn() == ["a3", "a4"]
    looks.come("a6")
    assert await looks.turn() == ["a5", "a6"]
    looks.come("a7", "a8", "a9")
    assert looks.seen[-2:] == ["a7", "a8"]


async def test_each_turn_has_its_own_time() -> None:
    looks = Looks(seconds=2)
    for _ in range(3):
        looks.come("a1", "a2")
        assert await looks.turn() == []
    assert looks.seen == ["a1", "a2"] * 3


async def test_one_is_looked_at_in_each_turn_however_long_it_takes() -> None:
    looks = Looks(seconds=0)
    looks.come("a1", "a2", "a3")
    assert looks.seen == ["a1"]
    assert await looks.turn() == ["a2"]
    assert await looks.turn() == ["a3"]


async def test_one_that_fails_holds_nobody_up() -> None:
    told = list[object]()
    asyncio.get_running_loop().set_exception_handler(lambda _, about: told.append(about))
    looks = Looks(seconds=1)
    looks.pieces.wait("a", partial(looks.seen.remove, "what is not there"))
    looks.pieces.wait("b", partial(looks.look, "b1"))
    assert await looks.turn() == []
    assert await looks.turn() == ["b1"]
    assert len(told) == 1


@pytest.fixture
def all_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pieces, "is_time", lambda _: False)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch, all_wait: None) -> asyncio.Queue[Any]:
    """What waits, to be called by the test."""
    looks: asyncio.Queue[Any] = asyncio.Queue()
    monkeypatch.setattr(Pieces, "wait", lambda _, _address, look: looks.put_nowait(look))
    return looks


class OneWaits(NamedTuple):
    """A client of a port, and what it has sent first, which waits until `look` is called."""

    port: Port
    clients: Streams
    reader: asyncio.StreamReader
    look: Any


@contextlib.asynccontextmanager
async def one_waits(
    looks: asyncio.Queue[Any], sent: bytes = ASK, bounds: Bounds | None = None
) -> AsyncIterator[OneWaits]:
    async with serving(bounds) as port, asyncio.timeout(LIMIT):
        with streams(port) as clients:
            reader = await clients.open(sent)
            yield OneWaits(port, clients, reader, await looks.get())


@pytest.mark.usefixtures("all_wait")
async def test_requests_that_waited_are_answered_in_their_order() -> None:
    async with serving() as port, asyncio.timeout(LIMIT):
        with streams(port) as clients:
            reader = await clients.open(ASK)
            # In pieces, the last of which ends one request and begins another.
            for piece in (post(4), b"12", b"34" + ASK[:10], ASK[10:]):
                await asyncio.sleep(0.01)
                clients.write(piece)
            for body in (b"ok", b"4", b"ok"):
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200 ")
                assert await reader.readexactly(len(body)) == body


async def test_who_hangs_up_while_its_request_waits_is_let_go(looks: asyncio.Queue[Any]) -> None:
    async with serving() as port, asyncio.timeout(LIMIT):
        with streams(port) as clients:
            for _ in range(10):
                await clients.open(ASK)
            waiting = [await looks.get() for _ in range(10)]
        for look in waiting:
            look()
        while not all(look.__self__.transport.is_closing() for look in waiting):
            await asyncio.sleep(0.01)


async def test_a_request_that_waits_is_answered_when_the_server_stops(
    looks: asyncio.Queue[Any],
) -> None:
    server = HttpServer(APP, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", await server.start())
    async with asyncio.timeout(LIMIT):
        writer.write(ASK)
        await looks.get()
        await server.stop(grace=LIMIT)
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def test_the_time_that_a_request_waited_is_not_its_client_s(
    looks: asyncio.Queue[Any],
) -> None:
    bounds = Bounds(header_timeout_seconds=0.1)
    async with one_waits(looks, bounds=bounds) as (port, clients, reader, look):
        await asyncio.sleep(0.3)
        look()
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        assert not port.refused("slow_head")
        # And whoever sends half of a head is hung up on all the same.
        slow = await clients.open(ASK[:10])
        (await looks.get())()
        assert await slow.read() == b""
        assert port.refused("slow_head") == 1


async def test_a_request_that_waited_too_long_is_refused(looks: asyncio.Queue[Any]) -> None:
    bounds = Bounds(max_queue_age_seconds=0.1)
    async with one_waits(looks, bounds=bounds) as (_, _, reader, look):
        await asyncio.sleep(0.2)
        look()
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 503 ")
        # The next one has its own time.
        body = b" " * (SHORT_PIECE + 1)
        look.__self__.data_received(post(len(body)) + body)
        assert await reader.readuntil(b"HTTP/1.1 200 ")


async def test_long_pieces_do_not_wait_but_behind_short_ones(looks: asyncio.Queue[Any]) -> None:
    short, long = b" " * SHORT_PIECE, b" " * (SHORT_PIECE + 1)
    async with one_waits(looks, post(len(long + short))) as (_, _, reader, look):
        protocol = look.__self__
        assert not protocol.transport.is_reading()
        look()
        assert protocol.transport.is_reading()
        protocol.data_received(long)
        assert looks.empty()
        protocol.data_received(short)
        protocol.data_received(post(len(long)) + long)
        looks.get_nowait()()
        assert looks.empty()
        for body in (long + short, long):
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            told = str(len(body)).encode()
            assert await reader.readexactly(len(told)) == told
