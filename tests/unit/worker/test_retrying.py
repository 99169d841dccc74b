"""Work by key that is tried until it is done: in its turn, never twice at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from bailiff.worker.timers.retrying import Again, Retrying
from tests.harness.clocks import LoopClock

pytestmark = pytest.mark.looptime(start=0)


class Work(Retrying[str]):
    """Takes a second for each try.

    Attributes:
        comes_to: of each key what its tries come to, in turn; after that they succeed.
        tried: when each try began, of which key, and how many had failed.
    """

    def __init__(self, at_a_time: int = 1, **comes_to: list[Again]) -> None:
        super().__init__(LoopClock(), at_a_time)
        self.comes_to = comes_to
        self.tried: list[tuple[float, str, int]] = []
        self.at_once = self.most = 0
        self.now: set[str] = set()

    async def attempt(self, key: str, failures: int) -> Again | None:
        assert key not in self.now, "two tries of one key at a time"
        self.now.add(key)
        self.most = max(self.most, len(self.now))
        self.tried.append((round(self._clock.elapsed(), 1), key, failures))
        await asyncio.sleep(1)
        self.now.remove(key)
        left = self.comes_to.get(key)
        return left.pop(0) if left else None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.run())
        await asyncio.sleep(0)
        yield
        task.cancel()
        await asyncio.wait([task])

    def of(self, key: str) -> list[tuple[float, int]]:
        return [(at, failures) for at, one, failures in self.tried if one == key]


async def test_one_that_fails_is_tried_again_when_it_says_and_told_how_often_it_has_failed():
    work = Work(a=[Again(5), Again(3, failed=False), Again(2)])
    work.ask_for("a")
    async with work.running():
        await asyncio.sleep(60)
    assert work.of("a") == [(0, 0), (6, 1), (10, 1), (13, 2)]
    assert len(work) == 0


class Hasty(Retrying[str]):
    """Takes no time, and wants to be tried again in next to none."""

    tries = 0

    async def attempt(self, key: str, failures: int) -> Again | None:
        self.tries += 1
        assert self.tries < 2000, "tried without end"
        return Again(1e-18, failed=False)


async def test_one_that_is_tried_again_lets_some_time_pass():
    work = Hasty(LoopClock())
    work.ask_for("a", 1)  # a clock that shows 1 has no digits for so little
    task = asyncio.create_task(work.run())
    await asyncio.sleep(1.5)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert 400 < work.tries < 600


async def test_however_often_it_is_reminded_it_waits_once():
    work = Work(a=[Again(10)])
    for _ in range(3):
        work.remind("a", 5)
    async with work.running():
        await asyncio.sleep(8)
        # It waits for its next try, and goes on waiting.
        work.remind("a")
        await asyncio.sleep(60)
    assert work.of("a") == [(5, 0), (16, 1)]


async def test_asked_for_anew_it_waits_no_longer_and_its_failures_are_forgotten():
    work = Work(a=[Again(100)])
    work.ask_for("a", 5)
    work.ask_for("a")
    async with work.running():
        await asyncio.sleep(10)
        work.ask_for("a")
        await asyncio.sleep(60)
    assert work.of("a") == [(0, 0), (10, 0)]


@pytest.mark.parametrize("comes_to", [[], [Again(50)]])
async def test_asked_for_while_it_is_tried_it_is_tried_once_more_whatever_comes_of_it(comes_to):
    work = Work(a=comes_to)
    work.ask_for("a")
    async with work.running():
        await asyncio.sleep(0.5)
        work.ask_for("a", 3)
        assert "a" in work
        await asyncio.sleep(20)
    assert work.of("a") == [(0, 0), (4, 0)]


@pytest.mark.parametrize(("comes_to", "then"), [([], (4, 0)), ([Again(10)], (11, 1))])
async def test_reminded_while_it_is_tried_it_waits_for_its_next_try_where_there_is_one(
    comes_to, then
):
    work = Work(a=comes_to)
    work.ask_for("a")
    async with work.running():
        await asyncio.sleep(0.5)
        work.remind("a", 3)
        work.remind("a", 1)
        await asyncio.sleep(40)
    assert work.of("a") == [(0, 0), then]


async def test_so_many_are_tried_at_once_and_no_more():
    work = Work(at_a_time=3)
    for key in "abcdefg":
        work.ask_for(key)
    async with work.running():
        await asyncio.sleep(10)
    assert work.most == 3
    assert [at for at, _, _ in work.tried] == [0, 0, 0, 1, 1, 1, 2]


async def test_draining_waits_for_what_is_due_and_not_for_a_next_try():
    work = Work(a=[Again(100)])
    for key in "ab":
        work.ask_for(key)
    work.ask_for("later", 50)
    async with work.running():
        await work.drain()
        assert round(asyncio.get_running_loop().time(), 1) == 2
        assert "a" in work
        assert "later" in work


async def test_a_machine_that_slept_tries_what_fell_due_meanwhile_within_a_second():
    work = Work()
    clock = LoopClock()
    work._clock = clock
    work.ask_for("a", 1000)
    async with work.running():
        await asyncio.sleep(5)
        clock.slept = 2000.0
        await asyncio.sleep(1.1)
        assert len(work.tried) == 1


async def test_forgetting_drops_what_waits_and_waits_for_what_is_tried_which_is_tried_no_more():
    work = Work(at_a_time=2, a=[Again(1)], failed=[Again(20)])
    for key in ("a", "failed"):
        work.ask_for(key)
    work.ask_for("later", 50)
    async with work.running():
        await asyncio.sleep(1.5)
        work.ask_for("a", 0.5)
        await asyncio.sleep(1)
        await work.forget()
        assert work.now == set()
        assert len(work) == 0
        assert round(asyncio.get_running_loop().time(), 1) == 3
        await asyncio.sleep(100)
    assert work.tried == [(0, "a", 0), (0, "failed", 0), (2, "a", 0)]


@pytest.mark.parametrize("ask", [Work.ask_for, Work.remind])
async def test_asked_for_while_it_is_forgotten_it_is_done_as_if_for_the_first_time(ask):
    work = Work(a=[Again(1), Again(100)])
    work.ask_for("a")
    async with work.running():
        await asyncio.sleep(2.5)
        forgetting = asyncio.create_task(work.forget())
        await asyncio.sleep(0)
        ask(work, "a", 10)
        await forgetting
        await asyncio.sleep(20)
    assert work.of("a")[:2] == [(0, 0), (2, 1)]
    assert work.of("a")[2:] == [(13, 0)]
