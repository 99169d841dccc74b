"""Calls over a socket: what takes too long, what is not there, and what is there again."""

from __future__ import annotations

import asyncio
import socket
import time
from concurrent import futures
from pathlib import Path

import grpc
import pytest

from bailiff.agent.cri.calls import Bounds, call
from bailiff.agent.cri.errors import (
    CriMalformedError,
    CriStatusError,
    CriTimeoutError,
    CriTooLongError,
    CriUnreachableError,
)
from tests.unit.agent.cri.fake_runtime import STREAM, Connection, framed, serving

METHOD = "/runtime.v1.RuntimeService/Version"
QUICK = Bounds(0.2)
MIB = 2**20
# Seconds for a broken build only.
PATIENCE = 20.0


async def ask(path: str, bounds: Bounds = QUICK, request: bytes = b"asked") -> bytes:
    return await asyncio.wait_for(call(path, METHOD, request, bounds), PATIENCE)


async def ok(one: Connection) -> None:
    one.whole(b"answer")


async def silent(_: Connection) -> None:
    """Has taken the call, and says nothing."""


async def trickling(one: Connection) -> None:
    """A byte now and then."""
    one.whole(b"answer" * 100)
    for byte in one.out():
        one.writer.write(bytes([byte]))
        await asyncio.sleep(0.02)


async def pinging(one: Connection) -> None:
    """Pings, as fast as it can, and reads no answer."""
    while True:
        one.h2.ping(b"12345678")
        await one.flush()


async def going_on(one: Connection) -> None:
    """Frames without anything in them."""
    one.head()
    while True:
        one.h2.send_data(STREAM, b"")
        await one.flush()
        await asyncio.sleep(0)


async def hanging_up(one: Connection) -> None:
    one.head().data(framed(b"answer")[:4])
    await one.flush()
    one.writer.transport.abort()


async def closing(one: Connection) -> None:
    one.head().data(framed(b"answer")[:4])
    await one.flush()
    # What was not read of it would make an error of the end.
    await one.hear()
    one.writer.close()


async def talking_http_1(one: Connection) -> None:
    one.writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


async def test_an_answer():
    async with serving(ok) as runtime:
        assert await ask(runtime.socket) == b"answer"
    assert runtime.paths == [METHOD]
    assert runtime.requests == [b"asked"]


@pytest.mark.parametrize("how", [silent, trickling, pinging, going_on])
async def test_whoever_does_not_come_to_an_end_is_given_up_in_time(how):
    async with serving(how) as runtime:
        began = time.monotonic()
        with pytest.raises(CriTimeoutError, match=r"^Version: no answer within 0.2 s$"):
            await ask(runtime.socket)
        assert time.monotonic() - began < PATIENCE / 4


async def test_nobody_accepts(tmp_path):
    """As a process that is stopped: the kernel still takes connections for it."""
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        for _ in range(4):
            with pytest.raises((CriTimeoutError, CriUnreachableError)):
                await ask(path, Bounds(0.05))


async def test_no_socket(tmp_path):
    with pytest.raises(CriUnreachableError, match=r"Version: .*/s: No such file or directory"):
        await ask(str(tmp_path / "s"))


async def test_nobody_listens(tmp_path):
    path = tmp_path / "s"
    server = await asyncio.start_unix_server(lambda *_: None, path)
    server.close()
    path.touch()
    with pytest.raises(CriUnreachableError, match="Version: "):
        await ask(str(path))


async def test_a_path_that_is_too_long(tmp_path):
    with pytest.raises(CriUnreachableError, match="too long"):
        await ask(str(tmp_path / ("s" * 200)))


@pytest.mark.parametrize("how", [hanging_up, closing])
async def test_one_that_hangs_up_in_between(how):
    async with serving(how) as runtime:
        with pytest.raises(CriUnreachableError, match="Version: "):
            await ask(runtime.socket)


async def test_one_that_speaks_no_http_2_is_not_waited_for():
    async with serving(talking_http_1) as runtime:
        with pytest.raises(CriMalformedError, match="Version: the answer is no HTTP/2"):
            await ask(runtime.socket, Bounds(PATIENCE))


@pytest.mark.parametrize("how", [silent, hanging_up, talking_http_1])
async def test_the_next_call_knows_nothing_of_the_last(how):
    async with serving(how, ok) as runtime:
        with pytest.raises((CriTimeoutError, CriUnreachableError, CriMalformedError)):
            await ask(runtime.socket)
        assert await ask(runtime.socket) == b"answer"


async def test_more_than_any_window_comes_through():
    whole = bytes(range(256)) * 4 * 5 * 1024

    async def pour(one: Connection) -> None:
        one.head()
        await one.pour(framed(whole))
        one.trailers()

    async with serving(pour) as runtime:
        assert await ask(runtime.socket, Bounds(PATIENCE)) == whole


async def test_one_that_is_too_long_is_not_read_to_its_end():
    async def pour(one: Connection) -> None:
        one.head()
        while True:
            await one.pour(b"\0" * MIB)

    async with serving(pour) as runtime:
        with pytest.raises(CriTooLongError, match="exceeds 2097152 bytes"):
            await ask(runtime.socket, Bounds(PATIENCE, 2 * MIB))


async def test_one_that_hangs_holds_up_no_other():
    async with serving(silent, ok) as runtime:
        hangs = asyncio.create_task(ask(runtime.socket, Bounds(PATIENCE)))
        while not runtime.paths:
            await asyncio.sleep(0)
        assert await asyncio.gather(*(ask(runtime.socket) for _ in range(20))) == [b"answer"] * 20
        assert not hangs.done()
        hangs.cancel()


async def test_who_gives_up_hangs_up():
    gone = asyncio.Event()

    async def waiting(one: Connection) -> None:
        try:
            await one.hear()
            await one.hear()
        except (EOFError, ConnectionError):
            gone.set()

    async with serving(waiting) as runtime:
        asked = asyncio.create_task(ask(runtime.socket, Bounds(PATIENCE)))
        while not runtime.paths:
            await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait_for(gone.wait(), PATIENCE)


class _Handler(grpc.GenericRpcHandler):
    """Answers with what it was asked, and says no to nothing."""

    def service(self, handler_call_details):
        def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
            if not request:
                context.abort(grpc.StatusCode.NOT_FOUND, "keiner da: ü %\n")
            return request * 1000

        return grpc.unary_unary_rpc_method_handler(answer)


@pytest.fixture
def reference(tmp_path: Path):
    """The reference implementation, which is not ours."""
    server = grpc.server(
        futures.ThreadPoolExecutor(4), [_Handler()], options=[("grpc.max_send_message_length", -1)]
    )
    server.add_insecure_port(f"unix:{tmp_path}/s")
    server.start()
    yield str(tmp_path / "s")
    server.stop(None).wait()


async def test_the_reference_implementation_understands_us(reference):
    many = await asyncio.gather(*(ask(reference, Bounds(PATIENCE), b"x" * 3000) for _ in range(8)))
    assert many == [b"x" * 3_000_000] * 8
    with pytest.raises(CriStatusError) as caught:
        await ask(reference, Bounds(PATIENCE), b"")
    assert caught.value.code == 5
    assert str(caught.value) == r"Version: code 5: 'keiner da: ü %\n'"
