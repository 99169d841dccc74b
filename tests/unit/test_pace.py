"""A thread that strangers give work to takes its share of one core, and no more."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import hypothesis.strategies as st
import pytest
from hypothesis import given

from bailiff.serving import pace as pacing
from bailiff.serving.pace import Pace, paced_loop

SAVED = 0.25
SHARE = 0.1


class Thread:
    """Works for some seconds, and pauses for as long as it is told to."""

    def __init__(self) -> None:
        self.passed = self.used = self.paused = 0.0
        self._pace = Pace(SHARE, lambda: self.passed, lambda: self.used)

    def work(self, seconds: float, idle: float = 0.0) -> float:
        self.used += seconds
        self.passed += seconds + idle
        pause = self._pace.pause()
        self.passed += pause
        self.paused += pause
        return pause


@given(st.lists(st.floats(0, 0.1), min_size=1, max_size=50))
def test_whatever_comes_it_uses_its_share_of_the_time_that_has_passed(steps: list[float]) -> None:
    thread = Thread()
    for seconds in steps:
        thread.work(seconds)
        # A pause that is too short to be worth it is owed.
        assert thread.used <= SHARE * (thread.passed + SAVED + 0.002)


@given(st.lists(st.floats(0, 0.005), min_size=1, max_size=5))
def test_what_is_asked_now_and_then_does_not_wait(steps: list[float]) -> None:
    thread = Thread()
    for seconds in steps:
        thread.work(seconds, idle=1.0)
    assert thread.paused == 0.0


def test_no_more_is_saved_up_than_a_moment() -> None:
    thread = Thread()
    thread.work(0.0, idle=3600.0)
    assert thread.work(0.125) == pytest.approx(0.125 / SHARE - 0.125 - SAVED)


@contextlib.contextmanager
def readable(count: int) -> Iterator[list[socket.socket]]:
    """So many sockets from which something can be read, all the time."""
    with contextlib.ExitStack() as stack:
        ends = [stack.enter_context(one) for _ in range(count) for one in socket.socketpair()]
        for other in ends[1::2]:
            other.send(b".")
        yield ends[::2]


@contextlib.contextmanager
def called() -> Iterator[socket.socket]:
    """A socket that listens, and that somebody wants to connect to all the time."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()),
    ):
        yield listener


class Readers:
    """Who was read in which round of a loop."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        self.of_rounds: list[set[int]] = []
        for number, one in enumerate(sockets):
            asyncio.get_running_loop().add_reader(one, self._seen, number)

    def _seen(self, number: int) -> None:
        self.of_rounds[-1].add(number)

    async def round(self) -> None:
        self.of_rounds.append(set())
        await asyncio.sleep(0)


async def until_all_were_read(sockets: list[socket.socket]) -> list[set[int]]:
    readers = Readers(sockets)
    while set().union(*readers.of_rounds) != set(range(len(sockets))):
        await readers.round()
    # However many are ready, whoever wakes the loop is heard in the next round.
    heard = asyncio.Event()
    asyncio.get_running_loop().call_soon_threadsafe(heard.set)
    await readers.round()
    await readers.round()
    assert heard.is_set()
    return [set(one) for one in readers.of_rounds]  # they go on being read


def test_a_round_looks_at_few_sockets_and_each_has_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pacing, "_AT_A_TIME", 3)
    with readable(20) as sockets, asyncio.Runner(loop_factory=lambda: paced_loop(1.0)) as runner:
        of_rounds = runner.run(until_all_were_read(sockets))
    assert max(map(len, of_rounds)) == 3
    # Each before any has its second.
    assert len(of_rounds) < 20 // 3 + 5


async def rounds_until_read(sockets: list[socket.socket], last: socket.socket) -> int:
    """How many it takes until somebody who comes new is read, behind those who are there."""
    readers = Readers(sockets)
    while set().union(*readers.of_rounds) != set(range(len(sockets))):
        await readers.round()
    read = asyncio.Event()
    asyncio.get_running_loop().add_reader(last, read.set)
    rounds = 0
    while not read.is_set():
        await readers.round()
        rounds += 1
    return rounds


@pytest.mark.parametrize("listens", [False, True])
def test_who_comes_new_does_not_wait_for_those_who_are_there(
    monkeypatch: pytest.MonkeyPatch, listens: bool
) -> None:
    monkeypatch.setattr(pacing, "_AT_A_TIME", 2)
    with (
        readable(60) as sockets,
        called() as listener,
        asyncio.Runner(loop_factory=lambda: paced_loop(1.0)) as runner,
    ):
        last = listener if listens else sockets.pop()
        assert runner.run(rounds_until_read(sockets, last)) <= 3


async def rounds_without(sockets: list[socket.socket], listener: socket.socket) -> int:
    """In how many of ten rounds a socket that listens was not looked at."""
    readers = Readers([*sockets, listener])
    for _ in range(20):
        await readers.round()
    return sum(len(sockets) not in seen for seen in readers.of_rounds[10:])


def test_whoever_listens_is_looked_at_in_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "_AT_A_TIME", 2)
    with (
        readable(60) as sockets,
        called() as listener,
        asyncio.Runner(loop_factory=lambda: paced_loop(1.0)) as runner,
    ):
        # The round that is under way has not been looked at yet.
        assert runner.run(rounds_without(sockets, listener)) <= 1
