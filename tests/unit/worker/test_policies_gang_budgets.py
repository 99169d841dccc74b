"""With the Eviction API a gang is held against PodDisruptionBudgets before its first one goes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.decisions import budgets
from bailiff.decisions.policies import EvictionApi, Gangs, Policies
from bailiff.kinds import (
    LabelSelector,
    ObjectMeta,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from bailiff.lookup import ForbiddenError, gang_budgets
from tests.harness.gating import ready
from tests.harness.tallies import budget
from tests.harness.worlds.shared import Sharing

pytestmark = pytest.mark.looptime(start=0)

GANGS = Policies(gangs=Gangs(), eviction_api=EvictionApi())
LABELS = {"app": "web"}


def allowing(disruptions: int) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="web", namespace="default"),
        spec=PodDisruptionBudgetSpec(LabelSelector(match_labels=LABELS)),
        status=PodDisruptionBudgetStatus(disruptions_allowed=disruptions),
    )


def gang(policies: Policies = GANGS, allowed: int = 2) -> Sharing:
    world = Sharing(policies)
    world.groups.whole = ("g",)
    world.tainted("n1")
    for name in "abc":
        world.put(ready(world.member(name, "g", labels=LABELS)))
    world.disruption_budgets = [allowing(allowed)]
    return world


async def test_none_goes_where_a_budget_does_not_let_all_go() -> None:
    world = gang()
    async with world.running():
        await asyncio.sleep(600)
        assert world.order() == []
        hold = world.held("a")
        assert hold["cause"] == "budget"
        assert "PodDisruptionBudget web (3 of 2 allowed)" in hold["message"]
        world.disruption_budgets = [allowing(3)]
        await asyncio.sleep(120)
    assert sorted(world.order()) == ["a", "b", "c"]


async def test_and_takes_no_place_in_a_budget_over_time() -> None:
    world = gang(replace(GANGS, over_time=budget(5)))
    async with world.running():
        await asyncio.sleep(60)
    assert (world.order(), world.counts.writes) == ([], 0)


async def test_who_goes_alone_is_held_against_nothing_but_his_own_eviction() -> None:
    world = gang()
    world.groups.whole = ()
    async with world.running():
        await asyncio.sleep(1)
    assert sorted(world.order()) == ["a", "b", "c"]


async def test_nobody_asks_budgets_without_the_eviction_api() -> None:
    world = gang(Policies(gangs=Gangs()))
    async with world.running():
        await asyncio.sleep(1)
    assert sorted(world.order()) == ["a", "b", "c"]


async def test_a_hard_deadline_ends_the_wait_for_all() -> None:
    world = gang(replace(GANGS, eviction_api=EvictionApi(deadline_seconds=20)), allowed=0)
    async with world.running():
        await asyncio.sleep(19)
        assert world.order() == []
        await asyncio.sleep(6)
    assert sorted(world.order()) == ["a", "b", "c"]


async def test_budgets_that_cannot_be_read_hold_the_gang_until_they_can() -> None:
    world = gang(allowed=3)
    world.unlisted = ForbiddenError("grant it the permission to list poddisruptionbudgets")
    async with world.running():
        await asyncio.sleep(10)
        assert world.order() == []
        assert "list poddisruptionbudgets" in world.held("a")["message"]
        world.unlisted = None
        await asyncio.sleep(60)
    assert sorted(world.order()) == ["a", "b", "c"]


async def test_who_came_in_the_place_of_one_that_has_gone_keeps_nobody() -> None:
    world = gang(allowed=2)
    world.member("b", "g", labels=LABELS)
    async with world.running():
        await asyncio.sleep(1)
    assert sorted(world.order()) == ["a", "b", "c"]


async def test_all_of_a_gang_are_held_against_all_budgets_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[int] = []

    async def thread(work: Any, *arguments: Any) -> Any:
        threads.append(len(arguments[-1]))
        return work(*arguments)

    monkeypatch.setattr(gang_budgets, "in_thread", thread)
    monkeypatch.setattr(gang_budgets, "QUICK_STEPS", 5)
    world = gang(allowed=2)
    async with world.running():
        await asyncio.sleep(1)
    assert (world.order(), threads) == ([], [2])


async def test_budgets_that_are_too_many_hold_the_gang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "MAX_STEPS", 5)
    world = gang(allowed=3)
    async with world.running():
        await asyncio.sleep(1)
        assert world.order() == []
        assert "3 pods and 1 PodDisruptionBudgets are too many" in world.held("a")["message"]
