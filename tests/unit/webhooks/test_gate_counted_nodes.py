"""Budgets over time that count nodes, at the gate: who drains one node after the other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bailiff.decisions.policies import Gangs, Policies
from bailiff.decisions.policies.over_time_columns import MARGIN
from bailiff.kinds import OwnerReference
from tests.harness.gating import GateScene, said, shop_pod
from tests.harness.tallies import node_budget

pytestmark = pytest.mark.looptime

KARPENTER = "system:serviceaccount:karpenter:karpenter"
STATEFUL = OwnerReference(api_version="apps/v1", kind="StatefulSet", name="s", controller=True)
NODES, PODS = [f"n{number}" for number in range(5)], 20


def nodes_of_pods(most: int = 2, **how: Any) -> GateScene:
    """So many pods on each of five nodes, that may go by UID or by name."""
    pods = [
        shop_pod(f"{node}-{number}", node, owner_references=(STATEFUL,))
        for number in range(PODS)
        for node in NODES
    ]
    return GateScene(Policies(over_time=node_budget(most)), *pods, **how)


def of(name: str) -> dict[str, Any]:
    return {"deleteOptions": {"preconditions": {"uid": f"uid-{name}"}}}


@pytest.mark.parametrize("by_name", [False, True])
async def test_drains_of_five_nodes_at_once_through_two_replicas_empty_two(by_name: bool) -> None:
    scene = nodes_of_pods()
    scene.counts.latency = 0.002
    replicas = [scene.replica(), scene.replica()]
    names = [f"{node}-{number}" for number in range(PODS) for node in NODES]
    how = {name: {} if by_name else of(name) for name in names}
    tries = [scene.evict(one, replicas[n % 2], eviction=how[one]) for n, one in enumerate(names)]
    found = dict(zip(names, await asyncio.gather(*tries), strict=True))
    gone = [name for name, outcome in found.items() if outcome.allowed]
    assert len({name.partition("-")[0] for name in gone}) == 2
    assert len(gone) == 2 * PODS
    assert scene.counts.counted() == 2
    (refused, *_) = [said(one) for one in found.values() if not one.allowed]
    assert refused[0] == 429
    assert refused[1].startswith(
        "policy over_time: budget b (2 nodes in 60 s) is used up until 2026-01-01T00:01:"
    )


async def test_a_dry_run_is_told_the_truth_and_counted_nowhere() -> None:
    scene = nodes_of_pods(1)
    assert (await scene.evict("n0-0", dryRun=True)).allowed
    assert scene.counts.writes == 0
    assert (await scene.evict("n1-0")).allowed
    assert (await scene.evict("n1-1", dryRun=True)).allowed
    assert said(await scene.evict("n0-0", dryRun=True))[0] == 429
    assert scene.counts.counted() == 1


async def test_the_next_node_has_its_turn_a_span_after_the_last_pod_of_the_one_before() -> None:
    scene = nodes_of_pods(1)
    assert (await scene.evict("n0-0")).allowed
    await asyncio.sleep(50)
    assert (await scene.evict("n0-1")).allowed
    await asyncio.sleep(60 + MARGIN - 1)
    assert said(await scene.evict("n1-0"))[0] == 429
    await asyncio.sleep(2)
    assert (await scene.evict("n1-0")).allowed
    assert said(await scene.evict("n0-2"))[0] == 429


async def test_deletes_of_an_account_that_is_named_are_counted_with_evictions() -> None:
    scene = nodes_of_pods(1, users=(KARPENTER,))
    assert (await scene.evict("n1-0")).allowed
    # The pod that it deletes runs on n1.
    assert (await scene.delete(user=KARPENTER)).allowed
    elsewhere = {
        "metadata": {"name": "a", "namespace": "shop", "uid": "uid-a"},
        "spec": {"nodeName": "n2"},
    }
    assert said(await scene.delete(elsewhere, user=KARPENTER))[0] == 429


async def test_a_gang_goes_from_all_of_its_nodes_or_stays() -> None:
    pods = [shop_pod(f"g-{node}", node, group="g") for node in NODES[:2]]
    others = [shop_pod(f"x-{node}", node) for node in NODES]
    policies = Policies(over_time=node_budget(2), gangs=Gangs())
    scene = GateScene(policies, *pods, *others)
    scene.groups.whole = ("g",)
    assert (await scene.evict("x-n0")).allowed
    assert (await scene.evict("x-n2")).allowed
    assert [said(await scene.evict(f"g-{node}"))[0] for node in NODES[:2]] == [429, 429]
    await asyncio.sleep(60 + MARGIN)
    assert [said(await scene.evict(f"g-{node}"))[0] for node in NODES[:2]] == [0, 0]
    assert said(await scene.evict("x-n2"))[0] == 429
