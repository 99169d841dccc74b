"""Pods go for the taints of their devices, in time, and only then; on virtual time."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.worker.systems.device_taints.devices import Kind
from tests.harness.device_objects import patience
from tests.harness.kinds import no_execute
from tests.harness.objects import tolerating
from tests.harness.worlds.device_world import DeviceWorld, taint_added, untainted

pytestmark = pytest.mark.looptime(start=0)


async def test_a_slice_s_taint_evicts_at_once_as_the_device_manager_does():
    world = untainted()
    world.gpu_pod("a")
    world.gpu_pod("b")
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(5)
        world.slice(gpu_a=[taint_added(5)], gpu_b=[])
        await asyncio.sleep(5)
    assert world.deletions() == {"a": 5.0}
    assert world.requests == ["patch", "delete"]
    (note,) = world.notes_on("a")
    assert note.startswith(
        "Marking for deletion Pod default/a: taint example.com/broken=yes:NoExecute of device "
        "gpu.example.com/n1/gpu-a is not tolerated"
    )
    assert world.reported == [("device-taint-eviction-controller", "DeviceTaintManagerEviction")]
    assert world.conditions == ["DeletionByDeviceTaintManager"]
    name = "device_taint_eviction_controller_pod_deletion"
    assert world.metric(f"{name}s_total") == 1
    assert world.metric(f"{name}_duration_seconds_count") == 1
    assert world.metric("taint_eviction_controller_pod_deletions_total") == 0
    assert world.metric("bailiff_worker_device_taints") == 1


async def test_a_rule_evicts_and_its_deletion_in_time_cancels():
    world = untainted()
    world.gpu_pod("a", patience(60))
    world.gpu_pod("b")
    async with world.running():
        world.rule("rule", at=0, pool="n1")
        await asyncio.sleep(30)
        assert world.deletions() == {"b": 0.0}
        world.remove(Kind.RULES, "rule")
        await asyncio.sleep(600)
    assert world.deletions() == {"b": 0.0}
    (note,) = world.notes_on("a")
    assert note == (
        "Cancelling deletion of Pod default/a: the node has no NoExecute taint; no device of the "
        "pod has a NoExecute taint"
    )
    assert world.reported[-1] == ("device-taint-eviction-controller", "DeviceTaintManagerEviction")


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ([], {"a": 100.0}),
        ([patience(60)], {"a": 150.0}),
        ([patience(5)], {"a": 100.0}),  # 90 + 5 has passed when it is seen
        ([patience(0)], {"a": 100.0}),
        ([patience()], {}),
        ([tolerating(60, "other")], {"a": 100.0}),
        ([patience(60), patience(20)], {"a": 110.0}),
        ([{"operator": "Exists"}], {"a": 100.0}),  # an empty effect counts for no eviction
    ],
)
async def test_tolerated_seconds_count_from_time_added(tolerations, expected):
    world = untainted()
    world.gpu_pod("a", *tolerations)
    async with world.running():
        await asyncio.sleep(100)
        world.slice(gpu_a=[taint_added(90)])
        await asyncio.sleep(600)
    assert world.deletions() == expected


async def test_a_rule_with_effect_none_evicts_nobody():
    world = untainted()
    world.gpu_pod("a")
    world.rule("rule", effect="None", pool="n1")
    async with world.running():
        await asyncio.sleep(600)
    assert world.deletions() == {}


async def test_untainting_in_time_cancels():
    world = untainted()
    world.gpu_pod("a", patience(60))
    async with world.running():
        world.slice(gpu_a=[taint_added(0)])
        await asyncio.sleep(59)
        world.slice(gpu_a=[taint_added(0, effect="NoSchedule")])
        await asyncio.sleep(600)
    assert world.deletions() == {}
    assert len(world.notes_on("a")) == 1


async def test_a_restart_keeps_the_deadline():
    world = untainted()
    world.gpu_pod("a", patience(60))
    async with world.running():
        world.slice(gpu_a=[taint_added(0)])
        await asyncio.sleep(40)
    heir = world.successor()
    async with heir.running():
        await asyncio.sleep(600)
    assert heir.deletions() == {"a": 60.0}


async def test_an_overdue_pod_goes_at_once_after_a_restart():
    world = untainted()
    world.gpu_pod("a", patience(60))
    world.slice(gpu_a=[taint_added(0)])
    await asyncio.sleep(200)
    async with world.running():
        await asyncio.sleep(1)
    assert world.deletions() == {"a": 200.0}


async def test_a_claim_that_is_deallocated_or_reserved_for_another_cancels():
    world = untainted()
    for name in ("a", "b", "c"):
        world.gpu_pod(name, patience(60))
    async with world.running():
        world.slice(gpu_a=[taint_added(0)], gpu_b=[taint_added(0)], gpu_c=[taint_added(0)])
        await asyncio.sleep(10)
        world.claim("claim-a", "a", allocation=None)
        world.claim("claim-b", "b", patience(60), uid="another")
        world.remove(Kind.CLAIMS, "claim-c")
        await asyncio.sleep(600)
    assert world.deletions() == {}
    assert {name: len(world.notes_on(name)) for name in "abc"} == {"a": 1, "b": 1, "c": 1}


async def test_claims_from_a_template_may_appear_after_the_pod_and_in_any_order():
    world = untainted()
    world.slice(gpu_a=[taint_added(0)], gpu_b=[taint_added(0)])
    wanted = {"name": "gpu", "resourceClaimTemplateName": "template"}
    made = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "made"}]}
    owner = [{"kind": "Pod", "name": "a", "uid": "uid-a", "controller": True}]
    async with world.running():
        pod = world.claiming(world.add_pod("a"), wanted)
        await asyncio.sleep(10)
        world.claiming(pod, wanted, **made)
        await asyncio.sleep(10)
        assert world.deletions() == {}
        world.claim("made", "a", metadata={"ownerReferences": owner})
        await asyncio.sleep(10)
        assert world.deletions() == {"a": 20.0}
        world.claim("made", "b", metadata={"ownerReferences": owner})
        other = world.claiming(world.add_pod("b"), wanted)
        world.claiming(other, wanted, **made)
        await asyncio.sleep(10)
    # The claim is another pod's.
    assert world.deletions() == {"a": 20.0}


async def test_a_pod_that_is_bound_later_goes_when_it_is_bound():
    world = untainted()
    world.slice(gpu_a=[taint_added(0)])
    world.gpu_pod("a", node="")
    async with world.running():
        await asyncio.sleep(10)
        assert world.deletions() == {}
        world.gpu_pod("a", node="n1")
        await asyncio.sleep(10)
    assert world.deletions() == {"a": 10.0}


async def test_a_newer_generation_counts_and_an_older_one_does_again_when_it_goes():
    world = untainted()
    world.gpu_pod("a", patience(60))
    world.slice(gpu_a=[taint_added(0)])
    async with world.running():
        await asyncio.sleep(10)
        world.slice("newer", generation=1, pool="n1", gpu_a=[])
        await asyncio.sleep(100)
        assert world.deletions() == {}
        world.remove(Kind.SLICES, "newer")
        await asyncio.sleep(10)
    assert world.deletions() == {"a": 110.0}


async def test_what_a_relist_no_longer_has_is_gone():
    world = untainted()
    world.gpu_pod("a", patience(60))
    world.gpu_pod("b", patience(60))
    world.slice(gpu_a=[taint_added(0)])
    world.rule("rule", device="gpu-b")
    async with world.running():
        await asyncio.sleep(10)
        assert len(world.worker.pending) == 2
        for kind in Kind:
            world.objects[kind].clear()
            world.relist(kind)
        await asyncio.sleep(600)
    assert world.deletions() == {}


# Before everything has been listed.


@pytest.mark.parametrize("late", list(Kind))
async def test_no_pod_goes_for_its_devices_before_all_is_listed_and_nodes_do_not_wait(late):
    world = untainted()
    world.lists[late] = False
    world.gpu_pod("a")
    world.gpu_pod("b")
    world.rule("rule", device="gpu-b")
    world.slice(gpu_a=[taint_added(0)])
    world.add_pod("plain", node="n2")
    world.taint("n2", no_execute())
    # What the watch has told already does not make it a list.
    async with world.running():
        await asyncio.sleep(10)
        assert world.deletions() == {"plain": 0.0}
        assert world.metric("bailiff_worker_synced") == 0
        assert world.devices.complaints() == [f"{late} have not been listed yet"]
        world.relist(late)
        await asyncio.sleep(10)
        assert world.metric("bailiff_worker_synced") == 1
        assert world.devices.complaints() == []
    assert world.deletions() == {"plain": 0.0, "a": 10.0, "b": 10.0}


async def test_without_rules_slices_count_alone():
    world = untainted(follows=(Kind.SLICES, Kind.CLAIMS))
    world.gpu_pod("a")
    world.slice(gpu_a=[taint_added(0)])
    async with world.running():
        await asyncio.sleep(10)
    assert world.deletions() == {"a": 0.0}


async def test_when_devices_are_followed_no_longer_nobody_goes_for_them():
    world = untainted()
    world.gpu_pod("a", patience(60))
    world.gpu_pod("orphan", patience(60), node="gone")
    world.slice(gpu_a=[taint_added(0)], gpu_orphan=[taint_added(0)])
    async with world.running():
        await asyncio.sleep(10)
        assert len(world.worker.pending) == 2
        await world.devices.follow({})
        await asyncio.sleep(600)
    assert world.deletions() == {}
    assert [len(world.notes_on(name)) for name in ("a", "orphan")] == [1, 1]
    assert not world.devices.index.slices
    assert not world.devices.index.claims
    assert world.metric("bailiff_worker_device_taints") == 0


async def test_a_worker_that_follows_no_devices_is_whole_without_them():
    world = DeviceWorld(follows=())
    world.taint("n1", no_execute())
    world.gpu_pod("a")
    async with world.running():
        await asyncio.sleep(1)
        assert world.metric("bailiff_worker_synced") == 1
    assert world.deletions() == {"a": 0.0}
