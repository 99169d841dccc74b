"""Device taints while other things happen: changes midway, node taints, other workers."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.cluster import ConflictError, ServerError
from bailiff.worker import Shard
from bailiff.worker.lead.sharding import shard_of
from bailiff.worker.systems.device_taints.devices import Kind
from tests.harness.device_objects import patience
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.device_world import DeviceWorld, taint_added, untainted
from tests.harness.worlds.world import attempts

pytestmark = pytest.mark.looptime(start=0)

DEVICE_MANAGER = "device-taint-eviction-controller"
NODE_MANAGER = "taint-eviction-controller"


def doomed(*tolerations, **settings) -> DeviceWorld:
    """A world with a pod that a rule evicts."""
    world = untainted(**settings)
    world.gpu_pod("a", *tolerations)
    world.rule("rule", pool="n1")
    return world


# While an eviction runs.


async def _drop_the_rule(world: DeviceWorld) -> None:
    world.remove(Kind.RULES, "rule")


async def _deallocate(world: DeviceWorld) -> None:
    world.claim("claim-a", "a", allocation=None)


async def _tolerate(world: DeviceWorld) -> None:
    world.claim("claim-a", "a", patience())


@pytest.mark.parametrize("change", [_drop_the_rule, _deallocate, _tolerate])
async def test_what_takes_the_reason_away_midway_stops_the_delete_and_says_so(change):
    world = doomed()
    world.latency = 2.0  # of each request: the delete would be sent after 2 s
    async with world.running():
        await asyncio.sleep(1)
        await change(world)
        await asyncio.sleep(60)
    assert world.deletions() == {}
    assert world.requests == ["patch", "look", "reset"]
    assert attempts(world, "kept") == 1
    said = [note.split(" ")[0] for note in world.notes_on("a")]
    assert said == ["Marking", "Cancelling"]
    # The status of the rule knows of nothing evicted.
    assert all(condition.reason != "Completed" for *_, condition in world.statuses)


async def test_a_slice_of_a_newer_generation_midway_stops_the_delete():
    world = untainted()
    world.gpu_pod("a")
    world.slice(gpu_a=[taint_added(0)])
    world.latency = 2.0
    async with world.running():
        await asyncio.sleep(1)
        world.slice("newer", generation=1, pool="n1", gpu_a=[])
        await asyncio.sleep(60)
        assert world.deletions() == {}
        # The new generation is withdrawn: the old one counts again.
        world.remove(Kind.SLICES, "newer")
        await asyncio.sleep(60)
    assert set(world.deletions()) == {"a"}


async def test_a_rule_that_is_recreated_midway_evicts_under_its_new_name():
    world = doomed()
    world.latency = 2.0
    async with world.running():
        await asyncio.sleep(1)
        world.remove(Kind.RULES, "rule")
        world.rule("rule", uid="another", at=1, pool="n1")
        await asyncio.sleep(60)
    assert set(world.deletions()) == {"a"}
    assert world.told() == "1 pod evicted since starting the controller."


async def test_a_pod_that_changes_between_look_and_delete_is_looked_at_again():
    world = doomed()
    world.failures = [ConflictError("changed", status=409)] * 3
    async with world.running():
        await asyncio.sleep(60)
    assert set(world.deletions()) == {"a"}
    assert attempts(world, "conflict") == 3


async def test_a_rule_that_goes_while_its_pods_are_tried_again_and_again_lets_them_be():
    world = doomed()
    world.failures = [ServerError("down", status=500)] * 1000
    async with world.running():
        await asyncio.sleep(100)
        tried = world.requests.count("patch")
        assert tried > 3
        world.remove(Kind.RULES, "rule")
        await asyncio.sleep(600)
        assert len(world.worker.pending) == 0
    assert world.requests.count("patch") <= tried + 1


async def test_a_restart_in_the_middle_of_a_rule_s_evictions_finishes_them_in_time():
    world = untainted()
    world.gpu_pod("a", patience(10))
    world.gpu_pod("b", patience(50))
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(30)
    assert world.deletions() == {"a": 10.0}
    heir = world.successor()
    async with heir.running():
        await asyncio.sleep(1)
        assert heir.told() == "1 pod needs to be evicted in 1 namespace."
        await asyncio.sleep(100)
    assert heir.deletions() == {"b": 50.0}
    # "Since starting the controller."
    assert heir.told() == "1 pod evicted since starting the controller."


# Node and devices.


@pytest.mark.parametrize(
    ("node_s", "device_s", "gone_at", "by"),
    [
        (60, 30, 30.0, DEVICE_MANAGER),
        (30, 60, 30.0, NODE_MANAGER),
        (0, 60, 0.0, NODE_MANAGER),
        (60, 0, 0.0, DEVICE_MANAGER),
        (None, 60, 60.0, DEVICE_MANAGER),
        (60, None, 60.0, NODE_MANAGER),
        (None, None, None, None),
    ],
)
async def test_the_earlier_of_the_two_systems_evicts_as_itself(node_s, device_s, gone_at, by):
    world = untainted()
    world.taint("n1", no_execute())
    world.gpu_pod("a", patience(device_s))
    pod = world.pods["a"]
    tolerant = world.add_pod("a", tolerating(seconds=node_s))
    assert tolerant.metadata.uid == pod.metadata.uid
    world.claiming(tolerant, {"name": "gpu", "resourceClaimName": "claim-a"})
    world.slice(gpu_a=[taint_added(0)])
    async with world.running():
        await asyncio.sleep(600)
    assert world.deletions() == ({} if gone_at is None else {"a": gone_at})
    assert {component for component, _ in world.reported} == ({by} if by else set())
    name = "device_taint_eviction_controller_pod_deletions_total"
    assert world.metric(name) == (by == DEVICE_MANAGER)
    assert world.metric("taint_eviction_controller_pod_deletions_total") == (by == NODE_MANAGER)
    if gone_at and node_s and device_s:
        (note,) = world.notes_on("a")
        assert "taint maintenance:NoExecute" in note
        assert "taint example.com/broken=yes:NoExecute of device" in note


async def test_when_the_earlier_reason_goes_the_later_one_remains():
    world = untainted()
    world.gpu_pod("a", patience(60))
    world.slice(gpu_a=[taint_added(0)])
    async with world.running():
        await asyncio.sleep(1)
        tolerant = world.add_pod("a", tolerating(seconds=30))
        world.claiming(tolerant, {"name": "gpu", "resourceClaimName": "claim-a"})
        world.taint("n1", no_execute())
        await asyncio.sleep(10)
        (eviction,) = world.worker.pending
        assert eviction.due == pytest.approx(31, abs=0.1)
        world.taint("n1")
        await asyncio.sleep(10)
        assert eviction.uid in {one.uid for one in world.worker.pending}
        await asyncio.sleep(600)
    assert world.deletions() == {"a": 60.0}
    assert len(world.notes_on("a")) == 1


async def test_a_pod_whose_node_is_gone_still_goes_for_its_devices():
    world = doomed(patience(60))
    async with world.running():
        await asyncio.sleep(10)
        world.remove_node("n1")
        await asyncio.sleep(600)
    assert world.deletions() == {"a": 60.0}


# Other workers.


async def test_a_pod_belongs_to_the_shard_of_its_node_wherever_its_device_is():
    for index in range(2):
        world = untainted(shards=(Shard(index, 2),))
        at = world.clock.monotonic()
        for node in ("n1", "n2", "n3", "n4"):
            world.gpu_pod(node, node=node)
        broken = [taint_added(0)]
        world.slice(gpu_n1=broken, gpu_n2=broken, gpu_n3=broken, gpu_n4=broken)
        async with world.running():
            await asyncio.sleep(5)
        mine = {node for node in ("n1", "n2", "n3", "n4") if shard_of(node, 2) == index}
        assert 0 < len(mine) < 4
        assert world.deletions() == dict.fromkeys(mine, round(at, 1))


async def test_a_standby_is_warm_and_acts_at_once_when_appointed():
    election = Appointment()
    world = doomed(election=election)
    async with world.running():
        await asyncio.sleep(100)
        assert len(world.worker.pending) == 1
        assert (world.requests, world.statuses, world.notes) == ([], [], [])
        election.appoint()
        await asyncio.sleep(30)
    assert world.deletions() == {"a": 100.0}
    assert world.said()[-1][1:] == ("False", "Completed")


async def test_a_leader_that_is_deposed_midway_sends_no_delete_and_writes_no_status():
    election = Appointment(leads=True)
    world = doomed(patience(60), election=election)
    async with world.running():
        await asyncio.sleep(30)
        assert [reason for *_, reason in world.said()] == ["PodsPendingEviction"]
        election.leads = False
        await asyncio.sleep(600)
        world.remove_pod("a")
        await asyncio.sleep(60)
    assert world.deletions() == {}
    assert len(world.statuses) == 1
