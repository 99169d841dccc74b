"""What the worker tells of itself: the queue in pages, readiness, freshness."""

import asyncio

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given

from bailiff.cluster import ServerError, WatchHealth
from bailiff.decisions import Verdict
from bailiff.decisions.node_taints.findings import NodeTaintEviction
from bailiff.kinds import ObjectMeta, Pod, PodSpec
from bailiff.worker import create_status_app
from bailiff.worker.mirror.freshness import Freshness
from bailiff.worker.mirror.slices import SLICE
from bailiff.worker.observe.queue_view import QueueQueryError, read_query, view
from bailiff.worker.timers.pending import PendingEvictions
from tests.harness.clocks import START, ManualClock
from tests.harness.faces.asgi import call
from tests.harness.kinds import no_execute, tolerating
from tests.harness.turns import straight_through
from tests.harness.worlds.world import World


def pending_of(*names):
    pending = PendingEvictions(ManualClock(), asyncio.Event())
    for number, name in enumerate(names):
        namespace, _, pod = name.partition("/")
        meta = ObjectMeta(name=pod, namespace=namespace, uid=f"uid-{number}")
        finding = NodeTaintEviction(
            system="node-taints", verdict=Verdict.EVICT_NOW, reason="TaintNotTolerated", message=""
        )
        pending.schedule(Pod(metadata=meta, spec=PodSpec(node_name=f"n{number % 2}")), finding)
    return pending


def shown(pending, parameters):
    return straight_through(view(pending, read_query(parameters)))


def names(answer):
    return [f"{e['namespace']}/{e['name']}" for e in answer["evictions"]]


def test_who_is_evicted_and_seen_to_be_terminating_is_pending_no_more():
    pending = pending_of("a/x", "a/y")
    evicted = pending.take()
    pending.settle_over(evicted, "deleted", 5.0)
    assert names(shown(pending, {"state": "done"})) == ["a/x"]
    gone = msgspec.structs.replace(evicted.pod.metadata, deletion_timestamp=START)
    pending.leave(msgspec.structs.replace(evicted.pod, metadata=gone))
    assert names(shown(pending, {})) == ["a/y"]


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({}, ["a/x", "a/y", "b/x"]),
        ({"namespace": "a"}, ["a/x", "a/y"]),
        ({"name": "x"}, ["a/x", "b/x"]),
        ({"node": "n1"}, ["a/y"]),
        ({"state": "waiting", "namespace": "b"}, ["b/x"]),
        ({"state": "running"}, []),
        ({"reason": "TaintNotTolerated", "limit": "1"}, ["a/x"]),
        ({"reason": "Other"}, []),
    ],
)
def test_filters(parameters, found):
    assert names(shown(pending_of("a/x", "a/y", "b/x"), parameters)) == found


def test_a_page_is_of_all_that_is_pending_however_many_slices_that_takes():
    pending = pending_of(*(f"ns/pod-{n}" for n in range(2 * SLICE + 1)))
    last = f"ns/pod-{2 * SLICE}"
    assert shown(pending, {"limit": "1"})["total"] == 2 * SLICE + 1
    assert names(shown(pending, {"name": last[3:]})) == [last]


@given(st.integers(0, 30), st.integers(1, 7))
def test_pages_hold_everything_once(count, limit):
    pending = pending_of(*(f"ns/pod-{n}" for n in range(count)))
    seen, parameters = [], {"limit": str(limit)}
    while True:
        page = shown(pending, parameters)
        assert page["total"] == count
        assert len(page["evictions"]) <= limit
        seen += names(page)
        if "continue" not in page:
            break
        parameters["continue"] = page["continue"]
    assert sorted(seen) == sorted(f"ns/pod-{n}" for n in range(count))


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ({"limit": "0"}, "$.limit"),
        ({"limit": "1001"}, "$.limit"),
        ({"limit": "many"}, "$.limit"),
        ({"limit": "9" * 5000}, "$.limit"),
        ({"state": "asleep"}, "$.state"),
        ({"continue": "???"}, "$.continue"),
        ({"continue": "W10="}, "$.continue"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_query_that_cannot_be_answered_is_refused_by_name(parameters, place):
    with pytest.raises(QueueQueryError) as refused:
        read_query(parameters)
    assert place in str(refused.value)


DOWN = ServerError("GET /api/v1/nodes: down", status=500)


@pytest.mark.parametrize(
    ("health", "complaint"),
    [
        pytest.param({}, None, id="nobody wants it"),
        pytest.param({"connected": True, "synced": True, "last_contact": 0.0}, None, id="silent"),
        pytest.param({"unwell_since": 800.0}, None, id="not for long"),
        pytest.param(
            {"unwell_since": 799.0, "last_error": DOWN},
            "the watch of nodes has not been open for 201 s: GET /api/v1/nodes: down",
            id="not open",
        ),
        pytest.param(
            {"unwell_since": 700.0, "connected": True},
            "the watch of nodes has not sent all objects for 300 s",
            id="not synced",
        ),
    ],
)
def test_trouble_of_a_watch_is_told_and_silence_is_none(health, complaint):
    nodes = WatchHealth(**health)
    watches = {"pods": WatchHealth(), "nodes": nodes}
    freshness = Freshness(watches, ManualClock(passed=1000.0), limit=200.0)
    assert freshness.complaints() == ([complaint] if complaint else [])
    assert freshness.age("nodes") == (1000.0 - nodes.unwell_since if nodes.unwell_since else 0)
    assert freshness.errors() == ([f"nodes: {DOWN}"] if nodes.last_error else [])


@pytest.mark.looptime(start=0)
async def test_the_endpoint():
    world = World()
    world.taint("n1", no_execute())
    world.add_pod("patient", tolerating(seconds=100))
    world.add_pod("denied")
    world.failures = [ServerError("down", status=500)]
    health = {"pods": WatchHealth(), "nodes": WatchHealth(last_contact=0.0, last_error=DOWN)}
    worker = world.worker
    app = create_status_app(worker, world.registry, worker.trust(health))
    early = await call(app, "GET", "/readyz")
    assert (early.status, early.body.split(b"; ")[1]) == (503, b"nodes: " + str(DOWN).encode())
    async with world.running():
        await asyncio.sleep(0.05)
        assert (await call(app, "GET", "/readyz")).status == 200
        answer = msgspec.json.decode((await call(app, "GET", "/v1/queue?namespace=default")).body)
        assert (answer["synced"], answer["pods"], answer["total"]) == (True, 2, 2)
        assert [e["lastOutcome"] for e in answer["evictions"]] == ["unreachable", ""]
        assert (await call(app, "GET", "/v1/queue?limit=0")).status == 400
        assert b"bailiff_worker_evictions_pending 2.0" in (await call(app, "GET", "/metrics")).body
        await asyncio.sleep(300)
        assert (await call(app, "GET", "/readyz")).status == 200
        health["nodes"].lost(60.0)
        stale = await call(app, "GET", "/readyz")
        assert (stale.status, stale.body[:18]) == (503, b"the watch of nodes")
        told = (await call(app, "GET", "/metrics")).body
        assert b'bailiff_worker_mirror_age_seconds{resource="nodes"} 300.' in told
        # A restart would mend none of this.
        assert (await call(app, "GET", "/healthz")).status == 200
    assert (await call(app, "GET", "/healthz/")).status == 404  # nor a redirection, as over REST
    assert (await call(app, "GET", "/healthz")).status == 200
