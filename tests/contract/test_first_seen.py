"""When taints without timeAdded came: what managedFields tell of it, and a worker that was away."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bailiff.cluster import NODES, PODS, ConflictError, NotFoundError, PatchType
from bailiff.decisions.node_taints import NodeTaints, observations
from bailiff.worker import ClusterActions
from bailiff.worker.systems.node_taints.annotator import annotate
from tests.harness.api import NODES as NODES_AS_JSON
from tests.harness.api import name_of, uid_of
from tests.harness.between import go_between
from tests.harness.objects import KEY, taint, tolerating
from tests.harness.working import running_worker, until

SECOND = timedelta(seconds=1)


def now():
    return datetime.now(UTC)


async def edited(bench, node):
    return (await bench.cluster.get(NODES, node)).taints_edited


async def note(bench, node):
    return observations.read(await bench.cluster.get(NODES, node)).get((KEY, "", "NoExecute"))


async def past(instant):
    """Until the second of this instant is over, so that another edit has another time."""
    await asyncio.sleep(max((instant + SECOND - now()).total_seconds(), 0))


def evict_at(worker, pod):
    eviction = worker.pending.get(uid_of(pod))
    return eviction and eviction.deadline


# What managedFields tell.


@pytest.mark.parity
async def test_the_time_of_the_last_edit_of_the_taints_is_told(bench):
    node = await bench.node()
    before = now().replace(microsecond=0)
    await bench.taint(node, taint(KEY))
    first = await edited(bench, node)
    assert before <= first <= now()
    await past(first)
    await bench.taint(node, taint(KEY), taint("example.com/other"))
    second = await edited(bench, node)
    assert second > first
    await past(second)
    await bench.taint(node)
    await bench.taint(node, taint(KEY))
    assert await edited(bench, node) > second


@pytest.mark.parity
async def test_another_manager_s_writes_leave_the_time_as_it_is(bench, cluster):
    """Ours among them: a note that moved the time would never hold."""
    node = await bench.node()
    await bench.taint(node, taint(KEY))
    first = await edited(bench, node)
    await past(first)
    await annotate(ClusterActions(cluster, instance="test"), await cluster.get(NODES, node), "[]")
    label = {"metadata": {"labels": {"a": "b"}}}
    other = {"patch_type": PatchType.MERGE, "field_manager": "somebody-else"}
    await bench.cluster.patch(NODES_AS_JSON, node, "", label, **other)
    assert await edited(bench, node) == first
    await bench.cluster.patch(NODES_AS_JSON, node, "", label | {"metadata": {"labels": {"a": "c"}}})
    # By the manager that tainted: later than the edit, and never earlier.
    assert await edited(bench, node) > first


@pytest.mark.parity
async def test_once_noted_a_node_that_was_made_bare_tells_of_edits_too(bench, cluster):
    """The API server keeps no managedFields of such a node before something is applied to it."""
    actions = ClusterActions(cluster, instance="test")
    node = await bench.bare_node()
    await bench.taint(node, taint(KEY))
    await annotate(actions, await cluster.get(NODES, node), "[]")
    first = await edited(bench, node)
    assert first is not None
    await past(first)
    await bench.taint(node)
    await bench.taint(node, taint(KEY))
    assert await edited(bench, node) > first
    await annotate(actions, await cluster.get(NODES, node), "")
    assert not (await cluster.get(NODES, node)).metadata.annotations.taints_first_observed


@pytest.mark.kube_apiserver
async def test_a_note_that_is_all_that_is_left_of_a_node_can_be_cleared(bench, cluster, as_worker):
    """Nobody owns anything of the node then, and the API server forgets who did."""
    actions = ClusterActions(as_worker, instance="test")
    node = await bench.bare_node()
    await bench.taint(node, taint(KEY))
    await annotate(actions, await cluster.get(NODES, node), "[]")
    await bench.taint(node)
    await annotate(actions, await cluster.get(NODES, node), "")
    assert "managedFields" not in (await cluster.get(NODES_AS_JSON, node))["metadata"]


@pytest.mark.parity
async def test_a_note_for_a_node_that_was_made_bare_is_guarded_as_any_other(bench, cluster):
    node = await bench.bare_node()
    await bench.taint(node, taint(KEY))
    seen = await cluster.get(NODES, node)
    await annotate(ClusterActions(cluster, instance="test", dry_run=True), seen, "[]")
    assert await cluster.get(NODES, node) == seen
    actions = ClusterActions(cluster, instance="test")
    await bench.taint(node)
    with pytest.raises(ConflictError):
        await annotate(actions, seen, "[]")
    await cluster.delete(NODES, node)
    with pytest.raises((ConflictError, NotFoundError)):
        await annotate(actions, seen, "[]")
    with pytest.raises(NotFoundError):
        await cluster.get(NODES, node)


# A worker that was away.


async def test_a_taint_that_came_back_while_no_worker_ran_counts_from_then(bench, as_worker):
    node = await bench.node()
    pod = await bench.pod(node=node, tolerations=[tolerating(100)])
    async with running_worker(as_worker) as worker:
        await bench.taint(node, taint(KEY))
        await until(lambda: evict_at(worker, pod))
        await until(lambda: note(bench, node))
    await bench.taint(node)
    came = now()
    await bench.taint(node, taint(KEY))
    assert await note(bench, node)
    async with running_worker(as_worker) as worker:
        await until(lambda: evict_at(worker, pod))
        assert evict_at(worker, pod) >= came + timedelta(seconds=100)


async def test_a_node_that_was_made_bare_is_dated_by_its_edits_and_not_by_the_restart(
    bench, as_worker
):
    node = await bench.bare_node()
    pod = await bench.pod(node=node, tolerations=[tolerating(100)])
    async with running_worker(as_worker) as worker:
        await until(lambda: worker.mirror.synced)
        await bench.taint(node, taint(KEY))
        await until(lambda: note_counts(bench, node))
    await bench.taint(node)
    came = now()
    await bench.taint(node, taint(KEY))
    back = now()
    await past(back + SECOND)
    async with running_worker(as_worker) as worker:
        await until(lambda: evict_at(worker, pod))
        tolerated = timedelta(seconds=100)
        assert came + tolerated <= evict_at(worker, pod) <= back + SECOND + tolerated


async def note_counts(bench, node):
    """The node tells when its taint came, and who reads that believes it."""
    served = observations.as_served(await bench.cluster.get(NODES, node))
    return observations.vouched(served)


async def test_a_note_that_cannot_be_cleared_evicts_nobody_early(bench, api, tmp_path):
    """By the worker at work, by one that comes after it, by the API; and it goes in the end."""
    node = await bench.node()
    pod = await bench.pod(node=node, tolerations=[tolerating(100)])
    async with go_between(api, tmp_path) as (proxy, client):
        async with running_worker(client) as worker:
            await bench.taint(node, taint(KEY))
            await until(lambda: evict_at(worker, pod))
            await until(lambda: note(bench, node))
            stale = await note(bench, node)
            proxy.refused = f"/nodes/{node}"
            await bench.taint(node)
            await until(lambda: evict_at(worker, pod) is None)
            back = now()
            await bench.taint(node, taint(KEY))
            await until(lambda: evict_at(worker, pod))
            assert evict_at(worker, pod) >= back + timedelta(seconds=100)
        assert await note(bench, node) == stale
        async with running_worker(client) as worker:
            await until(lambda: evict_at(worker, pod))
            assert evict_at(worker, pod) >= back + timedelta(seconds=100)
            seen = observations.as_served(await bench.cluster.get(NODES, node))
            slim = await bench.cluster.get(PODS, name_of(pod), bench.namespace)
            asked = NodeTaints(seen, now()).decide(slim)
            assert asked.evict_at >= back + timedelta(seconds=100)
            proxy.refused = ""
            await until(lambda: note_is_of(bench, node, evict_at(worker, pod)))


async def note_is_of(bench, node, deadline):
    """The node says what the worker goes by."""
    found = await note(bench, node)
    return found is not None and found.time + timedelta(seconds=100) == deadline
