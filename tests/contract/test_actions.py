"""What a worker sends to evict a pod, alone: what is repeated, and what comes too late."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bailiff.clock import SystemClock
from bailiff.cluster import PODS, ConflictError
from bailiff.decisions.node_taints import CONDITION
from bailiff.worker import ClusterActions
from tests.harness.api import name_of, version_of
from tests.harness.objects import condition


@pytest.fixture
def actions(cluster):
    return ClusterActions(cluster, instance="test")


async def on_a_node(bench):
    """A pod with a grace period and no kubelet: deleted, it stays, terminating."""
    made = await bench.pod(node=await bench.node())
    return await bench.cluster.get(PODS, name_of(made), bench.namespace)


async def test_a_condition_that_is_there_keeps_its_time_and_is_no_write(bench, actions):
    now = SystemClock().now()
    first = await actions.set_condition(await on_a_node(bench), CONDITION, now)
    written = await bench.get(first.metadata.name)
    again = await actions.set_condition(first, CONDITION, now + timedelta(hours=1))
    assert again == first
    assert version_of(await bench.get(first.metadata.name)) == version_of(written)


async def test_a_delete_whose_answer_was_lost_is_not_accepted_again(bench, actions):
    pod = await actions.set_condition(await on_a_node(bench), CONDITION, SystemClock().now())
    await actions.delete(pod, None)
    with pytest.raises(ConflictError):
        await actions.delete(pod, None)
    # The next look tells that it is going already.
    assert (await actions.set_condition(pod, CONDITION, SystemClock().now())).is_terminating


async def test_a_pod_that_has_changed_since_the_look_is_not_deleted(bench, actions):
    pod = await actions.set_condition(await on_a_node(bench), CONDITION, SystemClock().now())
    found = await bench.get(pod.metadata.name)
    await bench.set_status(found, conditions=[condition("Ready")])
    with pytest.raises(ConflictError):
        await actions.delete(pod, None)
    assert "deletionTimestamp" not in (await bench.get(pod.metadata.name))["metadata"]
