"""Answers that are kept for seconds: asked once by many, anew in time, and never a failure."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from bailiff.lookup import Age, Kept, UnavailableError
from tests.harness.clocks import LoopClock

pytestmark = pytest.mark.looptime

FIVE = Age(5)


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


def made(most: int = 1000) -> tuple[Asked, Kept[int]]:
    return Asked(), Kept(LoopClock(), most)


async def give_up(kept: Kept[int], asked: Asked, after: float, age: Age = FIVE) -> None:
    """Ask, and wait no longer than that."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(after):
            await kept.get("a", asked, age)


async def test_those_who_ask_at_the_same_time_share_one_question() -> None:
    asked, kept = made()
    assert await asyncio.gather(*(kept.get("a", asked, FIVE) for _ in range(9))) == [1] * 9
    assert await kept.get("b", asked, FIVE) == 2


async def test_an_answer_is_believed_for_so_long() -> None:
    asked, kept = made()
    await kept.get("a", asked, FIVE)
    await asyncio.sleep(4.9)
    assert await kept.get("a", asked, FIVE) == 1
    await asyncio.sleep(0.1)
    assert await kept.get("a", asked, FIVE) == 2


async def test_how_old_it_may_be_each_says_who_asks() -> None:
    asked, kept = made()
    await kept.get("a", asked, FIVE)
    await asyncio.sleep(2)
    assert await kept.get("a", asked, FIVE) == 1
    assert await kept.get("a", asked, Age(2)) == 2
    assert await kept.get("a", asked, FIVE) == 2, "what is new serves all"


async def test_what_took_long_is_believed_for_longer() -> None:
    asked, kept = made()
    age = Age(5, times_as_long=9)
    await kept.get("a", asked, age)
    await asyncio.sleep(8.9)
    assert await kept.get("a", asked, age) == 1
    await asyncio.sleep(0.2)
    assert await kept.get("a", asked, age) == 2


async def test_a_stale_answer_is_given_while_it_is_asked_anew() -> None:
    asked, kept = made()
    age = Age(5, stale=10)
    await kept.get("a", asked, age)
    await asyncio.sleep(6)
    assert await kept.get("a", asked, age) == 1
    await asyncio.sleep(1.1)
    assert await kept.get("a", asked, age) == 2
    await asyncio.sleep(15)
    assert await kept.get("a", asked, age) == 3


@pytest.mark.parametrize(("slept", "given"), [(18.9, 1), (19.1, 2)])
async def test_it_is_stale_from_when_it_is_no_longer_believed(slept: float, given: int) -> None:
    asked, kept = made()
    age = Age(5, times_as_long=9, stale=10)
    await kept.get("a", asked, age)
    await asyncio.sleep(slept)
    assert await kept.get("a", asked, age) == given


@pytest.mark.parametrize(("patience", "given"), [(0.9, 1), (1.1, 2)])
async def test_for_a_new_answer_in_place_of_a_stale_one_is_waited_so_long(
    patience: float, given: int
) -> None:
    asked, kept = made()
    age = Age(5, stale=10)
    await kept.get("a", asked, age)
    await asyncio.sleep(6)
    assert await kept.get("a", asked, age, patience) == given


async def test_where_the_new_one_fails_the_stale_one_is_given_at_once() -> None:
    asked, kept = made()
    age = Age(5, stale=10)
    await kept.get("a", asked, age)
    await asyncio.sleep(6)
    asked.error = UnavailableError("no")
    begun = asyncio.get_running_loop().time()
    assert await kept.get("a", asked, age, patience=3) == 1
    assert asyncio.get_running_loop().time() - begun == pytest.approx(1)


async def test_whoever_gives_up_leaves_the_answer_to_the_next() -> None:
    asked, kept = made()
    await give_up(kept, asked, 0.5)
    await asyncio.sleep(0.6)
    assert await kept.get("a", asked, FIVE) == 1


async def test_whoever_gives_up_takes_it_from_nobody_who_waits() -> None:
    asked, kept = made()
    first, second = (asyncio.create_task(kept.get("a", asked, FIVE)) for _ in range(2))
    await asyncio.sleep(0.5)
    first.cancel()
    assert await second == 1
    assert first.cancelled()


