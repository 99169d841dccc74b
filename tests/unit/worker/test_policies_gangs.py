"""Gangs in the worker: one of them goes only while all that are still there may."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.decisions.policies import (
    Breaker,
    Breakers,
    DrainOrder,
    Gangs,
    Hold,
    Limit,
    Limits,
    Policies,
)
from bailiff.kinds import Annotations
from bailiff.lookup import UnavailableError
from bailiff.worker import WorkerSettings
from bailiff.worker.timers.eviction import Eviction
from tests.harness.kinds import no_execute, node_of
from tests.harness.tallies import budget
from tests.harness.worlds.governed import NOT_READY
from tests.harness.worlds.shared import Sharing

pytestmark = pytest.mark.looptime(start=0)

GANGS = Policies(gangs=Gangs(), protection=True)
STAYS = Annotations(do_not_evict="true")


def sharing(policies: Policies = GANGS) -> Sharing:
    """A node that is tainted, and one that is not; PodGroup g goes whole."""
    world = Sharing(policies)
    world.groups.whole = ("g",)
    world.tainted("n1")
    world.node("n2")
    return world


async def test_all_that_are_to_go_do_so_where_all_may() -> None:
    world = sharing()
    for name, node in (("a", "n1"), ("b", "n1"), ("c", "n2")):
        world.member(name, "g", node)
    async with world.running():
        await asyncio.sleep(1)
    assert sorted(world.order()) == ["a", "b"]


async def test_one_that_may_not_go_holds_them_wherever_it_runs() -> None:
    world = sharing()
    world.member("a", "g")
    world.member("c", "g", "n2", annotations=STAYS)
    async with world.running():
        await asyncio.sleep(10)
        assert world.order() == []
        hold = world.held("a")
        assert hold["cause"] == "gang"
        assert "PodGroup default/g goes whole, and pod c may not go" in hold["message"]
        world.member("c", "g", "n2")
        await asyncio.sleep(1)
        assert world.order() == ["a"]


async def test_or_until_it_is_gone() -> None:
    world = sharing()
    world.member("a", "g")
    world.member("c", "g", "n2", annotations=STAYS)
    async with world.running():
        await asyncio.sleep(1)
        world.remove_pod("c")
        await asyncio.sleep(1)
    assert world.order() == ["a"]


async def test_pods_of_other_groups_and_of_none_do_not_wait() -> None:
    world = sharing()
    world.member("a", "single")
    world.member("b", "single", annotations=STAYS)
    world.pod("c")
    async with world.running():
        await asyncio.sleep(1)
    assert sorted(world.order()) == ["a", "c"]


async def test_a_group_that_cannot_be_read_holds_until_it_can() -> None:
    world = sharing()
    world.groups.error = UnavailableError("PodGroup default/g could not be read")
    world.member("a", "g")
    async with world.running():
        await asyncio.sleep(1)
        assert world.order() == []
        assert world.held("a")["message"] == "PodGroup default/g could not be read"
        world.groups.error = None
        await asyncio.sleep(5)
    assert world.order() == ["a"]


async def test_the_first_takes_places_for_all() -> None:
    world = sharing(Policies(gangs=Gangs(), over_time=budget(3)))
    for name, node in (("a", "n1"), ("b", "n2"), ("c", "n2")):
        world.member(name, "g", node)
    world.pod("single")
    async with world.running():
        await asyncio.sleep(1)
        assert world.order() == ["a"]
        assert world.held("single")["cause"] == "over_time"
        world.tainted("n2")
        await asyncio.sleep(1)
        assert sorted(world.order()) == ["a", "b", "c"]


async def test_a_pod_that_is_protected_until_an_instant_lets_its_gang_go_then() -> None:
    world = sharing()
    for name in "abcd":
        world.member(name, "g")
    until = Annotations(do_not_evict="2026-01-01T00:00:10Z")
    world.member("c", "g", "n2", annotations=until)
    async with world.running():
        await asyncio.sleep(9.9)
        assert world.order() == []
        await asyncio.sleep(0.2)
    assert sorted(world.order()) == ["a", "b", "d"]


async def test_a_breaker_that_closes_lets_gangs_go_at_once() -> None:
    policies = Policies(gangs=Gangs(), breakers=Breakers(zone=Breaker()))
    world = sharing(policies)
    world.node("eu/n1", no_execute())
    names = [f"us/n{one}" for one in range(3)]
    for name in names:
        world.node(name, NOT_READY)
    world.member("a", "g", "eu/n1")
    world.member("b", "g", names[0])
    async with world.running():
        await asyncio.sleep(1)
        assert world.order() == []
        assert world.held("a")["cause"] == "gang"
        for name in names:
            world.node(name)
        await asyncio.sleep(0.1)
        assert world.order() == ["a"]


class Counting:
    """Counts how often all of a gang is looked at."""

    def __init__(self, world: Sharing) -> None:
        facts, self.times = world.worker.gate.facts, 0
        self._whole = facts.hold_whole
        facts.hold_whole = self._look  # type: ignore[method-assign]  # to count

    def _look(self, eviction: Eviction, **how: Any) -> Hold | None:
        self.times += 1
        return self._whole(eviction, **how)


def crowded(policies: Policies = GANGS) -> Sharing:
    """A gang of 300 that one of them holds, who is elsewhere."""
    world = sharing(policies)
    for one in range(300):
        world.member(f"p{one}", "g")
    world.member("c", "g", "n2", annotations=STAYS)
    return world


async def test_what_holds_a_gang_is_not_worked_out_for_each_of_it() -> None:
    world = crowded()
    async with world.running():
        await asyncio.sleep(1)
        looks = Counting(world)
        world.worker.set_policies(replace(GANGS, drain_order=DrainOrder.PRIORITY))
        await asyncio.sleep(1)
    assert world.backlog() == {"gang": 300}
    assert 0 < looks.times < 10


async def test_nor_when_it_is_learnt_that_it_goes_whole() -> None:
    world = crowded(Policies(gangs=Gangs(), over_time=budget(10)))
    looks = Counting(world)
    async with world.running():
        await asyncio.sleep(1)
    assert world.backlog() == {"over_time": 300}
    # Those that had begun, and what is said of all from then on.
    assert looks.times < 2 * WorkerSettings().concurrency + 10


async def test_it_counts_until_a_pod_changes_in_what_rules_look_at() -> None:
    world = crowded()
    async with world.running():
        await asyncio.sleep(1)
        looks = Counting(world)
        for one in range(20):
            pod = world.pods[f"p{one}"]
            world.put(replace(pod, status=replace(pod.status, phase="Pending")))
            await asyncio.sleep(10)
        assert (looks.times, world.order()) == (0, [])
        world.member("c", "g", "n2", annotations=STAYS, labels={"app": "other"})
        await asyncio.sleep(1)
        assert (looks.times, world.order()) == (1, [])
        world.member("c", "g", "n2")
        await asyncio.sleep(10)
    assert len(world.order()) == 300


async def test_a_gang_for_which_there_is_no_room_any_more_takes_no_turn_of_others() -> None:
    """What budgets over time said of it is believed for half a second."""
    policies = Policies(
        gangs=Gangs(), over_time=budget(3), limits=Limits(total=Limit(per_second=1.0, burst=1))
    )
    world = sharing(policies)
    world.pod("first")
    world.pod("second")
    world.member("a", "g")
    world.member("b", "g", "n2")
    world.pod("third")
    async with world.running():
        await asyncio.sleep(0.5)
        world.worker.gate.facts.gangs.learn("default/g", whole=True)
        # All are looked at, and there is room for two.
        world.worker.set_policies(replace(policies, protection=True))
        await asyncio.sleep(2)
        assert world.order() == ["first", "second", "third"]
        assert world.held("a")["cause"] == "over_time"


async def test_nothing_is_remembered_of_gangs_that_are_gone_nor_of_what_is_none() -> None:
    world = sharing()
    world.member("a", "single")
    world.member("b", "g")
    world.member("c", "g")
    async with world.running():
        await asyncio.sleep(1)
    assert sorted(world.order()) == ["a", "b", "c"]
    assert world.worker.gate.facts._gang_holds == {}


async def test_what_was_said_of_a_gang_does_not_outlast_a_change_of_a_node_s_zone() -> None:
    world = sharing(Policies(gangs=Gangs(), breakers=Breakers(zone=Breaker())))
    world.node("eu/n1", no_execute())
    for one in range(4):
        world.node(f"us/n{one}", NOT_READY)
    pod = world.member("a", "g", "eu/n1")
    world.member("b", "g", "us/n0")
    async with world.running():
        await asyncio.sleep(1)
        assert world.held("a")["cause"] == "gang"
        # The breaker of its zone says what it said before, and is another's.
        world._put_node(node_of("us/n0"))
        world.put(replace(pod, status=replace(pod.status, phase="Pending")))
        await asyncio.sleep(1)
        assert world.order() == ["a"]
