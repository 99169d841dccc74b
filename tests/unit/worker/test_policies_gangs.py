"""Gangs in the worker: one of them goes only while all that are still there may."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.decisions.policies import Gangs, Policies
from bailiff.kinds import Annotations
from bailiff.lookup import UnavailableError
from tests.harness.tallies import budget
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
