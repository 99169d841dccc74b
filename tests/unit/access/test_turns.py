"""Whose question is next: none is lost, and no turn either, whoever gives up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.access import AccessSettings, UnavailableError
from bailiff.access.turns import Turns
from tests.harness.clocks import virtual_loop

pytestmark = pytest.mark.looptime(start=0)


def turns(**settings: float) -> Turns:
    return Turns(AccessSettings.model_validate(settings))


class Work:
    """Takes a second, and tells who has begun, in order.

    Attributes:
        at_the_end: what is called soon at the end of each.
    """

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.at_the_end: Callable[[], object] = lambda: None
        self.begun: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    def add(self, name: str, *, known: bool = False) -> asyncio.Task[None]:
        """As `a1`, of the peer `a`."""

        async def work() -> None:
            self.begun.append(name)
            await asyncio.sleep(1)
            asyncio.get_running_loop().call_soon(self.at_the_end)

        task = asyncio.create_task(self.turns.take(name[0], work, known=known))
        self.tasks.append(task)
        return task

    async def end(self) -> str:
        await asyncio.gather(*self.tasks, return_exceptions=True)
        return " ".join(self.begun)


async def test_peers_take_turns() -> None:
    work = Work(turns(max_reviews=1, review_timeout_seconds=60))
    for name in ["a1", "a2", "a3", "b1", "c1", "b2"]:
        work.add(name)
    assert await work.end() == "a1 a2 b1 c1 a3 b2"  # a1 has not waited


async def test_strangers_and_who_is_known_take_turns() -> None:
    work = Work(turns(max_reviews=1, review_timeout_seconds=60))
    for name in ["a1", "b1", "c1"]:
        work.add(name)
    for name in ["x1", "x2", "y1"]:
        work.add(name, known=True)
    assert await work.end() == "a1 x1 b1 y1 c1 x2"


async def test_who_is_known_has_room_where_the_line_of_strangers_is_full() -> None:
    work = Work(turns(max_reviews=1, max_waiting=2, review_timeout_seconds=60))
    for name in ["a1", "b1", "c1", "d1"]:
        work.add(name)
    work.add("x1", known=True)
    assert await work.end() == "a1 x1 b1 c1"


@pytest.mark.parametrize(
    ("waiting", "newcomer", "begun"),
    [
        ("b1 b2 b3 c1", "d1", "a1 b1 c1 d1 b2"),
        ("b1 b2 c1 c2", "d1", "a1 b1 c1 d1 c2"),
        ("b1 b2 b3 c1", "c2", "a1 b1 c1 b2 c2"),
        ("b1 b2 b3 c1", "b4", "a1 b1 c1 b2 b3"),
        ("b1 b2 c1 c2", "c3", "a1 b1 c1 b2 c2"),
        ("b1 c1 d1 e1", "f1", "a1 b1 c1 d1 e1"),
    ],
)
async def test_who_makes_room(waiting: str, newcomer: str, begun: str) -> None:
    work = Work(turns(max_reviews=1, max_waiting=4, review_timeout_seconds=60))
    for name in ["a1", *waiting.split(), newcomer]:
        work.add(name)
        await asyncio.sleep(0)
    assert await work.end() == begun
    refused = [task for task in work.tasks if isinstance(task.exception(), UnavailableError)]
    assert len(refused) == 1


async def test_who_gives_up_while_it_waits_has_no_turn() -> None:
    work = Work(turns(max_reviews=1, review_timeout_seconds=60))
    _, second, _ = (work.add(name) for name in ["a1", "b1", "c1"])
    await asyncio.sleep(0.5)
    second.cancel()
    assert await work.end() == "a1 c1"


async def test_who_gives_up_as_its_turn_comes_gives_it_to_the_next() -> None:
    work = Work(turns(max_reviews=1, review_timeout_seconds=60))
    _, second, _ = (work.add(name) for name in ["a1", "b1", "c1"])
    work.at_the_end = second.cancel
    assert await work.end() == "a1 c1"


async def test_who_waits_too_long_is_told() -> None:
    work = Work(turns(max_reviews=1, review_timeout_seconds=2.5))
    for name in ["a1", "b1", "c1", "d1"]:
        work.add(name)
    assert await work.end() == "a1 b1 c1"
    late = [task.exception() for task in work.tasks[2:]]
    assert all("within 2.5 s" in str(error) for error in late)


STEPS = st.one_of(
    st.sampled_from("abcd"), st.sampled_from(["wait", "turn", "cancel", "cancel the first"])
)


@given(st.lists(STEPS, max_size=40), st.sampled_from([True, False]))
def test_no_turn_is_lost_whatever_happens(steps: list[str], also_known: bool) -> None:
    async def play() -> None:
        work = Work(turns(max_reviews=2, max_waiting=3, review_timeout_seconds=4))
        for number, step in enumerate(steps):
            await _DO.get(step, _add)(work, step, also_known and number % 2 == 0)
        await work.end()
        given = work.turns
        assert given._free == 2
        for line in (given._strangers, given._known):
            assert not len(line._line)
            assert not line._numbers

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(play())


async def _add(work: Work, step: str, known: bool) -> None:
    work.add(step, known=known)


async def _wait(work: Work, *_: object) -> None:
    await asyncio.sleep(0.7)


async def _turn(work: Work, *_: object) -> None:
    await asyncio.sleep(0)


async def _cancel(work: Work, step: str, _: bool) -> None:
    left = [task for task in work.tasks if not task.done()]
    if left:
        left[0 if step == "cancel the first" else -1].cancel()


_DO: dict[str, Callable[..., Awaitable[None]]] = {
    "wait": _wait,
    "turn": _turn,
    "cancel": _cancel,
    "cancel the first": _cancel,
}
