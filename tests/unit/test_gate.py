"""Work begins in turns of the event loop, and none of them takes in too much of it."""

from __future__ import annotations

import asyncio
import math

import pytest

from bailiff.serving import Gate
from bailiff.turns import WaitedTooLongError


class Work:
    """What is let in: each piece takes some of the clock's time, in the turn that it begins in.

    Attributes:
        begun: names of what has begun, with the number of the turn.
    """

    def __init__(self, turn_seconds: float = 1.0) -> None:
        self.now = 0.0
        self.gate = Gate(turn_seconds, lambda: self.now)
        self.begun: list[tuple[str, int]] = []

    async def do(self, name: str, seconds: float, longest: float = math.inf) -> None:
        """`name` is the peer's, and a number."""
        if not self.gate.enter():
            await self.gate.wait(f"10.0.0.{name[0]}", longest)
        self.begun.append((name, self.gate.number))
        self.now += seconds

    def start(self, seconds: float, *names: str) -> asyncio.Future[None]:
        return asyncio.ensure_future(self.all(seconds, *names))

    async def all(self, seconds: float, *names: str) -> None:
        await asyncio.gather(*(self.do(name, seconds) for name in names))

    def in_turns(self) -> list[int]:
        """How many began in each turn, one after another."""
        turns = [turn for _, turn in self.begun]
        return [turns.count(turn) for turn in sorted(set(turns))]


async def test_what_fits_into_a_turn_begins_at_once() -> None:
    work = Work()
    await work.all(0.01, *(f"a{n}" for n in range(50)))
    assert work.in_turns() == [50]
    assert work.gate.waiting == 0


async def test_heavy_work_has_each_turn_for_itself_and_peers_take_turns() -> None:
    work = Work()
    await work.all(1.0, "a1", "a2", "a3", "a4", "b1", "c1")
    assert work.in_turns() == [1] * 6
    assert [name for name, _ in work.begun] == ["a1", "a2", "b1", "c1", "a3", "a4"]


async def test_a_turn_calls_as_many_as_found_time_and_more_where_half_was_left() -> None:
    """The example of `Gate._learn`."""
    work = Work(turn_seconds=5.0)
    first = work.start(5.0, "z1")  # leaves the others no time to begin at once
    light = work.start(0.1, *(f"a{n}" for n in range(48)))
    heavy = work.start(2.0, *(f"a{n}" for n in range(48, 90)))
    quotas: list[int] = []
    for _ in range(4):
        before = work.gate.number
        while work.gate.number == before:
            await asyncio.sleep(0)
        quotas.append(work.gate._quota)
    await asyncio.gather(first, light, heavy)
    assert quotas == [16, 32, 32, 3]
    assert work.in_turns()[:5] == [1, 16, 32, 3, 3]


async def test_a_turn_ends_when_its_time_is_used_up() -> None:
    work = Work()
    await work.all(0.3, *(f"a{n}" for n in range(20)))
    assert max(work.in_turns()) <= 4  # the last of them begins before the second is over
    assert [name for name, _ in work.begun] == [f"a{n}" for n in range(20)]


async def test_light_work_behind_heavy_work_fills_the_turns_again() -> None:
    work = Work()
    heavy = work.start(1.0, *(f"a{n}" for n in range(6)))
    light = work.start(0.001, *(f"b{n}" for n in range(300)))
    await asyncio.gather(heavy, light)
    assert len(work.begun) == 306
    assert len(work.in_turns()) < 30


async def test_who_asks_now_and_then_does_not_wait_behind_many() -> None:
    work = Work()
    many = work.start(1.0, *(f"a{n}" for n in range(30)))
    while not work.begun:
        await asyncio.sleep(0)
    before = len(work.begun)
    await work.do("b1", 0.001)
    assert len(work.begun) <= before + 3
    await many


async def test_nobody_waits_for_longer_than_it_may() -> None:
    work = Work()
    busy = work.start(1.0, *(f"a{n}" for n in range(5)))
    while not work.begun:
        await asyncio.sleep(0)
    with pytest.raises(WaitedTooLongError, match=r"2\.5 s"):
        await work.do("a9", 0.1, longest=2.5)
    await busy
    assert "a9" not in dict(work.begun)


async def test_who_has_gone_takes_no_turn() -> None:
    work = Work()
    tasks = [asyncio.ensure_future(work.do(f"a{n}", 1.0)) for n in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    tasks[3].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert [name for name, _ in work.begun] == ["a0", "a2"]
    assert work.gate.waiting == 0


async def test_addresses_of_one_network_are_one_peer() -> None:
    gate = Gate(0.0)
    assert gate.enter()
    came: list[str] = []

    async def wait(address: str) -> None:
        await gate.wait(address, math.inf)
        came.append(address)

    now = [0.0]
    gate = Gate(1.0, lambda: now[0])
    waiting = [wait(one) for one in ("2001:db8::1", "2001:db8::2", "10.0.0.1", "::ffff:10.0.0.1")]
    await asyncio.gather(*waiting)
    assert came == ["2001:db8::1", "10.0.0.1", "2001:db8::2", "::ffff:10.0.0.1"]


async def test_a_gate_that_nobody_waits_at_does_nothing() -> None:
    gate = Gate()
    assert gate.enter()
    for _ in range(3):
        await asyncio.sleep(0)
    number = gate.number
    for _ in range(10):
        await asyncio.sleep(0)
    assert gate.number == number
