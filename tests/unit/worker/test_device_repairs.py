"""What the device-taint-eviction controller gets wrong, row by row: the worker on virtual time.

The same rows on API servers: tests/contract/test_device_repairs.py. For users:
docs/differences-from-upstream.md.
"""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from bailiff.cluster import ServerError
from bailiff.decisions import Options
from bailiff.kinds import PodSchedulingGroup
from bailiff.worker.systems.device_taints.devices import Kind
from tests.harness.device_objects import patience
from tests.harness.worlds.device_world import DeviceWorld, taint_added, untainted
from tests.harness.worlds.world import attempts

pytestmark = pytest.mark.looptime(start=0)

EXTENDED = {"extendedResourceClaimStatus": {"resourceClaimName": "claim-x"}}


def tainted(*tolerations, **settings) -> DeviceWorld:
    """A world with a pod `a` whose device has been tainted from the beginning."""
    world = untainted(**settings)
    world.gpu_pod("a", *tolerations)
    world.slice(gpu_a=[taint_added(0)], gpu_b=[])
    return world


# level-based: what is looked at anew depends on what changed.


async def test_level_based_an_allocation_changed_in_one_update_gets_the_new_device_s_time():
    world = tainted(patience(60))
    world.slice(gpu_a=[taint_added(0)], gpu_b=[taint_added(100)])
    async with world.running():
        await asyncio.sleep(10)
        world.claim("claim-a", "a", patience(60), device="gpu-b")
        await asyncio.sleep(600)
    assert world.deletions() == {"a": 160.0}


async def test_level_based_a_slice_recreated_in_another_pool_taints_only_there():
    world = tainted(patience(60))
    world.add_pod("b")
    world.claim("claim-b", "b", patience(60), pool="other", device="gpu-a")
    world.claiming(world.pods["b"], {"name": "gpu", "resourceClaimName": "claim-b"})
    async with world.running():
        await asyncio.sleep(30)
        world.slice(pool="other", gpu_a=[taint_added(0)])
        await asyncio.sleep(600)
    assert world.deletions() == {"b": 60.0}


async def test_level_based_a_claim_swapped_for_another_of_its_name_announces_nothing_twice():
    world = tainted(patience(60))
    async with world.running():
        await asyncio.sleep(10)
        swapped = world.objects[Kind.CLAIMS].pop("claim-a")
        world.claim("claim-a", "a", patience(60))
        assert world.objects[Kind.CLAIMS]["claim-a"].metadata.uid != swapped.metadata.uid
        await asyncio.sleep(600)
    assert world.deletions() == {"a": 60.0}
    (note,) = world.notes_on("a")
    assert note.startswith("Marking for deletion")


async def test_level_based_tolerations_of_the_allocation_move_the_deadline_both_ways():
    world = tainted(patience(60))
    async with world.running():
        await asyncio.sleep(10)
        world.claim("claim-a", "a", patience(90))
        await asyncio.sleep(60)
        assert world.deletions() == {}
        world.claim("claim-a", "a", patience(80))
        await asyncio.sleep(600)
    assert world.deletions() == {"a": 80.0}


# uid-guard: a pod of the same name is taken for the one that had the claim.


@pytest.mark.parametrize("in_one_update", [True, False])
async def test_uid_guard_a_pod_recreated_under_the_same_name_is_not_killed(in_one_update):
    """In one update, as after a watch that was interrupted, or by deletion and creation."""
    world = tainted(patience(60))
    async with world.running():
        await asyncio.sleep(10)
        if not in_one_update:
            world.remove_pod("a")
        new = world.add_pod("a", uid="another")
        world.claiming(new, {"name": "gpu", "resourceClaimName": "claim-a"})
        await asyncio.sleep(600)
    assert world.deletions() == {}


async def test_uid_guard_the_new_pod_goes_by_its_own_right_once_the_claim_is_its():
    world = tainted(patience(60))
    async with world.running():
        await asyncio.sleep(10)
        new = world.add_pod("a", uid="another")
        world.claiming(new, {"name": "gpu", "resourceClaimName": "claim-a"})
        await asyncio.sleep(90)
        world.claim("claim-a", "a", patience(60), uid="another")
        await asyncio.sleep(600)
    assert [(round(at, 1), uid) for at, _, uid in world.deleted] == [(100.0, "another")]


