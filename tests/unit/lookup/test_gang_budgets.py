"""PodDisruptionBudgets that are held against a whole PodGroup."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.kinds import (
    LabelSelector,
    ObjectMeta,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    PodSchedulingGroup,
)
from bailiff.lookup import GangBudgets
from tests.harness.clocks import ManualClock
from tests.harness.gating import ready
from tests.harness.kinds import pod_of
from tests.harness.lookups import DictSource

LABELS = {"app": "web"}


def member(name: str, group: str = "g", **meta: Any) -> Pod:
    pod = pod_of(name, "n1", namespace="shop", uid=name, labels=LABELS, **meta)
    grouped = PodSchedulingGroup(pod_group_name=group)
    return ready(replace(pod, spec=replace(pod.spec, scheduling_group=grouped)))


def allowing(disruptions: int) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="web", namespace="shop"),
        spec=PodDisruptionBudgetSpec(LabelSelector(match_labels=LABELS)),
        status=PodDisruptionBudgetStatus(disruptions_allowed=disruptions),
    )


@pytest.mark.parametrize(
    ("allowed", "why"), [(1, "PodDisruptionBudget web (2 of 1 allowed)"), (2, "")]
)
async def test_those_of_its_group_that_are_still_there_go_together(allowed: int, why: str) -> None:
    leaving = member("c", deletion_timestamp="2026-01-01T00:00:00Z")
    alone = pod_of("e", "n1", namespace="shop", uid="e", labels=LABELS)
    pods = (member("a"), member("b"), leaving, member("d", group="other"), alone)
    source = DictSource.of(*pods, allowing(allowed))
    budgets = GangBudgets(source, ManualClock())
    assert await budgets.refusal(pods[0]) == why


async def test_what_is_told_is_no_older_than_the_list_that_it_is_told_by() -> None:
    first, other = member("a"), member("b", group="other")
    source, clock = DictSource.of(first, other, allowing(0)), ManualClock()
    budgets = GangBudgets(source, clock)
    assert await budgets.refusal(first) != ""
    clock.advance(0.9)
    assert await budgets.refusal(other) != ""
    source.objects[PodDisruptionBudget] = [allowing(1)]
    clock.advance(0.2)
    assert await budgets.refusal(other) == ""


async def test_a_namespace_is_listed_once_for_all_who_ask_within_a_second() -> None:
    source, clock = DictSource.of(member("a"), member("b"), allowing(1)), ManualClock()
    budgets = GangBudgets(source, clock)
    asked = (budgets.refusal(member(name)) for name in "ab")
    assert await asyncio.gather(*asked) == ["PodDisruptionBudget web (2 of 1 allowed)"] * 2
    source.objects[PodDisruptionBudget] = [allowing(2)]
    clock.advance(0.9)
    assert await budgets.refusal(member("a")) != ""
    assert len(source.seen) == 2
    clock.advance(0.2)
    assert await budgets.refusal(member("a")) == ""
