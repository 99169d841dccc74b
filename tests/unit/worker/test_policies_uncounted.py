"""While counts hang only those wait whom a budget counts."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from bailiff.decisions.policies import OverTimeBudget, Policies, Unreadable
from tests.harness.tallies import budget
from tests.harness.worlds.shared import Sharing

pytestmark = pytest.mark.looptime(start=0)

# Seconds for which whoever counts is patient.
PATIENCE = 10.0


def shop(unreadable: Unreadable = Unreadable.REFUSE, pods: int = 200) -> Sharing:
    """So many pods that are counted are due before one that is not, and the counts hang."""
    one = OverTimeBudget(name="b", evictions=1000, seconds=60, namespaces=("shop",))
    settings = replace(budget(), budgets=(one,), unreadable=unreadable)
    world = Sharing(Policies(over_time=settings))
    world.tainted("n1")
    for number in range(pods):
        world.pod(f"shop/p{number}")
    world.pod("free")
    world.counts.latency = 9999.0
    return world


async def test_whom_no_budget_counts_waits_once_at_most() -> None:
    world = shop()
    async with world.running():
        await asyncio.sleep(PATIENCE + 0.5)
        assert world.order() == ["free"]
        world.pod("later")
        await asyncio.sleep(0.5)
        assert world.order() == ["free", "later"]


async def test_where_they_may_go_uncounted_they_do_not_wait_one_after_the_other() -> None:
    world = shop(Unreadable.ALLOW)
    async with world.running():
        await asyncio.sleep(PATIENCE + 0.5)
    assert len(world.order()) == 201


async def test_counts_that_answer_again_are_asked_again() -> None:
    world = shop(pods=50)
    async with world.running():
        await asyncio.sleep(60)
        assert world.order() == ["free"]
        world.counts.latency = 0.01
        await asyncio.sleep(60)
    assert len(world.order()) == 51
    assert world.counts.counted() == 50


async def test_while_they_hang_one_tries_for_all() -> None:
    world = shop()
    asked = 0
    get = world.counts.get

    async def counting(*args: object) -> object:
        nonlocal asked
        asked += 1
        return await get(*args)  # type: ignore[arg-type]  # as it was called

    world.counts.get = counting  # type: ignore[method-assign,assignment]  # to count how often
    async with world.running():
        await asyncio.sleep(120)
    assert 5 <= asked <= 12
