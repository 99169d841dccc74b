"""What the worker tells of itself: the queue in pages, readiness, freshness."""

import asyncio

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given

from bailiff.cluster import ServerError, WatchHealth
from bailiff.decisions import Finding, Verdict
from bailiff.kinds import ObjectMeta, Pod, PodSpec
from bailiff.worker import create_status_app
from bailiff.worker.freshness import Freshness
from bailiff.worker.pending import PendingEvictions
from bailiff.worker.queue_view import QueueQueryError, read_query, view
from tests.harness.clocks import ManualClock
from tests.harness.faces.asgi import call
from tests.harness.kinds import no_execute, tolerating
from tests.harness.turns import straight_through
from tests.harness.worlds.world import World


def pending_of(*names):
    pending = PendingEvictions(ManualClock(), lambda: None)
    for number, name in enumerate(names):
        namespace, _, pod = name.partition("/")
        meta = ObjectMeta(name=pod, namespace=namespace, uid=f"uid-{number}")
        finding = Finding(
            system="node-taints", verdict=Verdict.EVICT_NOW, reason="TaintNotTolerated", message=""
        )
        pending.schedule(Pod(metadata=meta, spec=PodSpec(node_name=f"n{number % 2}")), finding)
    return pending


def shown(pending, parameters):
    return straight_through(view(pending, read_query(parameters)))


def names(answer):
    return [f"{e['namespace']}/{e['name']}" for e in answer["evictions"]]


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


def test_a_mirror_is_stale_when_a_watch_is_silent_for_long():
    clock, pods, nodes = ManualClock(passed=1000.0), WatchHealth(), WatchHealth(last_contact=990.0)
    freshness = Freshness({"pods": pods, "nodes": nodes}, clock, limit=200.0)
    assert freshness.complaints() == []
    clock.advance(191.0)
    assert freshness.complaints() == ["the watch of nodes has heard nothing for 201 s"]


@pytest.mark.looptime(start=0)
async def test_the_endpoint():
    world = World()
    world.taint("n1", no_execute())
    world.add_pod("patient", tolerating(seconds=100))
    world.add_pod("denied")
    world.failures = [ServerError("down", status=500)]
    health = {"pods": WatchHealth(), "nodes": WatchHealth(last_contact=0.0)}
    worker = world.worker
    app = create_status_app(
        worker.pending, worker.evaluator, world.registry, worker.trust(health), worker.role
    )
    assert (await call(app, "GET", "/readyz")).status == 503
    async with world.running():
        await asyncio.sleep(0.05)
        assert (await call(app, "GET", "/readyz")).status == 200
        answer = msgspec.json.decode((await call(app, "GET", "/v1/queue?namespace=default")).body)
        assert (answer["synced"], answer["pods"], answer["total"]) == (True, 2, 2)
        assert [e["lastOutcome"] for e in answer["evictions"]] == ["unreachable", ""]
        assert (await call(app, "GET", "/v1/queue?limit=0")).status == 400
        assert b"bailiff_worker_evictions_pending 2.0" in (await call(app, "GET", "/metrics")).body
        await asyncio.sleep(300)
        stale = await call(app, "GET", "/readyz")
        assert (stale.status, stale.body[:18]) == (503, b"the watch of nodes")
    assert (await call(app, "GET", "/healthz")).status == 200
