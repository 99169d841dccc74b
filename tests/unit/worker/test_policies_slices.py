"""What publishers of slices evict, bounded: a slice of another node's pool, and many slices."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bailiff.decisions.policies import Cause, Limit, Limits, Policies
from bailiff.worker.observe.queue_query import QueueQuery
from tests.harness.device_objects import DRIVER
from tests.harness.pages import queue_page
from tests.harness.worlds.device_world import DeviceWorld, taint_added, untainted

pytestmark = pytest.mark.looptime(start=0)

OWN = Policies(own_slices_only=True)


def with_pods(policies: Policies, *names: str) -> DeviceWorld:
    """Pods on n1 that each use a device of n1's pool."""
    world = untainted(policies=policies)
    for name in names:
        world.gpu_pod(name)
    return world


def attack(world: DeviceWorld, node_name: str = "n9", **taints: Any) -> None:
    """A slice of the pool of n1 that takes the place of the driver's own."""
    world.slice("attack", 999, "n1", node_name, **taints)


def held(world: DeviceWorld, cause: Cause) -> dict[str, str]:
    page = queue_page(world.worker.pending, QueueQuery(cause=cause))
    return {one["name"]: one["hold"]["message"] for one in page["evictions"]}


async def test_by_default_a_slice_of_another_node_evicts_as_upstream_has_it():
    world = with_pods(Policies(), "a")
    attack(world, gpu_a=[taint_added()])
    async with world.running():
        await asyncio.sleep(10)
    assert set(world.deletions()) == {"a"}


async def test_a_slice_of_another_node_evicts_nobody_where_only_own_ones_may():
    world = with_pods(OWN, "a")
    attack(world, gpu_a=[taint_added()])
    async with world.running():
        await asyncio.sleep(1000)
        assert world.deletions() == {}
        assert held(world, Cause.FOREIGN_SLICE) == {
            "a": "ResourceSlice attack is of node n9 and taints a device that a pod of node n1 uses"
        }
        # An administrator's rule for the same device goes before.
        world.rule("rule", at=1000, device="gpu-a")
        await asyncio.sleep(10)
    assert world.deletions() == {"a": pytest.approx(1000, abs=1)}


@pytest.mark.parametrize("node_name", ["n1", ""])
async def test_slices_of_the_pod_s_node_and_of_none_evict(node_name):
    world = with_pods(OWN, "a")
    attack(world, node_name, gpu_a=[taint_added()])
    async with world.running():
        await asyncio.sleep(10)
    assert set(world.deletions()) == {"a"}


async def test_one_that_is_held_goes_once_its_own_node_s_slice_taints_it():
    world = with_pods(OWN, "a")
    attack(world, gpu_a=[taint_added()])
    async with world.running():
        await asyncio.sleep(100)
        world.slice("n1", 1000, node_name="n1", gpu_a=[taint_added(50)])
        await asyncio.sleep(10)
    assert world.deletions() == {"a": pytest.approx(100, abs=1)}


async def test_a_publisher_evicts_no_more_than_its_burst_and_then_at_its_rate():
    limits = Limits(per_slice_publisher=Limit(per_second=0.01, burst=2))
    world = with_pods(Policies(limits=limits), "a", "b", "c")
    world.gpu_pod("d", node="n2")
    # Each taint has a key of its own, and so a blast radius of its own.
    taints: dict[str, Any] = {f"gpu_{n}": [taint_added(key=f"example.com/{n}")] for n in "abc"}
    attack(world, **taints)
    world.claim("claim-d", "d", pool="n2")
    world.slice("n2", node_name="n2", gpu_d=[taint_added()])
    async with world.running():
        await asyncio.sleep(50)
        gone = set(world.deletions())
        assert "d" in gone, "another publisher's"
        assert len(gone) == 3
        (message,) = held(world, Cause.RATE_LIMITED).values()
        assert f"the slices of {DRIVER} on n9" in message
        await asyncio.sleep(100)
    assert set(world.deletions()) == set("abcd")


async def test_slices_that_name_many_nodes_share_the_limit_of_their_driver():
    each = Limit(per_second=0.01, burst=2)
    limits = Limits(per_slice_publisher=each, per_slice_driver=each)
    world = with_pods(Policies(limits=limits))
    for name in "abcd":
        world.gpu_pod(name)
        world.claim(f"claim-{name}", name, pool=f"pool-{name}")
        taints: dict[str, Any] = {f"gpu_{name}": [taint_added()]}
        world.slice(f"s-{name}", 999, f"pool-{name}", f"n-{name}", **taints)
    async with world.running():
        await asyncio.sleep(50)
        assert len(world.deletions()) == 2
        assert all(
            f"all slices of {DRIVER}" in one for one in held(world, Cause.RATE_LIMITED).values()
        )


async def test_what_a_rule_evicts_counts_for_no_publisher():
    limits = Limits(per_slice_driver=Limit(per_second=0.01))
    world = with_pods(Policies(limits=limits), "a", "b", "c")
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(10)
    assert set(world.deletions()) == set("abc")


async def test_limits_that_come_while_evictions_run_find_them_counted():
    world = with_pods(Policies(), "a", "b")
    world.slice("n1", node_name="n1", gpu_a=[taint_added()])
    world.latency = 8.0
    async with world.running():
        await asyncio.sleep(5)
        one = Limit(concurrency=1)
        world.worker.set_policies(Policies(limits=Limits(per_slice_publisher=one)))
        world.slice("n1", node_name="n1", gpu_a=[taint_added()], gpu_b=[taint_added(5)])
        await asyncio.sleep(5)
        assert list(held(world, Cause.CONCURRENCY_LIMITED)) == ["b"]
        await asyncio.sleep(300)
    assert set(world.deletions()) == {"a", "b"}
