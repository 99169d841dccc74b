"""Budgets over time that count nodes, in the worker: whatever evicts, one node after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, cast

import pytest

from bailiff.cluster import Cluster
from bailiff.decisions.policies import Cause, Policies
from bailiff.decisions.policies.over_time_columns import MARGIN
from bailiff.tally import Tally
from tests.harness.tallies import OneConfigMap, node_budget, wishes
from tests.harness.worlds.node_loss_world import NodeLossWorld
from tests.harness.worlds.shared import Sharing

pytestmark = pytest.mark.looptime(start=0)

HOUR = 3600
TWO = Policies(over_time=node_budget(2, HOUR))
SPAN = HOUR + MARGIN


def sharing(nodes: str = "abcd", policies: Policies = TWO, **others: Any) -> Sharing:
    """Nodes of these names with three pods each; none is tainted."""
    world = Sharing(policies, **others)
    for node in nodes:
        world.node(node)
        for number in range(3):
            world.pod(f"{node}-{number}", node)
    return world


def nodes_of(pods: Iterable[str]) -> list[str]:
    return sorted({name.partition("-")[0] for name in pods})


async def test_a_mistake_that_takes_one_node_after_the_other_stops_at_the_third() -> None:
    world = sharing()
    async with world.running():
        for node in "abcd":
            world.tainted(node)
            await asyncio.sleep(300)
        assert nodes_of(world.order()) == ["a", "b"]
        assert len(world.order()) == 6
        assert world.backlog() == {Cause.OVER_TIME: 6}
        hold = world.held("c-0")
        assert hold["message"].startswith("budget b (2 nodes in 3600 s) is used up until ")
        assert hold["until"].startswith("2026-01-01T01:00:58")
        told = [note for pod, note in world.notes if pod == "c-0"]
        assert [note.count("budget b (2 nodes in 3600 s)") for note in told] == [1]


async def test_of_nodes_that_fail_at_once_so_many_go_whole_and_the_next_when_these_are_over() -> (
    None
):
    world = sharing()
    world.tainted(*"abcd")
    async with world.running():
        await asyncio.sleep(SPAN - 1)
        first = world.order()
        assert (len(nodes_of(first)), len(first)) == (2, 6)
        await asyncio.sleep(60)
    assert (nodes_of(world.order()), len(world.order())) == (list("abcd"), 12)


async def test_a_node_that_goes_on_losing_pods_keeps_its_place() -> None:
    world = sharing("ab", Policies(over_time=node_budget(1, HOUR)))
    async with world.running():
        world.tainted("a")
        await asyncio.sleep(1000)
        world.pod("a-late", "a")
        world.tainted("b")
        await asyncio.sleep(SPAN - 10)
        assert nodes_of(world.order()) == ["a"]
        assert "a-late" in world.order()
        await asyncio.sleep(20)
    assert nodes_of(world.order()) == ["a", "b"]


async def test_two_workers_share_what_there_is_and_whoever_comes_after_them() -> None:
    counts = OneConfigMap()
    counts.latency = 0.01
    worlds = [sharing(nodes, counts=counts) for nodes in ("ab", "cd", "ef")]
    for world, nodes in zip(worlds, ("ab", "cd", "ef"), strict=True):
        world.tainted(*nodes)
    async with worlds[0].running(), worlds[1].running():
        await asyncio.sleep(60)
    gone = [pod for world in worlds for pod in world.order()]
    assert (len(nodes_of(gone)), len(gone)) == (2, 6)
    async with worlds[2].running():
        await asyncio.sleep(HOUR - 120)
        assert worlds[2].order() == []
        await asyncio.sleep(300)
    assert nodes_of(worlds[2].order()) == ["e", "f"]


async def test_on_paper_it_counts_beside_what_others_have_counted() -> None:
    world = sharing(on_paper=True)
    others = Tally(cast(Cluster, world.counts), world.clock)
    # Of a node that is none of these.
    assert await others.count(wishes(node_budget(2, HOUR), "other"), node_budget(2, HOUR)) is None
    world.tainted(*"abcd")
    async with world.running():
        await asyncio.sleep(60)
    assert (len(nodes_of(world.order())), len(world.order())) == (1, 3)
    assert world.counts.counted() == 1


async def test_lost_nodes_are_counted_as_those_that_are_tainted() -> None:
    world = NodeLossWorld(policies=TWO, shared=Sharing(TWO).shared)
    lost = world.add_nodes(8)[:3]
    for node in lost:
        world.add(f"{node}-x", node)
        world.add(f"{node}-y", node)
    async with world.running():
        for node in lost:
            world.fall_silent(node)
            await asyncio.sleep(400)
        assert world.gone().keys() == {"a0-x", "a0-y", "a1-x", "a1-y"}
        await asyncio.sleep(SPAN)
        assert nodes_of(world.gone()) == lost
