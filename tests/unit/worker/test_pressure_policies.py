"""What an eviction for pressure counts for in policies: docs/policies/index.md tells it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.decisions.policies import Policies
from bailiff.decisions.policies.settings import BlastRadius, Breaker, Breakers
from bailiff.kinds.meta import Annotations
from tests.harness.worlds.pressure_world import PressureWorld

pytestmark = pytest.mark.looptime(start=0)


def full(policies: Policies, *nodes: str) -> PressureWorld:
    """Nodes that are out of memory, each by one pod."""
    world = PressureWorld(policies=policies)
    for name in nodes:
        world.add_node(name)
        world.fill(f"greedy-{name}", 3900, node=name)
    return world


def noting(one: Any, annotations: Annotations) -> Any:
    """The same pod or node with these annotations."""
    return replace(one, metadata=replace(one.metadata, annotations=annotations))


async def test_the_blast_radius_counts_the_pods_of_all_nodes_by_signal_which_a_node_acknowledges():
    policies = Policies(blast_radius=BlastRadius(max_pods=1), protection=True)
    world = full(policies, "n1")
    held = world.pods["greedy-n1"]
    world.put(noting(held, Annotations(do_not_evict="true")))
    for name in ("n2", "n3"):
        world.add_node(name)
        world.fill(f"greedy-{name}", 100, node=name)
    acknowledged = Annotations(acknowledged_taints="memory.available")
    world.nodes["n2"] = noting(world.nodes["n2"], acknowledged)
    async with world.running():
        await asyncio.sleep(30)
        for name in ("n2", "n3"):
            world.fill(f"greedy-{name}", 3900, node=name)
        await asyncio.sleep(60)
    # The first stays chosen, so that each of the others is the second.
    assert [name for _, name in world.evictions()] == ["greedy-n2"]


async def test_one_pod_is_within_the_blast_radius_and_no_breaker_takes_its_node_for_failing():
    breakers = Breakers(cluster=Breaker(min_nodes=1, min_failing=1))
    world = full(Policies(blast_radius=BlastRadius(max_pods=1), breakers=breakers), "n1")
    async with world.running():
        await asyncio.sleep(60)
    assert [name for _, name in world.evictions()] == ["greedy-n1"]
