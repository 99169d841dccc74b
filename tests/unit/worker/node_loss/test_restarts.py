"""A worker that is started anew goes on where the last one stopped; no clock makes it early."""

from __future__ import annotations

import asyncio
import itertools
from datetime import timedelta

import pytest

from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.worlds.node_loss_world import NodeLossWorld, SaidOff
from tests.harness.worlds.switch import Switch
from tests.unit.worker.node_loss.scene import EARLIEST, LATEST, three_nodes

pytestmark = pytest.mark.looptime(start=0)


@pytest.mark.parametrize("until", [80, 200, 330])
async def test_the_time_of_a_node_does_not_start_over(until):
    world = three_nodes()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(until)
    assert world.note_on("a0")["state"] == "Silent"
    heir = world.successor()
    async with heir.running():
        await asyncio.sleep(EARLIEST - until - 5)
        assert heir.gone() == {}
        await asyncio.sleep(LATEST + 5 - EARLIEST)
    assert heir.gone().keys() == {"web"}


@pytest.mark.parametrize("hours", [1, -1])
async def test_so_it_is_with_a_clock_that_is_off_and_put_right_by_the_api_server(hours):
    """The clock of the worker is the API server's, see ClusterClock; here both were set."""
    world = three_nodes()
    world.clock.step = timedelta(hours=hours)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(200)
    heir = world.successor()
    heir.clock.step = timedelta(hours=hours)
    async with heir.running():
        await asyncio.sleep(EARLIEST - 200 - 5)
        assert heir.gone() == {}
        await asyncio.sleep(40)
    assert heir.gone().keys() == {"web"}


async def test_a_node_that_lived_meanwhile_starts_anew():
    world = three_nodes()
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(200)
    world.renew("a0")
    heir = world.successor()
    async with heir.running():
        await asyncio.sleep(320)
        assert heir.gone() == {}
        await asyncio.sleep(60)
    assert heir.gone().keys() == {"web"}


async def test_the_pace_of_a_zone_is_kept():
    world = NodeLossWorld()
    for name in world.add_nodes(20):
        world.add(f"on-{name}", name)
    async with world.running():
        world.fall_silent("a0", "a1", "a2", "a3")
        await asyncio.sleep(LATEST)
    first = world.gone()
    assert 1 <= len(first) <= 2
    heir = world.successor()
    async with heir.running():
        # What was released is looked at anew; the next comes in its time.
        await asyncio.sleep(75)
    later = heir.gone()
    assert len(first) + len(later) == 4
    times = sorted(later.values())
    assert all(later - sooner >= 9 for sooner, later in itertools.pairwise(times))


async def test_whoever_takes_over_the_lead_knows_since_when():
    election = Switch()
    world = three_nodes(election=election)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(100)
        election.acts = False
        await asyncio.sleep(100)
        election.acts = True
        await asyncio.sleep(EARLIEST - 200)
        assert world.gone() == {}
        await asyncio.sleep(30)
    assert world.gone().keys() == {"web"}


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "{}",
        '{"uid":"uid-a0","since":"2020-01-01T00:00:00Z"}' + " " * 2000,
        '{"uid":"another","since":"2020-01-01T00:00:00Z"}',
        '{"uid":"uid-a0","since":"2999-01-01T00:00:00Z"}',
        '{"uid":"uid-a0","since":"2020-01-01T00:00:00Z","renewed":"2020-01-01T00:00:00Z"}',
    ],
)
async def test_a_note_that_cannot_be_makes_nobody_go_early(text):
    world = three_nodes()
    world.annotate("a0", text)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(EARLIEST)
        assert world.gone() == {}
        await asyncio.sleep(LATEST - EARLIEST)
    assert world.gone().keys() == {"web"}


async def test_a_taint_of_ours_is_taken_away_by_the_next_worker():
    mode = NodeLossMode(fence=SaidOff(), taints_fenced=True)
    world = three_nodes(mode=mode)
    async with world.running():
        world.fall_silent("a0")
        await asyncio.sleep(LATEST)
    assert [one.key for one in world.nodes["a0"].spec.taints] == [
        "node.kubernetes.io/out-of-service"
    ]
    world.come_back("a0")
    heir = world.successor(mode)
    async with heir.running():
        # Once its Lease is seen to be renewed.
        await asyncio.sleep(20)
    assert heir.nodes["a0"].spec.taints == ()
    assert heir.note_on("a0") == {}
