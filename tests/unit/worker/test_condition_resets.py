"""Conditions that are reset: which failures end it, what comes in between, how it is drained."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import cast

import pytest

from bailiff.actions.ports import PodActions
from bailiff.cluster import FencedError, NotFoundError, ServerError, UidMismatchError
from bailiff.decisions import Verdict
from bailiff.decisions.node_taints.findings import NodeTaintEviction
from bailiff.worker.execute import condition_resets
from bailiff.worker.execute.condition_resets import ConditionResets
from bailiff.worker.timers.eviction import Eviction
from tests.harness.clocks import START, LoopClock
from tests.harness.kinds import pod_of

pytestmark = pytest.mark.looptime(start=0)

FINDING = NodeTaintEviction(
    system="node-taints", verdict=Verdict.EVICT_NOW, reason="TaintNotTolerated", message=""
)
GONE = NotFoundError("gone", status=404, reason="NotFound", details={"name": "a", "kind": "pods"})


def eviction(name: str) -> Eviction:
    pod = pod_of(name, "n1", uid=f"uid-{name}")
    return Eviction(pod=pod, finding=FINDING, deadline=START, due=0.0)


async def at_once() -> None:
    """An answer."""


async def never() -> None:
    await asyncio.Event().wait()


class Actions:
    """What each try comes to, in turn; after that all succeed."""

    def __init__(self, *answers: Callable[[], Awaitable[None]] | Exception) -> None:
        self.answers = list(answers)
        self.tried: list[str] = []

    async def reset_condition(self, pod, condition, now) -> None:
        self.tried.append(pod.metadata.name)
        answer = self.answers.pop(0) if self.answers else at_once
        if isinstance(answer, Exception):
            raise answer
        await answer()


@asynccontextmanager
async def resets(*answers):
    actions = Actions(*answers)
    found = ConditionResets(cast(PodActions, actions), LoopClock())
    running = asyncio.create_task(found.run())
    try:
        yield found, actions
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (GONE, 1),
        (UidMismatchError("another pod has the name", status=409), 1),
        (FencedError("another worker leads"), 1),
        (NotFoundError("a proxy knows no such path", status=404), 2),
        (ServerError("down", status=500), 2),
    ],
    ids=["gone", "replaced", "fenced", "a 404 about something else", "down"],
)
async def test_only_what_leaves_nothing_to_do_ends_it(error, tries):
    async with resets(error) as (found, actions):
        found.request(eviction("a"))
        await asyncio.sleep(60)
        assert actions.tried == ["a"] * tries


async def test_what_is_asked_for_while_it_is_under_way_is_done_once_more():
    async with resets(lambda: asyncio.sleep(1)) as (found, actions):
        found.request(eviction("a"))
        await asyncio.sleep(0.5)
        found.request(eviction("a"))
        async with asyncio.timeout(60):
            await found.drain()
        assert actions.tried == ["a", "a"]


async def test_an_answer_that_does_not_come_keeps_nobody_waiting_for_long():
    async with resets(never) as (found, actions):
        found.request(eviction("a"))
        found.request(eviction("b"))
        await asyncio.sleep(60)
        assert actions.tried == ["a", "b", "a"]


async def test_drained_is_what_has_been_tried_once():
    down = ServerError("down", status=500)
    async with resets(down, lambda: asyncio.sleep(0.5)) as (found, actions):
        found.request(eviction("a"))
        found.request(eviction("b"))
        async with asyncio.timeout(60):
            await found.drain()
        # The second try of the first is not waited for.
        assert (actions.tried, LoopClock().monotonic()) == (["a", "b"], 0.5)


async def test_more_than_a_bound_are_left_to_kube_controller_manager(monkeypatch):
    monkeypatch.setattr(condition_resets, "_MOST", 2)
    async with resets() as (found, actions):
        for name in ("a", "b", "c", "b"):
            found.request(eviction(name))
        await found.drain()
        assert actions.tried == ["a", "b"]


async def test_what_is_forgotten_leaves_room_for_others(monkeypatch):
    monkeypatch.setattr(condition_resets, "_MOST", 1)
    down = ServerError("down", status=500)
    async with resets(down) as (found, actions):
        found.request(eviction("a"))
        await asyncio.sleep(0.1)
        await found.forget()
        found.request(eviction("b"))
        await asyncio.sleep(60)
        assert actions.tried == ["a", "b"]


async def test_one_that_is_forgotten_while_it_is_tried_is_waited_for_and_tried_no_more():
    async def down_after_a_while() -> None:
        await asyncio.sleep(1)
        raise ServerError("down", status=500)

    async with resets(down_after_a_while) as (found, actions):
        found.request(eviction("a"))
        await asyncio.sleep(0.5)
        await found.forget()
        assert round(asyncio.get_running_loop().time(), 1) == 1.0
        await asyncio.sleep(60)
        assert actions.tried == ["a"]
