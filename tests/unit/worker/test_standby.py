"""A worker that does not lead: warm, and silent; and what happens when it is its turn."""

import asyncio

import msgspec
import pytest

from bailiff.cluster import FencedError, WatchHealth
from bailiff.worker import Shard
from bailiff.worker.lead.sharding import shard_of
from tests.harness.faces.asgi import call
from tests.harness.kinds import no_execute, tolerating
from tests.harness.pages import status_app
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.world import World

pytestmark = pytest.mark.looptime(start=0)


def fleet(election, **settings):
    world = World(election=election, **settings)
    world.taint("n1")
    world.add_pod("plain")
    world.add_pod("patient", tolerating(seconds=10))
    world.add_pod("stoic", tolerating())
    return world


async def test_a_standby_writes_nothing_and_knows_everything():
    world = fleet(Appointment())
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(600)
        assert world.worker.mirror.pod_count == 3
        assert len(world.worker.pending) == 2
        # The taint goes, and the evictions that were never announced are not taken back aloud.
        world.taint("n1")
        await asyncio.sleep(600)
        assert len(world.worker.pending) == 0
    assert (world.requests, world.deleted, world.notes, world.annotated) == ([], [], [], [])


async def test_whoever_is_appointed_does_at_once_what_is_due():
    election = Appointment()
    world = fleet(election)
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(4.0)
        assert world.deleted == []
        election.appoint()
        await asyncio.sleep(0.001)
        assert world.deletions() == {"plain": 4.0}
        # When it saw the taint first is written down now, and the wait counts from then.
        assert len(world.annotated) == 1
        await asyncio.sleep(100)
    assert world.deletions() == {"plain": 4.0, "patient": 10.0}
    assert [name for name, _ in world.notes] == ["plain", "patient"]


async def test_whoever_loses_the_lead_takes_nothing_more_and_goes_on_when_it_is_back():
    election = Appointment(leads=True)
    world = fleet(election)
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(5)
        election.leads = False
        await asyncio.sleep(30)
        assert world.deletions() == {"plain": 0.0}
        election.appoint()
        await asyncio.sleep(1)
    assert world.deletions() == {"plain": 0.0, "patient": 35.0}


async def test_what_another_has_done_meanwhile_is_not_done_again():
    election = Appointment()
    world = fleet(election)
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(5)
        world.remove_pod("plain")
        await asyncio.sleep(1)
        election.appoint()
        await asyncio.sleep(1)
        assert world.requests == []
        await asyncio.sleep(10)
    assert world.deletions() == {"patient": 10.0}


async def test_an_attempt_that_was_fenced_waits_for_the_next_turn():
    election = Appointment(leads=True)
    world = fleet(election)
    world.failures = [FencedError("not sent")]
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(0.001)
        election.leads = False
        await asyncio.sleep(60)
        assert world.deleted == []
        assert world.requests == ["patch"]
        election.appoint()
        await asyncio.sleep(0.001)
        assert world.deletions()["plain"] == 60.0
    fenced = {"outcome": "fenced"}
    assert world.registry.get_sample_value("bailiff_worker_eviction_attempts_total", fenced) == 1


async def test_the_lease_is_released_when_nothing_is_under_way_any_more():
    election = Appointment(leads=True)
    world = fleet(election)
    election.is_idle = lambda: "plain" not in world.pods
    world.latency = 1.0
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(0.5)
    assert election.released == 1
    assert world.deletions() == {"plain": 2.0}


@pytest.mark.parametrize("leads", [True, False])
async def test_status_and_metrics_tell_who_leads_and_a_standby_is_ready(leads):
    mine = Shard(shard_of("n1", 3), 3)
    election = Appointment(leads=leads, shard=mine)
    world = fleet(election, shards=(mine,))
    async with world.running():
        election.listener.new_leader()
        found = msgspec.json.decode((await ask(world, "/v1/queue")).body)
        assert (await ask(world, "/readyz")).status == 200
    role = {key: found[key] for key in ("leader", "holder", "shard", "shards")}
    assert role == {
        "leader": leads,
        "holder": "somebody",
        "shard": shard_of("n1", 3),
        "shards": 3,
    }
    assert world.registry.get_sample_value("bailiff_worker_leader") == float(leads)
    assert world.registry.get_sample_value("bailiff_worker_lease_transitions_total") == 1


async def test_without_an_election_a_worker_leads_all_nodes():
    world = fleet(None)
    async with world.running():
        assert world.worker.role() == {"leader": True, "holder": "", "shard": 0, "shards": 1}


async def test_each_shard_evicts_from_its_own_nodes_only():
    names = [f"node-{number}" for number in range(40)]
    gone = []
    for index in range(3):
        world = World(shards=(Shard(index, 3),))
        for name in names:
            world.taint(name, no_execute())
            world.add_pod(f"pod-{name}", node=name)
        async with world.running():
            await asyncio.sleep(1)
            # A pod that comes later, a node that changes later, and the periodic look.
            world.add_pod("late", node=names[0])
            world.taint(names[1], no_execute(), no_execute("second"))
            world.worker.evaluator.mark_all()
            await asyncio.sleep(1)
        gone.append(set(world.deletions()))
    assert sorted(name for each in gone for name in each) == sorted(
        ["late", *(f"pod-{name}" for name in names)]
    )
    for index, each in enumerate(gone):
        assert {shard_of(name.removeprefix("pod-"), 3) for name in each - {"late"}} == {index}


async def ask(world, path):
    worker = world.worker
    freshness = worker.trust({"pods": WatchHealth(), "nodes": WatchHealth()})
    app = status_app(worker, world.registry, freshness)
    return await call(app, "GET", path)


class Hangs(Appointment):
    """Its Lease is never written."""

    async def release(self) -> None:
        await super().release()
        self.released_at = asyncio.get_running_loop().time()
        await asyncio.Event().wait()


async def test_whatever_hangs_the_worker_ends_within_its_grace_and_tries_to_release_the_lease():
    election = Hangs(leads=True)
    world = fleet(election)
    world.add_pod("spared", node="n2")
    world.taint("n2", no_execute())
    world.deny(403, "delete", until=3600)
    async with world.running():
        await asyncio.sleep(2)
        world.latency = 1e6
        # A condition to be reset, and an eviction: no request is answered any more.
        world.taint("n2")
        world.taint("n1", no_execute())
        await asyncio.sleep(1)
        stopped = world.clock.monotonic()
    assert round(election.released_at - stopped, 3) == 15.0
    assert round(world.clock.monotonic() - stopped, 3) == 20.0
