"""One eviction, one trace: from due to its end, however often it is tried; on virtual time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bailiff.cluster import DisruptionBudgetError, ForbiddenError
from bailiff.decisions.policies import Pause, PauseNotice, Policies
from bailiff.worker.timers.eviction import Eviction
from tests.harness.clocks import START
from tests.harness.kinds import no_execute, tolerating
from tests.harness.tracing import InMemory, attributes, id_of, parent_of, trace_of
from tests.harness.worlds.shared import sharing
from tests.harness.worlds.world import World, tainted

pytestmark = pytest.mark.looptime(start=0)


def seconds(span):
    return (span.end_time - span.start_time) / 1e9


async def evicted(seen, **settings):
    world = tainted(tracer=seen.tracer, **settings)
    world.add_pod("pod")
    async with world.running():
        await asyncio.sleep(1)
    assert "pod" in world.deletions()
    return world


async def test_an_eviction_is_one_trace_with_its_wait_and_its_attempt():
    seen = InMemory()
    await evicted(seen)
    root, wait, attempt = seen.one("evict"), seen.one("wait"), seen.one("attempt")
    assert root.parent is None
    assert {parent_of(wait), parent_of(attempt)} == {id_of(root)}
    assert {trace_of(wait), trace_of(attempt)} == {trace_of(root)}
    told = attributes(root)
    assert told.pop("bailiff.lateness_seconds") >= 0
    assert told == {
        "bailiff.system": "node-taints",
        "bailiff.attempts": 1,
        "bailiff.by": "delete",
        "bailiff.outcome": "deleted",
        "k8s.namespace.name": "default",
        "k8s.pod.name": "pod",
        "k8s.pod.uid": "uid-pod",
        "k8s.node.name": "n1",
    }
    assert attributes(attempt) == {
        "bailiff.attempt": 1,
        "bailiff.outcome": "deleted",
        "bailiff.by": "delete",
    }
    assert (root.end_time or 0) >= (attempt.end_time or 0) > 0


async def test_on_paper_each_span_says_that_nothing_was_done():
    seen = InMemory()
    await evicted(seen, on_paper=True)
    for one in ("evict", "attempt"):
        assert attributes(seen.one(one))["bailiff.on_paper"] is True


async def test_it_begins_when_the_pod_falls_due_however_late_its_attempt_is():
    seen = InMemory()
    world = tainted(concurrency=1, tracer=seen.tracer)
    world.latency = 5
    world.add_pod("first", tolerating(seconds=10))
    world.add_pod("second", tolerating(seconds=10))
    async with world.running():
        await asyncio.sleep(60)
    late = {attributes(one)["k8s.pod.name"]: one for one in seen.spans() if one.name == "evict"}
    assert sorted(late) == ["first", "second"]
    assert sorted(round(seconds(one)) for one in late.values()) == [10, 20]
    waits = sorted(round(seconds(one)) for one in seen.spans() if one.name == "wait")
    assert waits == [0, 10]


async def test_an_eviction_that_is_tried_again_is_one_trace_and_its_failures_are_seen():
    seen = InMemory()
    world = tainted(tracer=seen.tracer)
    world.failures = [ForbiddenError("no, s3cret", status=403)] * 2
    world.add_pod("pod")
    async with world.running():
        await asyncio.sleep(60)
    root = seen.one("evict")
    tries = [one for one in seen.spans() if one.name == "attempt"]
    assert [attributes(one)["bailiff.outcome"] for one in tries] == ["denied", "denied", "deleted"]
    assert [attributes(one)["bailiff.attempt"] for one in tries] == [1, 2, 3]
    assert [one.status.is_unset for one in tries] == [False, False, True]
    assert {parent_of(one) for one in tries} == {id_of(root)}
    assert attributes(root)["bailiff.attempts"] == 3
    assert seen.names().count("wait") == 1
    assert not [one for one in seen.spans() if "s3cret" in one.to_json()]


async def test_one_that_is_cancelled_between_two_tries_ends_its_trace():
    seen = InMemory()
    world = tainted(tracer=seen.tracer)
    world.failures = [ForbiddenError("no", status=403)] * 3
    world.add_pod("pod")
    async with world.running():
        await asyncio.sleep(10)
        assert "evict" not in seen.names()
        world.taint("n1")
        await asyncio.sleep(600)
    assert attributes(seen.one("evict"))["bailiff.outcome"] == "kept"


async def test_each_eviction_of_a_pod_that_lives_on_is_a_trace_that_begins_where_the_last_ended():
    seen = InMemory()
    world = tainted(tracer=seen.tracer)
    world.deaf = True
    world.add_pod("pod")
    async with world.running():
        await asyncio.sleep(60)
    roots = [one for one in seen.spans() if one.name == "evict"]
    assert len(roots) > 2
    # None counts the time of another.
    assert sum(seconds(one) for one in roots) == pytest.approx(late(roots[-1]), abs=0.1)
    traces = [trace_of(one) for one in roots]
    assert len(set(traces)) == len(roots)
    named = [attributes(one).get("bailiff.after_trace") for one in roots]
    assert named == [None, *traces[:-1]]
    for root in roots:
        below = [one for one in seen.spans() if parent_of(one) == id_of(root)]
        assert [one.name for one in below] == ["wait", "attempt"]
        assert {trace_of(one) for one in below} == {trace_of(root)}
        assert sum(seconds(one) for one in below) <= seconds(root) + 0.1


def late(span):
    return attributes(span)["bailiff.lateness_seconds"]


async def test_one_that_is_put_off_begins_before_all_that_is_done_for_it():
    seen = InMemory()
    world = World(tracer=seen.tracer)
    world.latency = 1.0
    world.taint("n1", no_execute(time_added=START))
    world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        world.clock.step = timedelta(hours=1)
        await asyncio.sleep(1.5)
        world.clock.step = timedelta()
        await asyncio.sleep(110)
    root, wait = seen.one("evict"), seen.one("wait")
    tries = [one for one in seen.spans() if one.name == "attempt"]
    assert [attributes(one)["bailiff.outcome"] for one in tries] == ["putOff", "deleted"]
    assert {parent_of(one) for one in (wait, *tries)} == {id_of(root)}
    # By the clock that was wrong it fell due long ago; its last attempt ended after 102 s.
    assert seconds(root) == pytest.approx(seconds(wait) + 102, abs=1)


async def test_one_that_never_began_is_no_trace():
    seen = InMemory()
    world = tainted(tracer=seen.tracer)
    world.add_pod("pod", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(10)
        world.taint("n1")
        await asyncio.sleep(10)
    assert seen.names() == []


async def test_what_held_it_back_is_told_by_cause():
    seen = InMemory()
    world = tainted(tracer=seen.tracer, policies=Policies(pause=Pause(namespace="ops")))
    world.add_pod("pod")
    world.worker.set_pause(PauseNotice(by="anna s3cret"))
    async with world.running():
        await asyncio.sleep(60)
        assert seen.names() == []
        world.worker.set_pause(None)
        await asyncio.sleep(10)
    assert attributes(seen.one("wait")) == {"bailiff.held_by": "paused"}
    assert round(seconds(seen.one("wait"))) == 60
    assert "s3cret" not in seen.one("wait").to_json()


async def test_one_that_consent_holds_was_not_tried_and_its_wait_tells_of_the_budget():
    seen = InMemory()
    world = sharing(pods="abc", tracer=seen.tracer)
    async with world.running():
        await asyncio.sleep(200)
    assert sorted(world.order()) == ["a", "b", "c"]
    tries = [one for one in seen.spans() if one.name == "attempt"]
    assert [attributes(one)["bailiff.outcome"] for one in tries] == ["deleted"] * 3
    assert [attributes(one)["bailiff.attempt"] for one in tries] == [1, 1, 1]
    waits = [one for one in seen.spans() if one.name == "wait"]
    assert [attributes(one).get("bailiff.held_by") for one in waits] == [None, None, "over_time"]
    assert [seconds(one) > 60 for one in waits] == [False, False, True]


async def test_one_whose_counts_hang_is_no_failed_attempt():
    seen = InMemory()
    world = sharing(pods="a", tracer=seen.tracer)
    world.counts.latency = 9999.0
    async with world.running():
        await asyncio.sleep(600)
    assert seen.names() == []


async def test_what_held_it_between_two_tries_is_told_of_the_eviction():
    seen = InMemory()
    world = tainted(tracer=seen.tracer)
    world.failures = [DisruptionBudgetError("no", status=429)]
    world.add_pod("pod")
    async with world.running():
        await asyncio.sleep(60)
    assert attributes(seen.one("wait")) == {}
    assert attributes(seen.one("evict"))["bailiff.held_by"] == "budget"


async def test_the_event_is_within_the_attempt_that_it_tells_of(monkeypatch):
    seen = InMemory()
    within = []
    world = tainted(tracer=seen.tracer)
    record = world.record

    async def noted(*told):
        within.append(seen.tracer.ids())
        await record(*told)

    monkeypatch.setattr(world, "record", noted)
    world.add_pod("pod")
    async with world.running():
        await asyncio.sleep(30)
    attempt = seen.one("attempt")
    assert within == [{"trace_id": trace_of(attempt), "span_id": id_of(attempt)}]


async def test_what_waits_for_days_holds_a_few_characters_and_no_span():
    seen = InMemory()
    world = tainted(tracer=seen.tracer)
    world.failures = [ForbiddenError("no", status=403)] * 1000
    world.add_pod("pod")
    async with world.running():
        await asyncio.sleep(timedelta(days=1).total_seconds())
        (eviction,) = world.worker.pending
        assert isinstance(eviction, Eviction)
        assert eviction.trace is not None
        assert len(eviction.trace.reserved) == 55
        assert world.worker.teller.traces is not None
        assert world.worker.teller.traces._running == {}


async def test_off_nothing_is_kept_and_nobody_is_told():
    world = World()
    assert world.worker.teller.traces is None
