"""What hangs while an eviction asks for a word of the cluster: who waits is told what, in time."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.decisions.policies import EvictionApi, Gangs, Policies
from tests.harness.tallies import budget
from tests.harness.worlds.shared import Sharing

pytestmark = pytest.mark.looptime(start=0)

HANGS = 3600.0
NEVER_LETS = "whether the API server lets it go was not known within 20 s"


def one(policies: Policies) -> Sharing:
    """A pod of a gang that is to go."""
    world = Sharing(policies)
    world.groups.whole = ("g",)
    world.tainted("n1")
    world.member("a", "g")
    return world


async def held(world: Sharing) -> tuple[str, str]:
    """Why it is held, when whoever asks has given up."""
    async with world.running():
        await asyncio.sleep(20.05)
        assert world.order() == []
        hold = world.held("a")
        return hold["cause"], hold["message"]


async def test_a_pod_group_that_is_not_answered_for() -> None:
    world = one(Policies(gangs=Gangs()))
    world.groups.latency = HANGS
    assert await held(world) == ("gang", "PodGroup default/g was not known within 20 s")


async def test_disruption_budgets_of_a_gang_that_are_not_answered() -> None:
    world = one(Policies(gangs=Gangs(), eviction_api=EvictionApi()))
    world.member("b", "g", "n2")
    world.list_latency = HANGS
    assert await held(world) == ("gang", NEVER_LETS)


async def test_an_eviction_that_is_tried_before_it_is_counted() -> None:
    world = one(Policies(over_time=budget(1), eviction_api=EvictionApi()))
    world.latency = HANGS
    assert await held(world) == ("over_time", NEVER_LETS)


async def test_all_that_is_asked_shares_the_time() -> None:
    world = one(Policies(gangs=Gangs(), over_time=budget(1)))
    world.groups.latency = 12.0
    world.counts.latency = 9.0
    cause, message = await held(world)
    assert (cause, message) == ("over_time", "how many have gone was not known within 20 s")
