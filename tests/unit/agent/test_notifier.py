"""Who is told, and when marks are set anew."""

from __future__ import annotations

import asyncio
import os

import pytest

from bailiff.agent.log import Log
from bailiff.agent.notices.notifier import Notifier, Ways
from tests.harness.clocks import LoopClock

# The descriptors are real, so the loop is.


class MadeUpWay:
    """A pipe that tells when something is written into it."""

    def __init__(self) -> None:
        self.descriptor, self.other = os.pipe()
        self.moves: list[tuple[int, ...]] = []
        self.fails: OSError | None = None
        self.lost = False
        self.closed = False

    def tell(self) -> None:
        os.write(self.other, b"x")

    def take(self) -> bool:
        os.read(self.descriptor, 100)
        if self.lost:
            raise FileNotFoundError("the cgroup is gone")
        return True

    def move(self, marks) -> None:
        if self.fails is not None:
            raise self.fails
        self.moves.append(tuple(marks))

    def close(self) -> None:
        if not self.closed:
            os.close(self.descriptor)
            os.close(self.other)
        self.closed = True


@pytest.fixture
def way():
    way = MadeUpWay()
    yield way
    way.close()


class ElapsedClock(LoopClock):
    """Whose time is set."""

    at = 0.0

    def elapsed(self) -> float:
        return self.at


def notifier_of(way, told, clock=None, lines=None):
    log = Log(text=True, out=lines)
    return Notifier(Ways({("usage", "node"): way}, {}), told.append, clock or ElapsedClock(), log)


async def test_it_says_which_way_the_kernel_has_told(way):
    told: list[str] = []
    notifier = notifier_of(way, told)
    notifier.start()
    way.tell()
    await asyncio.sleep(0.05)
    assert told == ["usage"]
    notifier.close()
    assert way.closed


async def test_marks_are_set_anew_once_in_ten_seconds(way):
    clock = ElapsedClock()
    notifier = notifier_of(way, [], clock)
    notifier.start()
    for clock.at, marks in ((0.0, (1,)), (9.9, (2,)), (10.0, (3,)), (12.0, (4,))):
        notifier.rearm({"node": marks})
    assert way.moves == [(1,), (3,)]
    notifier.close()


async def test_after_somebody_has_gone_marks_are_set_anew_at_once(way):
    clock = ElapsedClock()
    notifier = notifier_of(way, [], clock)
    notifier.start()
    for clock.at, marks in ((0.0, (1,)), (2.0, (2,))):
        notifier.rearm({"node": marks})
    notifier.renew()
    for clock.at, marks in ((3.0, (3,)), (4.0, (4,))):
        notifier.rearm({"node": marks})
    assert way.moves == [(1,), (3,)]
    notifier.close()


async def test_a_storm_of_one_way_is_some_rounds_and_not_a_hundred(way):
    told: list[str] = []
    notifier = notifier_of(way, told)
    notifier.start()
    for _ in range(50):
        way.tell()
        await asyncio.sleep(0.002)
    notifier.close()
    held_back = len(told)
    assert 10 <= held_back < 20
    await asyncio.sleep(0.2)
    assert len(told) == held_back


async def test_of_what_has_no_marks_the_last_stay(way):
    notifier = notifier_of(way, [])
    notifier.start()
    notifier.rearm({"pods": (1,)})
    assert way.moves == []
    notifier.close()


async def test_marks_that_cannot_be_set_are_tried_again_and_it_listens_meanwhile(way):
    told: list[str] = []
    clock = ElapsedClock()
    notifier = notifier_of(way, told, clock)
    notifier.start()
    way.fails = OSError(22, "Invalid argument")
    notifier.rearm({"node": (1,)})
    way.tell()
    await asyncio.sleep(0.05)
    assert told == ["usage"]
    way.fails, clock.at = None, 10.0
    notifier.rearm({"node": (2,)})
    assert way.moves == [(2,)]
    notifier.close()


async def test_a_way_that_is_lost_is_given_up_and_the_others_go_on(way):
    other = MadeUpWay()
    told: list[str] = []
    ways = Ways({("usage", "node"): way}, {"stall": other})
    notifier = Notifier(ways, told.append, ElapsedClock(), Log(text=True))
    notifier.start()
    way.lost = True
    way.tell()
    other.tell()
    await asyncio.sleep(0.05)
    assert way.closed
    assert told == ["stall"]
    assert notifier.names == ("stall",)
    notifier.rearm({"node": (1,)})
    notifier.close()
