"""Answers that are kept for seconds: asked once by many, anew in time, and never a failure."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.lookup import Kept
from tests.harness.clocks import LoopClock

pytestmark = pytest.mark.looptime


class Asked:
    """A question that takes a second; fails where it is told to."""

    def __init__(self) -> None:
        self.times = 0
        self.error: Exception | None = None

    async def __call__(self) -> int:
        self.times += 1
        await asyncio.sleep(1)
        if self.error is not None:
            raise self.error
        return self.times


async def test_those_who_ask_at_the_same_time_share_one_question() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), 5)
    assert await asyncio.gather(*(kept.get("a", asked) for _ in range(9))) == [1] * 9
    assert await kept.get("b", asked) == 2


async def test_an_answer_is_believed_for_so_long() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), 5)
    await kept.get("a", asked)
    await asyncio.sleep(4.9)
    assert await kept.get("a", asked) == 1
    await asyncio.sleep(0.1)
    assert await kept.get("a", asked) == 2


async def test_what_took_long_is_believed_for_longer() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), 5, times_as_long=9)
    await kept.get("a", asked)
    await asyncio.sleep(8.9)
    assert await kept.get("a", asked) == 1
    await asyncio.sleep(0.2)
    assert await kept.get("a", asked) == 2


async def test_a_stale_answer_is_given_while_it_is_asked_anew() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), 5, stale=10)
    await kept.get("a", asked)
    await asyncio.sleep(6)
    assert await kept.get("a", asked) == 1
    await asyncio.sleep(1.1)
    assert await kept.get("a", asked) == 2
    await asyncio.sleep(15)
    assert await kept.get("a", asked) == 3


async def test_whoever_gives_up_leaves_the_answer_to_the_next() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), 5)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await kept.get("a", asked)
    await asyncio.sleep(0.6)
    assert await kept.get("a", asked) == 1


async def test_a_failure_is_told_to_all_and_not_kept() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), 5)
    asked.error = ValueError("no")
    found = await asyncio.gather(*(kept.get("a", asked) for _ in range(2)), return_exceptions=True)
    assert [str(one) for one in found] == ["no", "no"]
    asked.error = None
    assert await kept.get("a", asked) == 2


async def test_no_more_are_kept_than_are_to_be() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), 5, most=2)
    await asyncio.gather(*(kept.get(key, asked) for key in "abc"))
    before = asked.times
    await kept.get("c", asked)
    assert asked.times == before
    await kept.get("a", asked)
    assert asked.times == before + 1


async def test_what_nobody_was_given_yet_is_kept_for_who_asks_next() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), 0.5, ungiven=30)
    for waited in (0.2, 0.2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(waited):
                await kept.get("a", asked)
    await asyncio.sleep(29)
    assert [await kept.get("a", asked) for _ in range(3)] == [1, 1, 1]
    await asyncio.sleep(0.4)
    assert await kept.get("a", asked) == 1, "from then on it is believed for as long as any"
    await asyncio.sleep(0.2)
    assert await kept.get("a", asked) == 2
    await asyncio.sleep(0.6)
    assert await kept.get("a", asked) == 3, "who waited was given it"


async def test_what_nobody_has_asked_for_in_that_time_is_asked_anew() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), 0.5, ungiven=30)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await kept.get("a", asked)
    await asyncio.sleep(31)
    assert await kept.get("a", asked) == 2
