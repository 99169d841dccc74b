"""The worker on an API server, the same on both: what it does is read back from the API."""

from __future__ import annotations

import json
import time

from bailiff.clock import SystemClock
from bailiff.worker import ClusterActions
from bailiff.worker.systems.node_taints.annotator import ANNOTATION
from tests.harness.api import NODES, name_of, uid_of
from tests.harness.objects import KEY, taint, tolerating
from tests.harness.working import is_going, messages, outlast, until


async def test_untolerated_pods_go_at_once_with_condition_and_event(bench, worker):
    node = await bench.node()
    pod = await bench.pod("plain", node=node)
    stoic = await bench.pod("stoic", node=node, tolerations=[tolerating()])
    await bench.taint(node, taint(KEY, "now"))
    await until(lambda: is_going(bench, "plain"))
    found = await bench.get("plain")
    mark = next(c for c in found["status"]["conditions"] if c["type"] == "DisruptionTarget")
    assert (mark["status"], mark["reason"]) == ("True", "DeletionByTaintManager")
    assert mark["message"] == "Taint manager: deleting due to NoExecute taint"
    await until(lambda: messages(bench, pod))
    why = f"taint {KEY}=now:NoExecute is not tolerated"
    assert await messages(bench, pod) == [
        f"Marking for deletion Pod {bench.namespace}/plain: {why}"
    ]
    assert not await is_going(bench, name_of(stoic))


async def test_a_toleration_with_seconds_holds_that_long(bench, worker):
    node = await bench.node()
    await bench.pod("patient", node=node, tolerations=[tolerating(2)])
    tainted = time.monotonic()
    await bench.taint(node, taint(KEY))
    await until(lambda: is_going(bench, "patient"))
    assert time.monotonic() - tainted >= 2


async def test_untainting_in_time_cancels_with_an_event(bench, worker, clock):
    node = await bench.node()
    pod = await bench.pod("patient", node=node, tolerations=[tolerating(600)])
    await bench.taint(node, taint(KEY))
    await until(lambda: uid_of(pod) in {e.uid for e in worker.pending})
    await bench.taint(node)
    await until(lambda: messages(bench, pod))
    assert await messages(bench, pod) == [
        f"Cancelling deletion of Pod {bench.namespace}/patient: the node has no NoExecute taint"
    ]
    await outlast(bench, clock, 600)
    assert not await is_going(bench, "patient")


async def test_a_lost_history_and_broken_watches_lose_no_eviction(api, bench, worker):
    node = await bench.node()
    await bench.pod("patient", node=node, tolerations=[tolerating(3)])
    await bench.pod("plain", node=node)
    await bench.taint(node, taint(KEY))
    await api.forget_history()
    await until(lambda: is_going(bench, "plain"))
    await until(lambda: is_going(bench, "patient"))


async def test_the_event_is_one_that_the_api_server_takes(bench, cluster):
    pod = await bench.pod("n" * 253)
    actions = ClusterActions(cluster, instance="test")
    from bailiff.cluster import PODS
    from bailiff.decisions import EventNote

    slim = await cluster.get(PODS, name_of(pod), bench.namespace)
    note = EventNote(type="Normal", reason="TaintManagerEviction", message="m" * 5000)
    await actions.record(slim, note, SystemClock().now(), "taint-eviction-controller")
    assert await messages(bench, pod) == ["m" * 1024]


async def test_when_an_untimed_taint_came_stands_on_the_node(bench, worker):
    node = await bench.node()
    await bench.pod("patient", node=node, tolerations=[tolerating(3600)])
    await bench.taint(node, taint(KEY, "now"))

    async def annotation():
        found = await bench.cluster.get(NODES, node)
        return found["metadata"].get("annotations", {}).get(ANNOTATION)

    await until(annotation)
    [observed] = json.loads(await annotation())
    assert (observed["key"], observed["value"], observed["effect"]) == (KEY, "now", "NoExecute")
    await bench.taint(node)

    async def is_gone():
        return await annotation() is None

    await until(is_gone)