async def test_who_has_no_turn_yet_is_given_up_with_the_last_who_waits() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), turns=asyncio.Semaphore(1))
    other = asyncio.create_task(kept.get("b", asked, FIVE))
    await asyncio.sleep(0.1)
    patient = asyncio.create_task(kept.get("a", asked, FIVE))
    await give_up(kept, asked, 0.2)
    assert (await other, await patient) == (1, 2), "one still waited"
    other = asyncio.create_task(kept.get("c", asked, FIVE))
    await asyncio.sleep(0.1)
    await give_up(kept, asked, 0.2, Age(0))
    await other
    await asyncio.sleep(2)
    assert asked.times == 3, "nobody had it asked"


async def test_who_asks_again_at_once_has_it_asked_for_all_who_come_then() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), turns=asyncio.Semaphore(1))
    other = asyncio.create_task(kept.get("b", asked, FIVE))
    await asyncio.sleep(0.1)

    async def insist() -> int:
        await give_up(kept, asked, 0.2)
        return await kept.get("a", asked, FIVE)

    insisting = asyncio.create_task(insist())
    await asyncio.sleep(0.3)
    assert await kept.get("a", asked, FIVE) == 2
    assert await insisting == 2
    await other


async def test_a_failure_is_told_to_all_and_not_kept() -> None:
    asked, kept = made()
    asked.error = ValueError("no")
    both = (kept.get("a", asked, FIVE) for _ in range(2))
    found = await asyncio.gather(*both, return_exceptions=True)
    assert [str(one) for one in found] == ["no", "no"]
    asked.error = None
    assert await kept.get("a", asked, FIVE) == 2


@pytest.mark.parametrize(
    ("error", "logged"), [(UnavailableError("no"), 0), (TimeoutError(), 0), (KeyError("k"), 1)]
)
async def test_a_fault_of_ours_is_logged_though_nobody_waits_any_more(
    error: Exception, logged: int
) -> None:
    asked, kept = made()
    asked.error = error
    with capture_logs() as logs:
        await give_up(kept, asked, 0.5)
        await asyncio.sleep(1)
    assert len(logs) == logged


async def test_a_fault_of_ours_is_no_reason_to_give_what_is_stale() -> None:
    asked, kept = made()
    age = Age(5, stale=10)
    await kept.get("a", asked, age)
    await asyncio.sleep(6)
    asked.error = KeyError("k")
    with capture_logs() as logs, pytest.raises(KeyError):
        await kept.get("a", asked, age, patience=3)
    assert logs == [], "who waits is told"


async def test_no_more_are_kept_than_are_to_be() -> None:
    asked, kept = made(most=2)
    await asyncio.gather(*(kept.get(key, asked, FIVE) for key in "abc"))
    before = asked.times
    await kept.get("c", asked, FIVE)
    assert asked.times == before
    await kept.get("a", asked, FIVE)
    assert asked.times == before + 1


async def test_a_new_answer_takes_the_room_of_the_old_one() -> None:
    asked, kept = made(most=1)
    for times in (1, 2):
        assert [await kept.get("a", asked, FIVE) for _ in range(2)] == [times] * 2
        await asyncio.sleep(5)


async def test_what_weighs_more_leaves_room_for_fewer() -> None:
    asked, kept = Asked(), Kept[int](LoopClock(), most=5, weigh=lambda value: value)
    for key in "abc":
        await kept.get(key, asked, FIVE)
    assert [await kept.get(key, asked, FIVE) for key in "bc"] == [2, 3]
    assert await kept.get("a", asked, FIVE) == 4
    assert await kept.get("a", asked, FIVE) == 4
    assert await kept.get("c", asked, FIVE) == 5, "it went for the one that came"


async def test_what_nobody_was_given_yet_is_kept_for_who_asks_next() -> None:
    asked, kept = made()
    age = Age(0.5, ungiven=30)
    for _ in range(2):
        await give_up(kept, asked, 0.2, age)
    await asyncio.sleep(29)
    assert [await kept.get("a", asked, age) for _ in range(3)] == [1, 1, 1]
    await asyncio.sleep(0.4)
    assert await kept.get("a", asked, age) == 1, "from then on it is believed for as long as any"
    await asyncio.sleep(0.2)
    assert await kept.get("a", asked, age) == 2
    await asyncio.sleep(0.6)
    assert await kept.get("a", asked, age) == 3, "who waited was given it"


async def test_what_nobody_has_asked_for_in_that_time_is_asked_anew() -> None:
    asked, kept = made()
    age = Age(0.5, ungiven=30)
    await give_up(kept, asked, 0.2, age)
    await asyncio.sleep(31)
    assert await kept.get("a", asked, age) == 2
