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
from bailiff.serving import Pulse
from bailiff.worker import Observed, create_status_app
from bailiff.worker.mirror.freshness import Freshness
from bailiff.worker.mirror.slices import SLICE, in_turns
from bailiff.worker.observe.listing import MAX_ROWS, list_pending
from bailiff.worker.observe.queue_pages import write_down
from bailiff.worker.observe.queue_query import (
    QueueQuery,
    QueueQueryError,
    read_query,
    write_place,
)
from bailiff.worker.timers.pending import PendingEvictions
from tests.harness.clocks import START, ManualClock
from tests.harness.faces.asgi import call
from tests.harness.kinds import no_execute, tolerating
from tests.harness.pages import queue_page, status_app
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
    return queue_page(pending, read_query(parameters))


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


def test_the_first_of_many_are_shown_whatever_the_order_they_came_in():
    pending, count = pending_of(*(f"ns/pod-{n}" for n in range(3 * MAX_ROWS))), 3 * MAX_ROWS
    for number, eviction in enumerate(pending):
        eviction.due = float(count - number)
    found = straight_through(list_pending(pending, QueueQuery()))
    assert (found.total, len(found.rows), found.has_more) == (count, MAX_ROWS, True)
    assert [row.place[0] for row in found.rows] == [float(n + 1) for n in range(MAX_ROWS)]


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(1, 9), st.integers(0, 40))
def test_a_page_is_the_same_whether_it_is_cut_from_a_longer_listing_or_not(dues, limit, begin):
    pending = pending_of(*(f"ns/pod-{n}" for n in range(len(dues))))
    for due, eviction in zip(dues, pending, strict=True):
        eviction.due = float(due)
    whole = straight_through(list_pending(pending, QueueQuery()))
    after = write_place(whole.rows[begin].place) if begin < len(dues) else ""
    query = QueueQuery(limit=limit, after=after)
    pages = straight_through(write_down({}, whole))
    assert query.place is None or pages.has(query.place, limit)
    cut = msgspec.json.decode(b"".join(pages.page(limit, query.place).pieces))
    assert cut == queue_page(pending, query)


@pytest.mark.parametrize(
    ("behind", "limit", "is_there"), [(0, 999, True), (0, 1000, False), (899, 100, True),
                                      (900, 100, False), (999, 1, False)]
)  # fmt: skip
def test_a_page_that_reaches_beyond_a_listing_is_not_cut_from_it(behind, limit, is_there):
    pending = pending_of(*(f"ns/pod-{n}" for n in range(MAX_ROWS + 1)))
    listing = straight_through(list_pending(pending, QueueQuery()))
    pages = straight_through(write_down({}, listing))
    assert pages.has(listing.rows[behind].place, limit) is is_there


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
    app = status_app(worker, world.registry, worker.trust(health))
    early = await call(app, "GET", "/readyz")
    assert (early.status, early.body) == (503, b"not ready: lists")
    told = msgspec.json.decode((await call(app, "GET", "/v1/queue")).body)["notReady"]
    assert told[1] == {"check": "lists", "detail": f"nodes: {DOWN}"}
    async with world.running():
        await asyncio.sleep(0.05)
        assert (await call(app, "GET", "/readyz")).status == 200
        answer = msgspec.json.decode((await call(app, "GET", "/v1/queue?namespace=default")).body)
        assert (answer["synced"], answer["pods"], answer["total"]) == (True, 2, 2)
        assert answer["asOf"].startswith("2026-01-01T00:00:00.05")
        assert [e["lastOutcome"] for e in answer["evictions"]] == ["unreachable", ""]
        assert (await call(app, "GET", "/v1/queue?limit=0")).status == 400
        assert b"bailiff_worker_evictions_pending 2.0" in (await call(app, "GET", "/metrics")).body
        await asyncio.sleep(300)
        assert (await call(app, "GET", "/readyz")).status == 200
        health["nodes"].lost(60.0)
        stale = await call(app, "GET", "/readyz")
        assert (stale.status, stale.body) == (503, b"not ready: watches")
        told = (await call(app, "GET", "/metrics")).body
        assert b'bailiff_worker_mirror_age_seconds{resource="nodes"} 300.' in told
        # A restart would mend none of this.
        assert (await call(app, "GET", "/healthz")).status == 200
    assert (await call(app, "GET", "/healthz/")).status == 404  # nor a redirection, as over REST
    assert (await call(app, "GET", "/healthz")).status == 200


@pytest.mark.looptime(start=0)
async def test_a_pod_is_found_by_its_name_also_when_it_is_gone_and_still_runs(monkeypatch):
    world = World()
    # Without a look at all the others.
    monkeypatch.delattr(PendingEvictions, "__iter__")
    world.taint("n1", no_execute())
    for name in ("one", "two"):
        world.add_pod(name, tolerating(seconds=100))
    freshness = world.worker.trust({"pods": WatchHealth(), "nodes": WatchHealth()})
    app = status_app(world.worker, world.registry, freshness)

    async def shown(name):
        await asyncio.sleep(1.5)
        answer = await call(app, "GET", f"/v1/queue?namespace=default&name={name}")
        return [(one["name"], one["state"]) for one in answer.json["evictions"]]

    async with world.running():
        assert await shown("one") == [("one", "waiting")]
        assert await shown("three") == []
        world.latency = 60.0
        await asyncio.sleep(100)
        assert await shown("one") == [("one", "running")]
        world.remove_pod("one")
        assert await shown("one") == [("one", "running")]


def test_timers_are_counted_in_parts():
    pending = pending_of(*(f"ns/pod-{n}" for n in range(5000)))
    assert len(list(pending.counting_timers())) > 1
    assert straight_through(in_turns(pending.counting_timers())) == (0, 5000)
    assert pending.count_timers() == (0, 5000)


@pytest.mark.looptime(start=0)
async def test_pages_behind_the_first_are_cut_from_the_same_snapshot_while_it_is_new():
    world = World()
    world.taint("n1", no_execute())
    for number in range(30):
        world.add_pod(f"p{number}", tolerating(seconds=100))
    seen, asked = Observed(world.worker, world.registry, world.worker.trust({})), []

    async def take(wanted):
        asked.append(wanted)
        return await seen.take(wanted)

    app = create_status_app(Pulse(10.0), take, world.clock)
    async with world.running():
        await asyncio.sleep(1)
        first = await call(app, "GET", "/v1/queue?limit=10")
        second = await call(app, "GET", f"/v1/queue?limit=10&continue={first.json['continue']}")
        assert (len(asked), second.json["asOf"]) == (1, first.json["asOf"])
        await asyncio.sleep(2)
        later = await call(app, "GET", f"/v1/queue?limit=10&continue={first.json['continue']}")
        assert len(asked) == 2
        assert later.json["evictions"] == second.json["evictions"]
        assert later.headers["age"] == "0"


@pytest.mark.looptime(start=0)
async def test_what_cannot_be_had_in_time_is_refused_with_a_time_to_come_again():
    async def never(_):
        await asyncio.Event().wait()

    app = create_status_app(Pulse(10.0), never, World().clock)
    for path in ("/metrics", "/v1/queue", "/v1/policies", "/v1/shadow"):
        answer = await call(app, "GET", path)
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert answer.json["code"] == "overloaded"
    assert (await call(app, "GET", "/healthz")).status == 200
