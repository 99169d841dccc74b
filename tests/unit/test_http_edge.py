"""Attacks on an HTTP port, each with bounds so tiny that it has to hold at once."""

import asyncio
import contextlib
import re
import socket
from collections.abc import Callable

import pytest
import uvloop
from structlog.testing import capture_logs

from bailiff.serving import Bounds, ByteBudget, protocol
from bailiff.serving.intake import Intake
from tests.harness.http_edge import ASK, ASK_LONG, LIMIT, LONG, MIB, post, serving, streams


async def test_one_connection_full_of_what_is_no_http_is_one_line() -> None:
    async with serving() as port:
        with streams(port) as held, capture_logs() as logs:
            for _ in range(20):
                reader = await held.open(b"\x00nonsense\r\n\r\n" * 1000)
                assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 400 ")
            assert [one["event"] for one in logs] == ["http refused"]
            assert port.refused("malformed") == 20


async def test_a_tunnel_is_refused_at_once() -> None:
    async with serving() as port:
        with streams(port) as held:
            reader = await held.open(b"CONNECT db:5432 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
            assert port.refused("malformed") == 1


async def test_line_ends_between_requests_do_not_keep_a_connection() -> None:
    async with serving(Bounds(header_timeout_seconds=0.1)) as port:
        with streams(port) as held:
            reader = await held.open(ASK)
            await reader.readuntil(b"ok")
            while not port.refused("slow_head"):
                held.write(b"\r\n")
                await asyncio.sleep(0.01)
            # It ends, whatever is told before.
            with contextlib.suppress(ConnectionError):
                await reader.read()


@pytest.mark.parametrize(
    ("path", "answers"),
    [(b"/read", [b"HTTP/1.1 408 "]), (b"/", [b"HTTP/1.1 405 "])],
    ids=["awaited", "not read by anybody"],
)
async def test_a_body_in_drops_is_cut(path: bytes, answers: list[bytes]) -> None:
    async with serving(Bounds(body_timeout_seconds=0.1)) as port:
        with streams(port) as held:
            reader = await held.open(post(1000, path))
            while not port.refused("slow_body"):
                held.write(b"x")
                await asyncio.sleep(0.01)
            told = b""
            with contextlib.suppress(ConnectionError):
                while piece := await reader.read(1000):
                    told += piece
            assert re.findall(rb"HTTP/1.1 \d+ ", told) == answers


async def test_stalled_bodies_hold_what_has_arrived_and_make_room_for_others() -> None:
    budget = ByteBudget(8 * MIB, spared_seconds=0)
    async with serving(budget=budget) as port:
        with streams(port) as held:
            for _ in range(20):
                await held.open(post(4 * MIB) + b"x" * MIB)
            while budget.taken < 5 * MIB:
                await asyncio.sleep(0.01)
            assert (await held.ask()).startswith(b"HTTP/1.1 200 ")
            small = await held.open(post(1000) + b"x" * 1000)
            assert (await small.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            long = await held.open(post(3 * MIB) + b"x" * 3 * MIB)
            assert (await long.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            assert budget.taken <= budget.most
            assert port.refused("bytes") > 0


async def test_a_body_for_which_there_is_no_room_is_refused_where_nobody_has_stalled_for_long() -> (
    None
):
    async with serving(budget=ByteBudget(4 * MIB, spared_seconds=LIMIT)) as port:
        with streams(port) as held:
            await held.open(post(4 * MIB) + b"x" * 2 * MIB)
            while port.budget.taken < 2 * MIB:
                await asyncio.sleep(0.01)
            told = await (await held.open(post(4 * MIB) + b"x" * 2 * MIB)).read()
            assert told.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after: 1\r\n" in told
            assert (await held.ask()).startswith(b"HTTP/1.1 200 ")


async def test_who_has_been_refused_makes_room_without_a_second_answer() -> None:
    now = [0.0]
    budget = ByteBudget(4 * MIB, spared_seconds=1, clock=lambda: now[0])
    async with serving(budget=budget) as port:
        with streams(port) as held:
            refused = await held.open(post(4 * MIB) + b"x" * MIB)
            while budget.taken < MIB:
                await asyncio.sleep(0.01)
            await held.open(post(4 * MIB) + b"x" * 2 * MIB)
            while budget.taken < 3 * MIB:
                await asyncio.sleep(0.01)
            held.write(b"x" * MIB, 0)
            assert (await refused.readuntil(b"\r\n")).startswith(b"HTTP/1.1 503 ")
            now[0] = 2.0  # its farewell is not over yet
            long = await held.open(post(2 * MIB) + b"x" * 2 * MIB)
            assert (await long.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")


async def test_a_body_that_we_have_yet_to_read_is_not_late() -> None:
    async with serving(Bounds(body_timeout_seconds=0.1)) as port:
        with streams(port) as held:
            reader = await held.open(post(4 * MIB, b"/read-late") + b"x" * 4 * MIB)
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            assert not port.refused("slow_body")


async def test_long_bodies_are_read_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[int] = []

    def wait(_self: Intake, _address: str, length: int, go_on: Callable[[], None]) -> None:
        waited.append(length)
        asyncio.get_running_loop().call_later(0.02, go_on)

    monkeypatch.setattr(Intake, "wait", wait)
    async with serving() as port:
        with streams(port) as held:
            reader = await held.open(post(4 * MIB) + b"x" * 4 * MIB)
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    # Nothing is read that has not waited for its turn, but for what came before the first.
    assert sum(waited) > 3 * MIB


async def test_bodies_of_a_byte_take_no_place() -> None:
    async with serving() as port:
        with streams(port) as held:
            for _ in range(200):
                await held.open(post(1000) + b"x")
            assert (await held.ask()).startswith(b"HTTP/1.1 200 ")
            assert port.budget.taken <= 200


@pytest.mark.parametrize("path", [b"/long ", b"/dripping "])
async def test_an_answer_that_is_not_read_is_cut(path: bytes) -> None:
    async with serving(Bounds(answer_timeout_seconds=0.1)) as port:
        with streams(port) as held:
            await held.open(ASK.replace(b"/ ", path), limit=1000)
            await port.until("slow_reader")


async def test_the_last_of_an_answer_is_to_be_read_in_time_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What the server has still to send is so little that it does not wait with it.
    monkeypatch.setattr(protocol, "_HIGH_WATER", 2 * LONG)
    async with serving(Bounds(answer_timeout_seconds=0.1)) as port:
        with streams(port) as held:
            asked = ASK_LONG.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
            await held.open(asked, limit=1000)
            await port.until("slow_reader")


async def test_an_answer_that_is_read_byte_by_byte_is_cut() -> None:
    async with serving(Bounds(answer_timeout_seconds=0.3)) as port:
        with streams(port) as held:
            reader = await held.open(ASK_LONG, limit=1000)
            with contextlib.suppress(ConnectionError):
                while not port.refused("slow_reader"):
                    await reader.read(1)
                    await asyncio.sleep(0.01)


async def test_answers_that_are_not_read_make_room_for_others() -> None:
    budget = ByteBudget(3 * LONG, spared_seconds=0)
    async with serving(budget=budget) as port:
        with streams(port) as held:
            for _ in range(5):
                await held.open(ASK_LONG, limit=1000)
            await port.until("bytes")
            assert budget.taken <= budget.most
            reader = await held.open(ASK_LONG)
            await reader.readuntil(b"\r\n\r\n")
            assert len(await reader.readexactly(LONG)) == LONG


async def test_small_answers_that_are_not_read_do_not_keep_a_connection_beyond_its_end() -> None:
    bounds = Bounds(header_timeout_seconds=0.1, answer_timeout_seconds=0.1)
    async with serving(bounds) as port:
        with socket.create_connection(("127.0.0.1", port.number)) as silent:
            silent.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(silent, ASK * 2000)
            with contextlib.suppress(ConnectionError):
                while True:  # what comes after the requests begins none
                    await loop.sock_sendall(silent, b"\r\n")
                    await asyncio.sleep(0.01)


async def test_who_has_waited_too_long_is_refused() -> None:
    async with serving(Bounds(max_queue_age_seconds=-1)) as port:
        with streams(port) as held:
            told = await held.ask()
            assert told.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after: 1\r\n" in told
            assert port.refused("queue_age") == 1


def test_pipelined_requests_of_who_has_gone_are_no_fault_of_ours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # On the loop of the processes, on which nobody can write to who has gone.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_ask_much_and_go(caplog))


async def _ask_much_and_go(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as port:
        with streams(port) as held:
            reader = await held.open(ASK_LONG * 3)
            await reader.readuntil(b"\r\n\r\n")
            held.close()
            while port.budget.taken:
                await asyncio.sleep(0.01)
            for _ in range(10):  # now the next request would be answered
                await asyncio.sleep(0)
            assert not caplog.records


async def test_bodies_of_many_pieces_come_whole() -> None:
    async with serving() as port:
        with streams(port) as held:
            readers = [await held.open(post(8 * MIB) + b"x" * (8 * MIB)) for _ in range(4)]
            for reader in readers:
                assert (await reader.readuntil(b"%d" % (8 * MIB))).startswith(b"HTTP/1.1 200 ")
