"""What kube-controller-manager gets wrong, row by row: the worker on API servers.

The row of the retries: test_repaired_retries.py. The same rows on virtual time:
tests/unit/worker/test_repairs.py. Numbers are issues of kubernetes/kubernetes.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from bailiff.decisions import Options
from bailiff.worker.systems.node_taints.annotator import ANNOTATION
from tests.harness.api import NODES, PODS, name_of, uid_of
from tests.harness.between import go_between
from tests.harness.objects import KEY, taint, tolerating
from tests.harness.working import is_going, messages, outlast, retolerate, running_worker, until

OTHER = "example.com/other"


def deadline(worker, pod):
    """When the worker means to evict a pod; None if it does not."""
    eviction = worker.pending.get(uid_of(pod))
    return eviction and eviction.deadline


def born(pod):
    return datetime.fromisoformat(pod["metadata"]["creationTimestamp"])


# A scheduled eviction is never moved.


async def test_deadline_is_recomputed_in_both_directions(bench, worker):
    """#102993, #108982: changed tolerationSeconds."""
    node = await bench.node()
    pods = {
        name: await bench.pod(name, node=node, tolerations=[tolerating(100)])
        for name in ("shortened", "zeroed", "lengthened", "for-ever")
    }
    await bench.taint(node, taint(KEY))
    await until(lambda: all(deadline(worker, pod) for pod in pods.values()))
    before = deadline(worker, pods["lengthened"])
    await retolerate(bench, "lengthened", 200)
    await until(lambda: deadline(worker, pods["lengthened"]) == before + timedelta(seconds=100))
    await retolerate(bench, "for-ever", None)
    await until(lambda: deadline(worker, pods["for-ever"]) is None)
    await retolerate(bench, "shortened", 1)
    await retolerate(bench, "zeroed", 0)
    await until(lambda: is_going(bench, "shortened"))
    await until(lambda: is_going(bench, "zeroed"))
    assert not await is_going(bench, "lengthened")


async def test_deadline_is_recomputed_when_taints_change(bench, worker):
    """#102993, #108982: a second taint, a swapped taint."""
    node = await bench.node()
    tolerations = [tolerating(100), tolerating(50) | {"key": OTHER}]
    pod = await bench.pod(node=node, tolerations=tolerations)
    await bench.taint(node, taint(KEY))
    await until(lambda: deadline(worker, pod))
    first = deadline(worker, pod)
    await bench.taint(node, taint(KEY), taint(OTHER))
    await until(lambda: deadline(worker, pod) < first)
    await bench.taint(node, taint(KEY))
    await until(lambda: deadline(worker, pod) == first)
    await bench.taint(node, taint(OTHER))
    await until(lambda: deadline(worker, pod) < first)


# The timer starts when the controller sees the taint.


@pytest.mark.parametrize("hours", [-1, 1], ids=["before the pod came", "after it"])
async def test_time_counts_from_the_taint_or_the_binding(bench, worker, hours):
    """#108268: timeAdded is never read."""
    node = await bench.node()
    pod = await bench.pod(node=node, tolerations=[tolerating(100)])
    added = (datetime.now(UTC) + timedelta(hours=hours)).replace(microsecond=0)
    await bench.taint(node, taint(KEY) | {"timeAdded": added.strftime("%Y-%m-%dT%H:%M:%SZ")})
    await until(lambda: deadline(worker, pod))
    assert deadline(worker, pod) == max(added, born(pod)) + timedelta(seconds=100)


async def test_restart_does_not_start_the_time_over(bench, as_worker):
    """#108268: a taint without timeAdded counts from when the first worker saw it."""
    node = await bench.node()
    pod = await bench.pod(node=node, tolerations=[tolerating(100)])

    async def written():
        found = await bench.cluster.get(NODES, node)
        return ANNOTATION in found["metadata"].get("annotations", {})

    async with running_worker(as_worker) as worker:
        await bench.taint(node, taint(KEY))
        await until(lambda: deadline(worker, pod))
        first = deadline(worker, pod)
        await until(written)
    async with running_worker(as_worker) as worker:
        await until(lambda: deadline(worker, pod))
        assert deadline(worker, pod) == first


# There is no UID guard.


async def test_a_pod_recreated_under_the_same_name_is_not_killed(bench, worker, clock):
    """By the old one's timer."""
    node = await bench.node()
    old = await bench.pod("db-0", node=node, tolerations=[tolerating(600)])
    await bench.taint(node, taint(KEY))
    await until(lambda: deadline(worker, old))
    await bench.remove("db-0")
    new = await bench.pod("db-0", node=node, tolerations=[tolerating()])
    await outlast(bench, clock, 600)
    found = await bench.get("db-0")
    assert uid_of(found) == uid_of(new)
    assert "deletionTimestamp" not in found["metadata"]


# Pods that have ended are deleted too.


@pytest.mark.parametrize("restored", [False, True], ids=["by default", "setting"])
async def test_ended_pods_are_left_alone_unless_a_setting_says_otherwise(
    bench, as_worker, restored
):
    """#96363: Succeeded and Failed pods."""
    node = await bench.node()
    phases = ("Succeeded", "Failed")
    ended = [name_of(await bench.finished_pod(phase, node=node)) for phase in phases]
    await bench.pod("plain", node=node)
    await bench.taint(node, taint(KEY))
    async with running_worker(as_worker, options=Options(evict_ended_pods=restored)):
        await until(lambda: is_going(bench, "plain"))
        for name in ended:
            if restored:
                await until(partial(is_going, bench, name))
            else:
                assert not await is_going(bench, name)


