"""Every write carries what guards it, and the API server, not the worker's tests, compares it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import msgspec
import pytest

from bailiff.cluster import (
    Cluster,
    ClusterSettings,
    ConflictError,
    NotFoundError,
    UidMismatchError,
)
from bailiff.cluster.transport import Transport
from bailiff.decisions import EvictionTerms
from bailiff.decisions.policies import EvictionApi, Policies
from bailiff.kinds import Pod, PodCondition
from bailiff.worker import ClusterActions
from bailiff.worker.systems.node_taints.annotator import annotate
from tests.harness.clocks import START
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.governed import Governed
from tests.harness.worlds.world import World, attempts, tainted

pytestmark = pytest.mark.looptime(start=0)

CONDITION = PodCondition(type="DisruptionTarget", status="True", reason="DeletionByTaintManager")
TERMS = EvictionTerms(controller="test", event_reason="Test", condition=CONDITION)

Act = Callable[[ClusterActions, Pod], Awaitable[object]]


def patch(actions: ClusterActions, pod: Pod) -> Awaitable[object]:
    return actions.set_status(pod, TERMS, START)


def delete(actions: ClusterActions, pod: Pod) -> Awaitable[object]:
    return actions.delete(pod, None)


def evict(actions: ClusterActions, pod: Pod) -> Awaitable[object]:
    return actions.evict(pod)


ACTS = pytest.mark.parametrize("act", [patch, delete, evict])
DELETIONS = pytest.mark.parametrize("act", [delete, evict])


def replaced(world: World, name: str) -> None:
    """Another pod takes the name, and the watch has not told of it."""
    old = world.pods[name]
    world.pods[name] = msgspec.structs.replace(
        old, metadata=msgspec.structs.replace(old.metadata, uid="another")
    )


@ACTS
async def test_a_request_names_the_uid_and_what_deletes_names_the_version_too(act: Act) -> None:
    world = World()
    pod = world.add_pod("plain")
    await act(world, pod)
    (call,) = world.calls
    version = "" if act is patch else pod.metadata.resource_version
    assert (call.name, call.uid, call.version) == ("plain", "uid-plain", version)


@ACTS
async def test_a_pod_under_a_reused_name_is_not_touched(act: Act) -> None:
    world = World()
    pod = world.add_pod("plain")
    replaced(world, "plain")
    there = world.pods["plain"]
    with pytest.raises(UidMismatchError):
        await act(world, pod)
    assert (world.pods["plain"], world.deleted) == (there, [])


@DELETIONS
async def test_a_pod_that_has_changed_is_not_deleted(act: Act) -> None:
    world = World()
    pod = world.add_pod("plain")
    world.pods["plain"] = pod
    with pytest.raises(ConflictError):
        await act(world, pod)
    assert world.deleted == []


@ACTS
async def test_a_pod_that_is_gone_is_named_by_the_refusal(act: Act) -> None:
    world = World()
    pod = world.add_pod("plain")
    world.remove_pod("plain")
    with pytest.raises(NotFoundError) as refused:
        await act(world, pod)
    assert (refused.value.reason, refused.value.details["name"]) == ("NotFound", "plain")


@ACTS
async def test_a_dry_run_is_checked_by_the_server_and_does_nothing(act: Act) -> None:
    world = World()
    pod = world.add_pod("plain")
    on_paper = ClusterActions(client_of(world), "test", dry_run=True)
    await act(on_paper, pod)
    assert (world.pods["plain"], world.deleted) == (pod, [])
    replaced(world, "plain")
    with pytest.raises(UidMismatchError):
        await act(on_paper, pod)


async def test_an_annotation_is_written_on_the_version_that_was_looked_at():
    world = World()
    world.taint("n1", no_execute())
    node = world.nodes["n1"]
    await annotate(world, node, "seen")
    assert world.nodes["n1"].metadata.annotations.taints_first_observed == "seen"
    assert world.nodes["n1"].spec == node.spec
    with pytest.raises(ConflictError):
        await annotate(world, node, "")
    assert world.annotated == ["seen"]


async def test_a_condition_leaves_the_others_as_they_are():
    world = World()
    scheduled = PodCondition(type="PodScheduled", status="True", last_transition_time=START)
    pod = world.add_pod("plain")
    status = msgspec.structs.replace(pod.status, conditions=(scheduled,))
    pod = world.put(msgspec.structs.replace(pod, status=status))
    answer = await world.set_status(pod, TERMS, START)
    assert answer == world.pods["plain"]
    assert [c.type for c in answer.status.conditions] == ["PodScheduled", "DisruptionTarget"]
    again = await world.set_status(answer, TERMS, START)
    assert again == answer


# The same through a worker.


@pytest.mark.parametrize("second", [0.5, 1.5], ids=["the patch", "the delete"])
async def test_a_name_that_is_reused_while_a_request_travels_costs_the_new_pod_nothing(second):
    world = tainted()
    world.latency = 1.0
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(second)
        replaced(world, "plain")
        await asyncio.sleep(60)
    assert world.deleted == []
    assert world.pods["plain"].metadata.uid == "another"
    assert attempts(world, "replaced") >= 1


async def test_a_name_that_is_reused_while_an_eviction_travels_costs_the_new_pod_nothing():
    world = Governed(Policies(eviction_api=EvictionApi()))
    world.tainted("n1")
    world.latency = 1.0
    world.pod("web")
    async with world.running():
        await asyncio.sleep(0.5)
        replaced(world, "web")
        await asyncio.sleep(60)
    assert (world.deleted, set(world.requests)) == ([], {"evict"})
    assert attempts(world, "replaced") >= 1


async def test_a_pod_that_tolerates_since_the_look_is_spared_though_the_delete_is_on_its_way():
    world = tainted()
    world.latency = 1.0
    pod = world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(1.5)
        assert world.requests == ["patch", "delete"]
        spec = msgspec.structs.replace(pod.spec, tolerations=(tolerating(),))
        world.put(msgspec.structs.replace(world.pods["plain"], spec=spec))
        await asyncio.sleep(60)
    assert world.deleted == []


def client_of(world: World) -> Cluster:
    transport = cast(Transport, world)
    return Cluster(transport, ClusterSettings(), transport)
