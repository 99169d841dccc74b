"""What strangers want to see is taken by the worker's loop in a small share of its time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from bailiff.worker import Desk
from bailiff.worker.observe.queue_query import QueueQuery
from bailiff.worker.observe.wanted import Report, Taken, line_of, listing_of
from tests.harness.clocks import START

if TYPE_CHECKING:
    from bailiff.worker.observe.wanted import Wanted

COST = 0.03
SHARE = 1 / 20
OTHER = [listing_of(QueueQuery(node=f"n{number}")) for number in range(10)]
NAMED = listing_of(QueueQuery(namespace="a", name="x"))
BROKEN = QueueQuery(node="broken")


class Taker:
    """Takes snapshots that cost CPU time, and notes which and when."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken: list[Wanted] = []
        self.at: list[float] = []
        self._used = 0.0
        monkeypatch.setattr("bailiff.worker.observe.desk.time.thread_time", lambda: self._used)

    async def take(self, wanted: Wanted) -> Taken:
        self.taken.append(wanted)
        self.at.append(asyncio.get_running_loop().time())
        for _ in range(3):
            self._used += COST / 3
            await asyncio.sleep(0)
        if wanted == BROKEN:
            raise LookupError("broken")
        return Taken(wanted, self.at[-1], START)


@pytest.fixture
def taker(monkeypatch: pytest.MonkeyPatch) -> Taker:
    return Taker(monkeypatch)


@asynccontextmanager
async def running(taker: Taker) -> AsyncIterator[Desk]:
    desk = Desk(taker.take)
    task = asyncio.create_task(desk.run())
    yield desk
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.looptime(start=0)
async def test_a_line_takes_its_share_of_the_time_however_many_wait(taker: Taker) -> None:
    async with running(taker) as desk:
        await asyncio.gather(*(desk.ask(one) for one in OTHER))
    assert taker.taken == OTHER
    rests = [after - before for before, after in zip(taker.at, taker.at[1:], strict=False)]
    assert rests == [pytest.approx(COST / SHARE - COST)] * (len(OTHER) - 1)


@pytest.mark.looptime(start=0)
async def test_nobody_waits_for_those_of_another_line(taker: Taker) -> None:
    async with running(taker) as desk:
        others = [asyncio.create_task(desk.ask(one)) for one in OTHER]
        await asyncio.sleep(0.1)
        for wanted in (Report.METRICS, NAMED):
            before = asyncio.get_running_loop().time()
            assert (await desk.ask(wanted)).what is wanted
            assert asyncio.get_running_loop().time() - before < COST
        for one in others:
            one.cancel()


@pytest.mark.looptime(start=0)
async def test_what_nobody_waits_for_any_more_is_not_taken(taker: Taker) -> None:
    async with running(taker) as desk:
        first, given_up, last = (asyncio.create_task(desk.ask(one)) for one in OTHER[:3])
        await asyncio.sleep(0.01)
        given_up.cancel()
        await asyncio.wait([first, last])
    assert taker.taken == [OTHER[0], OTHER[2]]


@pytest.mark.looptime(start=0)
async def test_what_fails_is_told_to_whoever_has_asked_and_the_line_goes_on(taker: Taker) -> None:
    async with running(taker) as desk:
        with pytest.raises(LookupError, match="broken"):
            await desk.ask(BROKEN)
        assert (await desk.ask(OTHER[0])).what == OTHER[0]


async def test_other_threads_ask_and_the_desk_s_own_thread_takes() -> None:
    threads: list[threading.Thread] = []

    async def take(wanted: Wanted) -> Taken:
        threads.append(threading.current_thread())
        return Taken(wanted, 0.0, START)

    async def ask() -> Taken:
        return await desk.ask(Report.METRICS)

    desk = Desk(take)
    task = asyncio.create_task(desk.run())
    taken = await asyncio.to_thread(asyncio.run, ask())
    # One whose loop has ended before the answer came is nobody any more.
    await asyncio.to_thread(asyncio.run, given_up(desk))
    assert (await desk.ask(Report.SHADOW)).what is Report.SHADOW
    task.cancel()
    assert taken.what is Report.METRICS
    assert set(threads) == {threading.current_thread()}


async def given_up(desk: Desk) -> None:
    asking = asyncio.create_task(desk.ask(Report.METRICS))
    await asyncio.sleep(0)
    asking.cancel()


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        *((one, "usual") for one in Report),
        (QueueQuery(), "usual"),
        (QueueQuery(limit=1), "usual"),
        (QueueQuery(namespace="a", name="x"), "named"),
        (QueueQuery(namespace="a", name="x", node="n"), "named"),
        (QueueQuery(name="x"), "other"),
        (QueueQuery(namespace="a"), "other"),
        (QueueQuery(after="WzEuMCwgImEiXQ=="), "other"),
    ],
)
def test_lines(wanted: Wanted, line: str) -> None:
    asked = listing_of(wanted) if isinstance(wanted, QueueQuery) else wanted
    assert line_of(asked).value == line