# ended-pods: finished and terminating pods are deleted too.


@pytest.mark.parametrize("restored", [False, True], ids=["by default", "setting"])
@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_ended_pods_are_left_alone_and_not_counted_unless_a_setting_says_so(phase, restored):
    world = untainted(options=Options(evict_ended_pods=restored))
    world.gpu_pod("a", phase=phase)
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(60)
    assert world.deletions() == ({"a": 0.0} if restored else {})
    assert world.said()[-1][2] == ("Completed" if restored else "NotStarted")


# toleration-seconds-overflow: they overflow and mean "now" or "never".


@pytest.mark.parametrize("seconds", [9223372036, 9223372037, 2**63 - 1])
async def test_toleration_seconds_overflow_leads_to_a_far_deadline(seconds):
    world = tainted(patience(seconds))
    async with world.running():
        await asyncio.sleep(600)
        (eviction,) = world.worker.pending
        assert eviction.deadline.year > 2300
    assert world.deletions() == {}


# unknown-start: a taint without timeAdded, and a toleration with seconds, crash it.


async def test_unknown_start_does_not_evict_until_it_is_known():
    world = tainted(patience(60))
    undated = {key: value for key, value in taint_added().items() if key != "timeAdded"}
    world.slice(gpu_a=[undated])
    async with world.running():
        await asyncio.sleep(600)
        assert world.deletions() == {}
        found = world.worker.evaluator.finding(world.pods["a"])
        assert found is not None
        assert "it is not known since when: it carries no timeAdded" in found.message
        world.slice(gpu_a=[taint_added(600)])
        await asyncio.sleep(100)
    assert world.deletions() == {"a": 660.0}


# extended-resource-claims: a device by way of an extended resource evicts nobody.


@pytest.mark.parametrize("counts", [True, False], ids=["by default", "setting"])
async def test_extended_resource_claims_count_unless_a_setting_says_otherwise(counts):
    world = untainted(options=Options(extended_resource_claims=counts))
    world.claim("claim-x", "a")
    world.claiming(world.add_pod("a"), **EXTENDED)
    async with world.running():
        await asyncio.sleep(10)
        world.rule("rule", at=10, pool="n1")
        await asyncio.sleep(1)
        assert world.told() == ("1 pod needs to be evicted in 1 namespace." if counts else "")
        await asyncio.sleep(60)
    assert world.deletions() == ({"a": 10.0} if counts else {})


# pod-group-claims: behind the feature gate DRAWorkloadResourceClaims, as upstream.


@pytest.mark.parametrize("counts", [False, True], ids=["by default", "setting"])
async def test_pod_group_claims_count_if_a_setting_says_so(counts):
    world = untainted(options=Options(pod_group_claims=counts))
    world.slice(gpu_a=[taint_added(0)])
    pod = world.gpu_pod("a")
    group = PodSchedulingGroup(pod_group_name="gang")
    world.put(replace(pod, spec=replace(pod.spec, scheduling_group=group)))
    consumer = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "gang"}
    world.reserve("claim-a", consumer | {"uid": "uid-gang"})
    async with world.running():
        await asyncio.sleep(10)
    assert world.deletions() == ({"a": 0.0} if counts else {})


# retries: 5 ms doubled up to 1000 s.


async def test_retries_wait_half_a_minute_at_most_while_the_server_is_down():
    world = tainted()
    world.failures = [ServerError("down", status=500)] * 40
    async with world.running():
        await asyncio.sleep(3600)
    assert attempts(world, "unreachable") == 40
    assert world.deletions()["a"] < 40 * 36


# rule-status-follows: pods that somebody else deletes stay pending for ever.


@pytest.mark.parametrize("how", ["deleted", "terminating", "deallocated", "finished"])
async def test_rule_status_follows_when_a_pending_pod_no_longer_is(how):
    world = untainted()
    world.gpu_pod("a", patience(600))
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(20)
        assert world.said() == [(0.0, "True", "PodsPendingEviction")]
        match how:
            case "deleted":
                world.remove_pod("a")
            case "terminating":
                world.terminate("a")
            case "deallocated":
                world.claim("claim-a", "a", allocation=None)
            case "finished":
                world.gpu_pod("a", patience(600), phase="Succeeded")
        await asyncio.sleep(20)
    assert world.said()[1:] == [(30.0, "False", "NotStarted")]
