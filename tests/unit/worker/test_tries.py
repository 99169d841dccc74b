"""Counts that hang are left alone for two seconds, then one asks at a time."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.tally import TallyError
from bailiff.worker.gate.tries import Tries
from tests.harness.clocks import LoopClock

pytestmark = pytest.mark.looptime

REST = 2.0


class Counts:
    """What is asked: how long an answer takes, and whether it is a failure."""

    def __init__(self, takes: float, *, fails: bool = True) -> None:
        self.takes, self.fails, self.asked = takes, fails, 0

    async def __call__(self) -> str:
        self.asked += 1
        await asyncio.sleep(self.takes)
        if self.fails:
            raise TallyError("failed")
        return "counted"


async def fail(tries: Tries, counts: Counts, why: str = "failed") -> None:
    with pytest.raises(TallyError, match=why):
        await tries(counts)


async def test_after_a_hang_nobody_asks_for_a_while() -> None:
    tries, counts = Tries(LoopClock()), Counts(takes=1.0)
    await fail(tries, counts)
    await asyncio.sleep(REST - 0.1)
    await fail(tries, counts)
    assert counts.asked == 1
    await asyncio.sleep(0.1)
    await fail(tries, counts)
    assert counts.asked == 2


async def test_then_one_at_a_time_until_there_is_an_answer() -> None:
    tries, counts = Tries(LoopClock()), Counts(takes=5.0)
    await fail(tries, counts)
    await asyncio.sleep(REST)
    counts.fails = False
    first = asyncio.create_task(tries(counts))
    await asyncio.sleep(1)
    await fail(tries, counts)
    assert await first == "counted"
    assert await asyncio.gather(*(tries(counts) for _ in range(2))) == ["counted"] * 2
    assert counts.asked == 4


async def test_what_fails_at_once_keeps_nobody_and_is_asked_on() -> None:
    tries, counts = Tries(LoopClock()), Counts(takes=0.9)
    await asyncio.sleep(1)
    await fail(tries, counts)
    await fail(tries, counts)
    assert counts.asked == 2


async def test_who_gives_up_on_a_hang_has_seen_it_hang() -> None:
    tries, counts = Tries(LoopClock()), Counts(takes=100.0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(20):
            await tries(counts)
    await fail(tries, counts, "was not read or written in time")
    assert counts.asked == 1
