"""A pod that was announced to go, and then is spared, does not carry the announcement on."""

import asyncio

import msgspec
import pytest

from bailiff.cluster import ConflictError, DryRunUnsupportedError, ForbiddenError, ServerError
from bailiff.kinds import PodCondition
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.world import attempts, tainted

pytestmark = pytest.mark.looptime(start=0)

OTHER = PodCondition(type="Ready", status="True", reason="Up")


def disruption(world, name="plain"):
    """Status and reason of the pod's DisruptionTarget condition; None where there is none."""
    conditions = world.pods[name].status.conditions
    return next(((c.status, c.reason) for c in conditions if c.type == "DisruptionTarget"), None)


def spared(**settings):
    """A world where the taint goes while the condition is being written."""
    world = tainted(**settings)
    world.latency = 1.0
    world.add_pod("plain")
    return world


async def untaint_meanwhile(world):
    await asyncio.sleep(0.5)
    world.taint("n1")
    await asyncio.sleep(60)


async def test_a_pod_that_is_spared_after_all_is_no_disruption_target():
    world = spared()
    async with world.running():
        await untaint_meanwhile(world)
    assert disruption(world) == ("False", "")
    reset = next(call for call in world.calls if call.step == "reset")
    assert (reset.uid, bool(reset.version)) == ("uid-plain", True)


async def test_other_conditions_stay():
    world = spared()
    pod = world.pods["plain"]
    world.put(pod.__replace__(status=pod.status.__replace__(conditions=(OTHER,))))
    async with world.running():
        await untaint_meanwhile(world)
    assert OTHER in world.pods["plain"].status.conditions


async def test_a_condition_of_somebody_else_stays():
    """Preemption announces with a reason of its own, and deletes."""
    world = spared()
    async with world.running():
        await asyncio.sleep(1.5)
        world.taint("n1")
        theirs = PodCondition(
            type="DisruptionTarget", status="True", reason="PreemptionByScheduler"
        )
        pod = world.pods["plain"]
        world.put(pod.__replace__(status=pod.status.__replace__(conditions=(theirs,))))
        await asyncio.sleep(60)
    assert disruption(world) == ("True", "PreemptionByScheduler")


@pytest.mark.parametrize(
    "error", [ServerError("down", status=500), ConflictError("changed", status=409)], ids=str
)
async def test_taking_back_is_tried_again(error):
    world = spared()
    world.late_failures = [error] * 3
    async with world.running():
        await untaint_meanwhile(world)
    assert disruption(world) == ("False", "")


async def test_taking_back_ends_after_a_few_tries():
    """kube-controller-manager does it two minutes after the announcement."""
    world = spared()
    world.late_failures = [ServerError("down", status=500)] * 100
    async with world.running():
        await untaint_meanwhile(world)
        await asyncio.sleep(600)
    assert world.requests.count("look") == 6


async def test_an_eviction_that_is_cancelled_while_it_waits_for_another_try_is_taken_back():
    world = tainted()
    world.add_pod("plain")
    world.deny(403, "delete", until=3600)
    async with world.running():
        await asyncio.sleep(2)
        assert disruption(world) == ("True", "DeletionByTaintManager")
        world.taint("n1")
        await asyncio.sleep(5)
        assert disruption(world) == ("False", "")


async def test_what_is_denied_again_is_taken_back_and_not_announced_with_every_try():
    """kube-controller-manager resets what is followed by no deletion for two minutes."""
    world = tainted()
    world.add_pod("plain")
    world.deny(404, "delete", until=1800)
    async with world.running():
        await asyncio.sleep(1700)
        assert disruption(world) == ("False", "")
        assert world.requests.count("patch") == 1
        assert attempts(world, "denied") > 5
        await asyncio.sleep(600)
    assert [name for _, name, _ in world.deleted] == ["plain"]
    # Announced once more, right before it goes.
    assert world.requests[-2:] == ["patch", "delete"]
    assert world.conditions.count("DeletionByTaintManager") == 2


async def test_where_a_webhook_takes_no_dry_run_the_delete_itself_is_tried():
    world = tainted()
    world.add_pod("plain")
    world.failures = [
        ServerError("broken", status=500),
        ForbiddenError("denied", status=403),
        DryRunUnsupportedError("does not support dry run", status=400),
    ]
    async with world.running():
        await asyncio.sleep(60)
    assert world.requests == ["patch", "patch", "try", "patch", "delete"]
    assert [name for _, name, _ in world.deleted] == ["plain"]


async def test_an_eviction_that_is_wanted_again_before_it_is_taken_back_happens():
    world = spared()
    async with world.running():
        await asyncio.sleep(0.5)
        world.taint("n1")
        await asyncio.sleep(1)
        world.taint("n1", no_execute())
        await asyncio.sleep(30)
    assert [name for _, name, _ in world.deleted] == ["plain"]


async def test_a_pod_whose_deadline_moves_while_it_waits_for_another_try_is_spared():
    world = tainted()
    world.add_pod("plain")
    world.deny(403, "delete", until=3600)
    async with world.running():
        await asyncio.sleep(2)
        assert disruption(world) == ("True", "DeletionByTaintManager")
        pod = world.pods["plain"]
        spec = msgspec.structs.replace(pod.spec, tolerations=(tolerating(seconds=3000),))
        world.put(msgspec.structs.replace(pod, spec=spec))
        await asyncio.sleep(60)
        assert disruption(world) == ("False", "")
