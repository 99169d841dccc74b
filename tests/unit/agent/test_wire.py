"""What an agent sends by beside what it has in common with the other client (test_transport.py)."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from bailiff.agent.api import connecting
from bailiff.cluster import (
    ClusterSettings,
    ConfigError,
    FencedError,
    Request,
    ResponseError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.cluster.login import Login
from tests.harness.clocks import LoopClock
from tests.harness.dropping_server import dropping

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bailiff.cluster import Cluster

GET = Request("GET", "/x")


async def client(port: int, tokens: tuple[str, ...] = (), **settings: Any) -> Cluster:
    """One that logs in anew with each of these tokens, the last again and again."""
    left = list(tokens)

    async def read() -> Login:
        token = (left.pop(0) if len(left) > 1 else left[0]) if left else None
        return Login(f"http://127.0.0.1:{port}", authorization=token)

    log = structlog.get_logger()
    return await connecting.connect(read, LoopClock(), log, ClusterSettings(**settings))


class Raw:
    """Answers each request with these bytes, one connection after the other."""

    def __init__(self, *answers: bytes, piece: int = 0) -> None:
        self.answers = list(answers)
        self.piece = piece
        self.connections = 0
        self.heads: list[bytes] = []
        # What is answered on the connection after the first.
        self.again: list[bytes] = []

    async def __aenter__(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        answers = self.again if self.again and self.connections > 1 else self.answers
        try:
            while answers:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                async for part in self._parts(answers.pop(0)):
                    writer.write(part)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _parts(self, answer: bytes) -> AsyncIterator[bytes]:
        step = self.piece or len(answer)
        for at in range(0, len(answer), step):
            yield answer[at : at + step]
            await asyncio.sleep(0)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"


@pytest.mark.parametrize("piece", [1, 7, 0])
@pytest.mark.parametrize(("answer", "body"), [(OK, b"ok"), (CHUNKED, b"abc")])
async def test_an_answer_is_put_together_whatever_its_pieces(answer, body, piece):
    async with Raw(answer, piece=piece) as port, await client(port) as cluster:
        assert await cluster.send(GET) == body


async def test_an_interim_answer_is_passed_over():
    early = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    async with Raw(early + OK) as port, await client(port) as cluster:
        assert await cluster.send(GET) == b"ok"


async def test_a_connection_serves_for_the_next_request():
    raw = Raw(OK, CHUNKED, OK)
    async with raw as port, await client(port) as cluster:
        for _ in range(3):
            await cluster.send(GET)
    assert raw.connections == 1


async def test_one_that_has_rested_for_long_serves_no_more(monkeypatch):
    """What stands between may have forgotten it, so that a request would wait in vain."""
    monkeypatch.setattr("bailiff.agent.api.connection._KEPT_FOR", 0.0)
    raw = Raw(OK, OK)
    async with raw as port, await client(port) as cluster:
        for _ in range(2):
            await cluster.send(GET)
    assert raw.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"\0" * 100,
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 40_000,
    ],
    ids=["ssh", "zeros", "compressed", "two lengths", "endless head"],
)
async def test_what_is_no_answer_to_this_request_is_refused(answer):
    async with Raw(answer) as port, await client(port) as cluster:
        with pytest.raises(ResponseError, match="GET /x: "):
            await cluster.send(GET)


async def test_a_write_on_a_dropped_connection_is_not_sent_again():
    async with dropping() as server, await client(server.port) as cluster:
        await cluster.send(GET)
        with pytest.raises(UnreachableError, match="DELETE /x: "):
            await cluster.send(Request("DELETE", "/x"))
    assert server.arrived == ["GET", "DELETE"]


async def test_a_read_on_a_dropped_connection_is_sent_again():
    async with dropping() as server, await client(server.port) as cluster:
        await cluster.send(GET)
        assert await cluster.send(GET) == b"{}"
    assert server.arrived == ["GET", "GET", "GET"]


async def test_after_one_that_was_dropped_none_that_was_kept_serves():
    """They were kept as long: a write must not meet the next of them."""
    async with dropping() as server, await client(server.port) as cluster:
        await asyncio.gather(cluster.send(GET), cluster.send(GET))
        with pytest.raises(UnreachableError):
            await cluster.send(Request("DELETE", "/x"))
        await cluster.send(Request("DELETE", "/x"))
    assert server.arrived == ["GET", "GET", "DELETE", "DELETE"]


def refusal(code: int, length: int) -> bytes:
    head = f"HTTP/1.1 {code} No\r\nContent-Length: {length}\r\n\r\n"
    return head.encode() + b"x" * length


@pytest.mark.parametrize("length", [0, 10, 300_000])
async def test_a_login_that_is_refused_is_renewed_once(length):
    raw = Raw(refusal(401, length))
    tokens = ("old", "new")
    async with raw as port, await client(port, tokens, request_timeout=5.0) as cluster:
        # The refusal ends the connection; the next is answered.
        raw.again = [OK]
        assert await cluster.send(GET) == b"ok"
    assert [head.partition(b"Authorization: ")[2][:3] for head in raw.heads] == [b"old", b"new"]


@pytest.mark.parametrize("length", [0, 10, 300_000])
async def test_a_login_that_cannot_be_renewed_is_no_fault_of_ours(length):
    raw = Raw(refusal(401, length), piece=4096)
    async with raw as port, await client(port, ("same",)) as cluster:
        with pytest.raises(UnauthorizedError):
            await cluster.send(GET)


async def test_who_may_not_write_any_more_does_not():
    raw = Raw(OK)
    async with raw as port, await client(port) as cluster:
        with pytest.raises(FencedError):
            await cluster.fenced(lambda: False).send(Request("PATCH", "/x", body=b"{}"))
    assert raw.answers == [OK]


async def test_a_stream_is_read_as_it_comes_and_ends():
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    raw = Raw(head + b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n", piece=5)
    async with raw as port, await client(port) as cluster, await cluster.open(GET) as stream:
        parts = [part async for part in _until_empty(stream)]
    assert b"".join(parts) == b"onetwo"


async def _until_empty(stream: Any) -> AsyncIterator[bytes]:
    while part := await stream.read():
        yield part


@pytest.mark.parametrize("ends", [True, False])
async def test_what_comes_unasked_is_no_answer_to_the_next_request(ends):
    """As of a proxy that takes a connection for idle."""
    late = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        await asyncio.sleep(0.05)
        writer.write(late)
        if not ends:
            await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, await client(server.sockets[0].getsockname()[1]) as cluster:
        for _ in range(2):
            assert await cluster.send(Request("PATCH", "/x", body=b"{}")) == b"ok"
            await asyncio.sleep(0.1)
        assert connections == 2


@pytest.mark.parametrize("host", ["127.0.0.1:99999", "a..b:6443", f"{'a' * 70}.b:6443"])
async def test_an_address_that_is_none_is_told_of(host):
    async def read() -> Login:
        return Login(f"https://{host}")

    log = structlog.get_logger()
    async with await connecting.connect(read, LoopClock(), log) as cluster:
        with pytest.raises(ConfigError, match="GET /x: the server's address is none"):
            await cluster.send(GET)


async def test_a_kept_connection_that_is_silent_is_no_server_that_is_away():
    """The next try, which is the sender's to make, goes by a new one."""
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        is_first, answered = connections == 1, False
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                if is_first and answered:
                    await reader.read()
                    break
                writer.write(OK)
                answered = True
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    at = server.sockets[0].getsockname()[1]
    async with server, await client(at, request_timeout=0.2) as cluster:
        await cluster.send(GET)
        with pytest.raises(UnreachableError, match="a connection that was kept is silent"):
            await cluster.send(Request("DELETE", "/x"))
        assert await cluster.send(Request("DELETE", "/x")) == b"ok"
