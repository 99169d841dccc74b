"""Breakers: where too many nodes fail, evictions slow down and stop, and resume by themselves."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.cluster import Unreadable
from bailiff.decisions.policies import (
    CLUSTER,
    Breaker,
    BreakerLevel,
    Breakers,
    Limit,
    Limits,
    Policies,
    judge,
)
from bailiff.kinds import Node, NodeMeta, NodeSpec, ObjectMeta
from bailiff.worker import Shard
from bailiff.worker.gate.zones import Zones
from tests.harness.kinds import no_execute
from tests.harness.worlds.governed import NOT_READY, Governed

on_virtual_time = pytest.mark.looptime(start=0)

BREAKER = Breaker(slow_at=0.3, slow_per_second=0.1, stop_at=0.6, min_nodes=3, min_failing=2)
BY_ZONE = Policies(breakers=Breakers(zone=BREAKER))
BY_CLUSTER = Policies(breakers=Breakers(cluster=BREAKER))

LABEL = "topology.kubernetes.io/zone"
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.none() | st.tuples(st.sampled_from(["", "a", "b"]), st.booleans()),
    ),
    max_size=60,
)


@given(CHANGES)
def test_each_change_of_a_node_counts_and_each_level_that_is_another_is_told(changes):
    zones = Zones()
    zones.set_breakers(Breakers(zone=BREAKER, cluster=BREAKER))
    zones.judge()
    nodes: dict[str, tuple[str, bool]] = {}
    levels = dict.fromkeys(("", "a", "b", CLUSTER), BreakerLevel.NORMAL)
    for number, change in changes:
        name = f"n{number}"
        nodes.pop(name, None)
        node = None
        if change is not None:
            zone, failing = nodes[name] = change
            metadata = NodeMeta(name=name, labels={LABEL: zone} if zone else {})
            node = Node(metadata=metadata, spec=NodeSpec(taints=(NOT_READY,) if failing else ()))
        zones.look_at(name, node)
        before, told = levels, zones.judge()
        levels = {where: zones.state(where).level for where in before}
        assert told == (levels != before)
        for where, level in levels.items():
            fails = [fails for zone, fails in nodes.values() if where in (zone, CLUSTER)]
            assert level is judge(sum(fails), len(fails), BREAKER).level


def test_a_list_is_judged_when_all_of_it_has_been_counted():
    zones = Zones()
    zones.set_breakers(Breakers(zone=BREAKER, cluster=BREAKER))
    for number in range(10):
        spec = NodeSpec(taints=(NOT_READY,) if number < 2 else ())
        zones.look_at(f"n{number}", Node(metadata=NodeMeta(name=f"n{number}"), spec=spec))
    assert zones.judge() is False


def fleet(world: Governed, zone: str, count: int, failing: int) -> None:
    for number in range(count):
        taints = (NOT_READY,) if number < failing else ()
        world.node(f"{zone}/n{number}", no_execute(), *taints)


def level(world: Governed, zone: str) -> float | None:
    name = "bailiff_worker_breaker_state"
    return world.registry.get_sample_value(name, {"zone": zone})


@on_virtual_time
async def test_a_zone_stops_alone_and_resumes_by_itself():
    world = Governed(BY_ZONE)
    fleet(world, "eu", 10, failing=6)
    fleet(world, "us", 10, failing=2)
    world.pod("european", "eu/n0")
    world.pod("american", "us/n0")
    async with world.running():
        await asyncio.sleep(100)
        assert world.deletions() == {"american": 0.0}
        assert (level(world, "eu"), level(world, "us")) == (2, 0)
        hold = world.held("european")
        assert hold["cause"] == "breaker_open"
        assert hold["message"].startswith("zone eu: 6 of 10 nodes (60 %) are not ready")
        fleet(world, "eu", 10, failing=2)
        await asyncio.sleep(1)
    assert world.deletions() == {"american": 0.0, "european": 100.0}
    assert level(world, "eu") == 0


@on_virtual_time
async def test_a_zone_is_slowed_down_and_then_no_longer():
    world = Governed(BY_ZONE)
    fleet(world, "eu", 10, failing=4)
    for number in range(10):
        world.pod(f"pod-{number}", f"eu/n{number}")
    async with world.running():
        await asyncio.sleep(35)
        assert len(world.deleted) == 4
        assert level(world, "eu") == 1
        assert world.held("pod-9")["message"] == (
            "no more than 0.1 a second for zone eu, slowed down by its breaker"
        )
        assert world.notes_on("pod-9") == []
        fleet(world, "eu", 10, failing=0)
        await asyncio.sleep(1)
    assert len(world.deleted) == 10


@on_virtual_time
async def test_the_rate_of_a_slow_zone_may_be_changed():
    world = Governed(BY_ZONE)
    fleet(world, "eu", 10, failing=4)
    for number in range(10):
        world.pod(f"pod-{number}", f"eu/n{number}")
    async with world.running():
        await asyncio.sleep(5)
        assert len(world.deleted) == 1
        faster = Breaker(slow_at=0.3, slow_per_second=2.0, stop_at=0.6, min_nodes=3, min_failing=2)
        world.worker.set_policies(Policies(breakers=Breakers(zone=faster)))
        await asyncio.sleep(10)
    assert len(world.deleted) == 10


@on_virtual_time
async def test_the_cluster_slows_down_stops_and_resumes():
    world = Governed(BY_CLUSTER)
    fleet(world, "eu", 5, failing=2)
    fleet(world, "us", 5, failing=1)
    for number in range(20):
        world.pod(f"pod-{number}", f"us/n{number % 5}")
    state = "bailiff_worker_cluster_breaker_state"
    async with world.running():
        await asyncio.sleep(15)
        assert len(world.deleted) == 2
        assert world.registry.get_sample_value(state) == 1
        assert world.held("pod-9")["message"] == (
            "no more than 0.1 a second in total, slowed down by its breaker"
        )
        fleet(world, "us", 5, failing=4)
        await asyncio.sleep(100)
        assert len(world.deleted) == 2
        assert world.registry.get_sample_value(state) == 2
        assert world.backlog() == {"breaker_open": 18}
        fleet(world, "us", 5, failing=0)
        await asyncio.sleep(1)
    assert len(world.deleted) == 20


@on_virtual_time
async def test_nodes_of_other_shards_count():
    mine = next(shard for shard in (Shard(0, 2), Shard(1, 2)) if shard.owns("eu/n0"))
    world = Governed(BY_ZONE, shards=(mine,))
    fleet(world, "eu", 20, failing=15)
    assert not all(mine.owns(f"eu/n{number}") for number in range(15))
    world.pod("web", "eu/n0")
    async with world.running():
        await asyncio.sleep(10)
        assert world.held("web")["message"].startswith("zone eu: 15 of 20 nodes")


@on_virtual_time
async def test_a_slow_zone_and_a_limit_hold_at_once():
    limits = Limits(per_zone=Limit(per_second=0.05))
    world = Governed(Policies(breakers=Breakers(zone=BREAKER), limits=limits))
    fleet(world, "eu", 10, failing=4)
    for number in range(10):
        world.pod(f"pod-{number}", f"eu/n{number}")
    async with world.running():
        await asyncio.sleep(95)
    assert len(world.deleted) == 5


@on_virtual_time
async def test_a_node_that_moves_to_another_zone_takes_its_pods_along():
    limits = Limits(per_zone=Limit(per_second=0.01))
    world = Governed(Policies(limits=limits))
    world.tainted("eu/n1", "eu/n2")
    for number in range(4):
        world.pod(f"pod-{number}", f"eu/n{number % 2 + 1}")
    async with world.running():
        await asyncio.sleep(1)
        assert world.order() == ["pod-0"]
        moved = NodeMeta(name="eu/n2", labels={LABEL: "us"})
        world._put_node(Node(metadata=moved, spec=NodeSpec(taints=(no_execute(),))))
        await asyncio.sleep(1)
        assert world.order() == ["pod-0", "pod-1"]
        await asyncio.sleep(100)
    assert sorted(world.order()) == ["pod-0", "pod-1", "pod-2", "pod-3"]


def unreadable(name: str) -> Unreadable:
    return Unreadable(ObjectMeta(name=name), "no node")


@on_virtual_time
@pytest.mark.parametrize("set_anew", [False, True])
async def test_nodes_that_can_no_longer_be_read_still_fail(set_anew):
    world = Governed(BY_ZONE)
    fleet(world, "eu", 10, failing=6)
    world.pod("web", "eu/n5")
    async with world.running():
        await asyncio.sleep(1)
        for number in range(4):
            world.node_watch.send(unreadable(f"eu/n{number}"))
        await asyncio.sleep(1)
        if set_anew:
            world.worker.set_policies(BY_ZONE)
        await asyncio.sleep(60)
        assert world.held("web")["message"].startswith("zone eu: 6 of 10 nodes")
        # One of them goes, and another can be read once more.
        world.node_watch.send(Unreadable(ObjectMeta(name="eu/n0"), "no node", deleted=True))
        world.node("eu/n1")
        await asyncio.sleep(1)
        assert world.order() == ["web"]
