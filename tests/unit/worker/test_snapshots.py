"""Snapshots are taken once for all who ask, and told for as long as they are worth it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bailiff.worker.observe.queue_query import QueueQuery
from bailiff.worker.observe.snapshots import FRESH, OLDEST, BusyError, Kept, Snapshots
from bailiff.worker.observe.wanted import Report, Taken, listing_of
from tests.harness.clocks import START

if TYPE_CHECKING:
    from bailiff.worker.observe.wanted import Wanted

pytestmark = pytest.mark.looptime(start=0)

METRICS = Report.METRICS


def other(number: int) -> Wanted:
    return listing_of(QueueQuery(node=f"n{number}"))


class Desk:
    """Takes as long as a test says."""

    def __init__(self) -> None:
        self.asked: list[Wanted] = []
        self.seconds = 0.0
        self.failure: Exception | None = None
        loop = asyncio.get_running_loop()
        self.snapshots = Snapshots(self.ask, self.write, loop.time)

    async def ask(self, wanted: Wanted) -> Taken:
        self.asked.append(wanted)
        await asyncio.sleep(self.seconds)
        if self.failure:
            raise self.failure
        return Taken(len(self.asked), asyncio.get_running_loop().time(), START)

    async def write(self, wanted: Wanted, taken: Taken) -> str:
        await asyncio.sleep(0)
        return f"number {taken.what}"

    async def get(self, wanted: Wanted = METRICS) -> str:
        return str((await self.snapshots.get(wanted)).told)


async def test_all_who_ask_within_a_second_are_told_the_same() -> None:
    desk = Desk()
    desk.seconds = 0.1
    assert set(await asyncio.gather(*(desk.get() for _ in range(100)))) == {"number 1"}
    await asyncio.sleep(FRESH - 0.01)
    assert await desk.get() == "number 1"
    await asyncio.sleep(0.02)
    assert await desk.get() == "number 2"
    assert desk.asked == [METRICS, METRICS]


async def test_while_a_new_one_is_long_in_coming_the_older_one_is_told_with_its_age() -> None:
    desk = Desk()
    await desk.get()
    desk.seconds = 1e6
    await asyncio.sleep(4)
    kept = await desk.snapshots.get(METRICS)
    assert kept == Kept(0.0, "number 1")
    assert desk.snapshots.age(kept) == pytest.approx(5.0)
    assert desk.snapshots.fresh(METRICS) is None
    await asyncio.sleep(OLDEST - 5)
    with pytest.raises(BusyError):
        await desk.get()
    # However many have asked, one is under way.
    assert len(desk.asked) == 2


async def test_where_there_is_no_older_one_it_is_waited_for_longer_and_not_for_ever() -> None:
    desk = Desk()
    desk.seconds = 4.0
    assert await desk.get() == "number 1"
    desk.seconds = 6.0
    with pytest.raises(BusyError):
        await desk.get(Report.SHADOW)
    await asyncio.sleep(1.5)  # it came after all
    assert desk.snapshots.fresh(Report.SHADOW) is not None


async def test_too_many_different_ones_are_refused_at_once_and_do_not_keep_out_the_usual() -> None:
    desk = Desk()
    desk.seconds = 3.0
    asking = [asyncio.create_task(desk.get(other(number))) for number in range(20)]
    await asyncio.sleep(0)
    named = asyncio.create_task(desk.get(listing_of(QueueQuery(namespace="a", name="x"))))
    usual = asyncio.create_task(desk.get())
    await asyncio.wait([*asking, named, usual])
    refused = [one for one in asking if isinstance(one.exception(), BusyError)]
    assert refused == asking[8:]
    assert (named.exception(), usual.exception()) == (None, None)


async def test_few_are_kept() -> None:
    desk = Desk()
    for number in range(20):
        await desk.get(other(number))
    kept = [number for number in range(20) if desk.snapshots.fresh(other(number))]
    assert kept == list(range(4, 20))


async def test_what_fails_is_told_to_all_who_wait_and_is_tried_again() -> None:
    desk = Desk()
    desk.failure = LookupError("broken")
    asking = [asyncio.create_task(desk.get()) for _ in range(3)]
    await asyncio.wait(asking)
    assert [str(one.exception()) for one in asking] == ["broken"] * 3
    desk.failure = None
    assert await desk.get() == "number 2"
