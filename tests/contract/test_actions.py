"""What a worker sends to evict a pod, alone: what is repeated, and what comes too late."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.clock import SystemClock
from bailiff.cluster import PODS, ConflictError, NotFoundError, UidMismatchError
from bailiff.decisions.node_taints import TERMS
from bailiff.worker import ClusterActions
from bailiff.worker.execute.outcomes import Outcome, classify
from tests.harness.api import name_of, version_of
from tests.harness.objects import condition

EVICTED = replace(TERMS, phase="Failed", status_reason="Evicted")


@pytest.fixture
def actions(cluster):
    return ClusterActions(cluster, instance="test")


async def on_a_node(bench):
    """A pod with a grace period and no kubelet: deleted, it stays, terminating."""
    made = await bench.pod(node=await bench.node())
    return await bench.cluster.get(PODS, name_of(made), bench.namespace)


async def test_a_condition_that_is_there_keeps_its_time_and_is_no_write(bench, actions):
    now = SystemClock().now()
    first = await actions.set_status(await on_a_node(bench), TERMS, now)
    written = await bench.get(first.metadata.name)
    again = await actions.set_status(first, TERMS, now + timedelta(hours=1))
    assert again == first
    assert version_of(await bench.get(first.metadata.name)) == version_of(written)


async def test_a_phase_is_written_with_its_reason_and_on_this_version_only(bench, actions):
    terms = replace(EVICTED, keeps_pod=True)
    pod = await on_a_node(bench)
    found = await bench.get(pod.metadata.name)
    await bench.set_status(found, conditions=[condition("Ready")], phase="Running")
    with pytest.raises(ConflictError):
        await actions.set_status(pod, terms, SystemClock().now())
    fresh = await bench.cluster.get(PODS, pod.metadata.name, bench.namespace)
    answer = await actions.set_status(fresh, terms, SystemClock().now())
    assert (answer.has_ended, answer.status.phase) == (True, "Failed")
    status = (await bench.get(pod.metadata.name))["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
    assert {one["type"] for one in status["conditions"]} == {"Ready", "DisruptionTarget"}
    # A pod that has ended goes at once, whatever grace period is asked for.
    await actions.delete(answer, 7)
    with pytest.raises(NotFoundError):
        await bench.get(pod.metadata.name)


async def test_a_phase_that_is_written_after_the_delete_leaves_the_pod_its_grace_period(
    bench, actions
):
    pod = await actions.set_status(await on_a_node(bench), EVICTED, SystemClock().now())
    assert not pod.is_finished
    await actions.delete(pod, 7)
    await actions.set_phase(pod, EVICTED)
    going = await bench.get(pod.metadata.name)
    assert going["metadata"]["deletionGracePeriodSeconds"] == 7
    assert (going["status"]["phase"], going["status"]["reason"]) == ("Failed", "Evicted")


async def test_a_pod_that_has_ended_by_itself_keeps_its_phase(bench, actions):
    pod = await on_a_node(bench)
    await actions.delete(pod, 7)
    await bench.set_status(await bench.get(pod.metadata.name), phase="Succeeded")
    await actions.set_phase(pod, EVICTED)
    assert (await bench.get(pod.metadata.name))["status"]["phase"] == "Succeeded"


async def test_a_delete_whose_answer_was_lost_is_not_accepted_again(bench, actions):
    pod = await actions.set_status(await on_a_node(bench), TERMS, SystemClock().now())
    await actions.delete(pod, None)
    with pytest.raises(ConflictError):
        await actions.delete(pod, None)
    # The next look tells that it is going already.
    assert (await actions.set_status(pod, TERMS, SystemClock().now())).is_terminating


async def test_a_condition_is_taken_back_as_kube_controller_manager_does_it(bench, actions):
    pod = await on_a_node(bench)
    await bench.set_status(await bench.get(pod.metadata.name), conditions=[condition("Ready")])
    now = SystemClock().now()
    await actions.set_status(pod, TERMS, now)
    await actions.reset_condition(pod, TERMS.condition, now)
    found = await bench.get(pod.metadata.name)
    conditions = {one["type"]: one for one in found["status"]["conditions"]}
    assert set(conditions) == {"Ready", "DisruptionTarget"}
    reset = conditions["DisruptionTarget"]
    assert reset["status"] == "False"
    assert not reset.get("reason")
    assert not reset.get("message")
    # What is not there is not taken back: no write.
    await actions.reset_condition(pod, TERMS.condition, now)
    assert version_of(await bench.get(pod.metadata.name)) == version_of(found)


async def test_the_condition_of_a_pod_that_goes_stays(bench, actions):
    pod = await actions.set_status(await on_a_node(bench), TERMS, SystemClock().now())
    await actions.delete(pod, None)
    await actions.reset_condition(pod, TERMS.condition, SystemClock().now())
    found = await bench.get(pod.metadata.name)
    [one] = [c for c in found["status"]["conditions"] if c["type"] == "DisruptionTarget"]
    assert one["status"] == "True"


async def test_a_condition_is_not_taken_from_another_pod_of_the_name(bench, actions):
    pod = await on_a_node(bench)
    other = pod.__replace__(metadata=pod.metadata.__replace__(uid="another"))
    with pytest.raises(UidMismatchError):
        await actions.reset_condition(other, TERMS.condition, SystemClock().now())


async def test_a_delete_that_is_only_tried_deletes_nothing(bench, actions):
    pod = await on_a_node(bench)
    await actions.try_delete(pod)
    assert "deletionTimestamp" not in (await bench.get(pod.metadata.name))["metadata"]
    other = pod.__replace__(metadata=pod.metadata.__replace__(uid="another"))
    with pytest.raises(UidMismatchError):
        await actions.try_delete(other)


async def test_a_pod_that_is_gone_is_named_by_who_says_so(bench, actions):
    pod = await on_a_node(bench)
    await bench.remove(pod.metadata.name)
    for action in (
        actions.set_status(pod, TERMS, SystemClock().now()),
        actions.delete(pod, None),
        actions.evict(pod),
    ):
        with pytest.raises(NotFoundError) as caught:
            await action
        assert classify(caught.value, PODS, pod.metadata.name) is Outcome.GONE


async def test_a_pod_that_has_changed_since_the_look_is_not_deleted(bench, actions):
    pod = await actions.set_status(await on_a_node(bench), TERMS, SystemClock().now())
    found = await bench.get(pod.metadata.name)
    await bench.set_status(found, conditions=[condition("Ready")])
    with pytest.raises(ConflictError):
        await actions.delete(pod, None)
    assert "deletionTimestamp" not in (await bench.get(pod.metadata.name))["metadata"]
