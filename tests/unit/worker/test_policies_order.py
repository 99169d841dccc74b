"""Who goes first among those that are due."""

import asyncio

import pytest

from bailiff.decisions.policies import DrainOrder, EvictionApi, Limit, Limits, Policies
from bailiff.kinds import OwnerReference
from tests.harness.kinds import tolerating
from tests.harness.worlds.governed import Governed

pytestmark = pytest.mark.looptime(start=0)

ONE_A_SECOND = Limits(total=Limit(per_second=1.0))
BY_PRIORITY = Policies(limits=ONE_A_SECOND, drain_order=DrainOrder.PRIORITY)
DAEMON_SET = OwnerReference(api_version="apps/v1", kind="DaemonSet", name="d", controller=True)


async def test_lower_priority_first_and_daemons_and_critical_pods_last():
    world = Governed(BY_PRIORITY)
    world.tainted("n1")
    world.pod("critical", priority=2_000_000_000)
    world.pod("daemon", owner_references=(DAEMON_SET,), priority=-5)
    world.pod("high", priority=1000)
    world.pod("low", priority=-10)
    world.pod("middle")
    async with world.running():
        await asyncio.sleep(10)
    assert world.order() == ["low", "middle", "high", "daemon", "critical"]


async def test_one_that_falls_due_later_goes_before_those_that_wait():
    world = Governed(BY_PRIORITY)
    world.tainted("n1")
    for number in range(10):
        world.pod(f"pod-{number}", priority=100)
    world.pod("low", "n1", tolerating(seconds=5), priority=1)
    async with world.running():
        await asyncio.sleep(20)
    assert world.deletions()["low"] == 5.0


async def test_one_whose_node_is_at_its_limit_goes_first_once_it_is_not():
    limits = Limits(total=Limit(per_second=1.0), per_node=Limit(concurrency=1))
    world = Governed(Policies(limits=limits, drain_order=DrainOrder.PRIORITY))
    world.latency = 1.5
    world.tainted("n1", "n2")
    world.pod("a", "n1", priority=1)
    world.pod("b", "n1", priority=2)
    world.pod("c", "n2", priority=8)
    world.pod("d", "n2", priority=9)
    async with world.running():
        await asyncio.sleep(30)
    # Each takes 3 s: two requests.
    assert [(name, at) for at, name in world.begun] == [
        ("a", 0.0),
        ("c", 1.0),
        ("b", 3.0),
        ("d", 4.0),
    ]


async def test_by_default_as_they_fell_due_though_a_limit_holds_them():
    world = Governed(Policies(limits=ONE_A_SECOND))
    world.tainted("n1")
    for number in range(9, 0, -1):
        world.pod(f"pod-{number}", "n1", tolerating(seconds=number), priority=number)
    for number in range(20):
        world.pod(f"now-{number}", priority=-number)
    async with world.running():
        await asyncio.sleep(40)
    now = [f"now-{number}" for number in range(20)]
    assert world.order() == [*now, *[f"pod-{number}" for number in range(1, 10)]]


async def test_one_that_was_refused_goes_behind_the_others():
    policies = Policies(
        limits=Limits(total=Limit(per_second=0.1)),
        drain_order=DrainOrder.PRIORITY,
        eviction_api=EvictionApi(),
    )
    world = Governed(policies)
    world.tainted("n1")
    world.pod("blocked", priority=-100)
    world.budgets["blocked"] = "no"
    world.pod("first", priority=1)
    world.pod("second", priority=2)
    async with world.running():
        await asyncio.sleep(5)
        world.budgets.clear()
        await asyncio.sleep(60)
    assert world.order() == ["first", "second", "blocked"]