# Deleting the Node leaves its timers running.


async def test_node_gone_cancels_its_timers_and_says_so(bench, worker, clock):
    """Pod garbage collection owns those pods."""
    node = await bench.node()
    pod = await bench.pod("patient", node=node, tolerations=[tolerating(600)])
    await bench.taint(node, taint(KEY))
    await until(lambda: deadline(worker, pod))
    await bench.cluster.delete(NODES, node)
    await until(lambda: messages(bench, pod))
    assert "is gone, pod garbage collection owns its pods" in (await messages(bench, pod))[0]
    await outlast(bench, clock, 600)
    assert not await is_going(bench, "patient")


# A worker that is running can emit a false "Cancelling deletion".


async def test_a_pod_that_goes_all_the_same_is_never_said_to_be_cancelled(bench, worker):
    """Moved, expelled at once, deleted by somebody else."""
    node = await bench.node()
    both = [tolerating(100), tolerating() | {"key": OTHER}]
    pods = {
        "moved": await bench.pod("moved", node=node, tolerations=both),
        "expelled": await bench.pod("expelled", node=node, tolerations=[tolerating(100)]),
        "deleted": await bench.pod("deleted", node=node, tolerations=both),
    }
    await bench.taint(node, taint(KEY))
    await until(lambda: all(deadline(worker, pod) for pod in pods.values()))
    await retolerate(bench, "moved", 1)
    await bench.cluster.delete(PODS, "deleted", bench.namespace)
    await bench.taint(node, taint(KEY), taint(OTHER))
    for pod in (pods["moved"], pods["expelled"]):
        await until(partial(messages, bench, pod))
    await until(lambda: not deadline(worker, pods["deleted"]))
    await worker.recorder.drain()
    for name, told in (("moved", ["Marking"]), ("expelled", ["Marking"]), ("deleted", [])):
        assert [m.split(" ")[0] for m in await messages(bench, pods[name])] == told


# The latency metric is multiplied by 1e9; Events carry neither taint nor time.


async def test_latency_is_in_true_seconds(bench, worker):
    """#141311: some milliseconds, and no millions of seconds."""
    node = await bench.node()
    await bench.pod("plain", node=node)
    await bench.taint(node, taint(KEY))
    await until(lambda: is_going(bench, "plain"))
    await until(lambda: latency(worker)["count"] == 1)
    assert 0 < latency(worker)["sum"] < 1000


def latency(worker):
    samples = [
        s
        for metric in worker.systems["node-taints"].metrics.deletion_duration.collect()
        for s in metric.samples
    ]
    return {sample.name.rpartition("_")[2]: sample.value for sample in samples}


async def test_the_event_names_the_taint_the_toleration_and_the_time(bench, worker):
    """The reason is upstream's: messages() looks for it."""
    node = await bench.node()
    pod = await bench.pod("patient", node=node, tolerations=[tolerating(1)])
    await bench.taint(node, taint(KEY, "now") | {"timeAdded": "2020-01-01T00:00:00Z"})
    await until(lambda: messages(bench, pod))
    end = (born(pod) + timedelta(seconds=1)).isoformat().replace("+00:00", "Z")
    used = f"tolerated by {KEY}:NoExecute op=Exists for 1s, until {end}"
    marked = f"Marking for deletion Pod {bench.namespace}/patient"
    assert await messages(bench, pod) == [f"{marked}: taint {KEY}=now:NoExecute is {used}"]


# A storm sends every GET, then every PATCH, then every DELETE; needs an index of another's making.


async def test_a_storm_is_worked_off_in_order_with_few_requests(api, bench, tmp_path):
    """At most three requests an eviction, its Event included; each ends before the next begins."""
    node = await bench.node()
    names = {f"pod-{number}": (3, 1, 2)[number % 3] for number in range(12)}
    for name, seconds in names.items():
        await bench.pod(name, node=node, tolerations=[tolerating(seconds)])
    async with (
        go_between(api, tmp_path) as (proxy, cluster),
        running_worker(cluster, concurrency=1) as worker,
    ):
        await until(lambda: worker.mirror.synced)
        await bench.taint(node, taint(KEY))
        for name in names:
            await until(partial(is_going, bench, name))
        await until(lambda: not any(e.state.value == "running" for e in worker.pending))
        await worker.recorder.drain()
    prefix = f"/api/v1/namespaces/{bench.namespace}"
    writes = [one for one in proxy.asked if one.path.startswith(prefix)]
    done = [(one.method, one.path.split("/")[6]) for one in writes if "/pods/" in one.path]
    order = [name for method, name in done if method == "PATCH"]
    assert [names[name] for name in order] == sorted(names.values())
    assert done == [(method, name) for name in order for method in ("PATCH", "DELETE")]
    assert len(writes) <= 3 * len(names)


async def test_the_worker_works_alone(api, bench, tmp_path):
    """Nothing else runs here; it asks for pods and nodes as they are, by no index of any kind."""
    node = await bench.node(taint(KEY))
    async with go_between(api, tmp_path) as (proxy, cluster), running_worker(cluster):
        await bench.pod("plain", node=node)
        await until(lambda: is_going(bench, "plain"))
    read = [one for one in proxy.asked if one.method == "GET"]
    assert {one.path for one in read} == {"/api/v1/pods", "/api/v1/nodes"}
    assert not any("Selector" in key for one in read for key in one.query)
