"""The table of evictions: what it counts, and which of its entries have a timer."""

import asyncio

import msgspec

from bailiff.decisions import Verdict
from bailiff.decisions.node_taints.findings import NodeTaintEviction
from bailiff.kinds import Pod
from bailiff.worker.timers.eviction import Eviction
from bailiff.worker.timers.pending import PendingEvictions
from bailiff.worker.timers.states import State
from tests.harness.clocks import ManualClock
from tests.harness.kinds import pod_of

NOW = NodeTaintEviction(
    system="node-taints", verdict=Verdict.EVICT_NOW, reason="TaintNotTolerated", message=""
)


def changed(pod: Pod) -> Pod:
    return msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, resource_version="2")
    )


def begun(pending: PendingEvictions) -> Eviction:
    eviction = pending.take()
    assert eviction is not None
    return eviction


def table() -> tuple[PendingEvictions, ManualClock, Pod]:
    """With one entry, which is due."""
    clock = ManualClock()
    pending = PendingEvictions(clock, asyncio.Event())
    pod = pod_of("web", "n1", uid="uid-web")
    pending.schedule(pod, NOW)
    return pending, clock, pod


def test_news_of_a_pod_whose_eviction_is_held_sets_no_timer():
    pending, clock, pod = table()
    eviction = begun(pending)
    pending.settle_retry(eviction, "conflict", 5.0, until_news=True)
    clock.advance(5)
    assert pending.hand_over() is eviction
    pending.schedule(changed(pod), NOW)
    assert (eviction.state, pending.next_due()) == (State.HELD, None)
    assert pending.take() is None
    assert pending.retrying["conflict"] == 0


def test_news_of_a_pod_that_waits_for_them_ends_its_wait():
    pending, _clock, pod = table()
    eviction = begun(pending)
    pending.settle_retry(eviction, "conflict", 5.0, until_news=True)
    pending.schedule(pod, NOW)
    assert pending.take() is None
    pending.schedule(changed(pod), NOW)
    assert pending.take() is eviction
    assert pending.retrying["conflict"] == 0


def test_a_pod_that_was_missing_for_a_moment_while_its_eviction_ran_is_tried_again():
    pending, clock, pod = table()
    eviction = begun(pending)
    pending.forget(pod.metadata.uid)
    pending.schedule(pod, NOW)
    assert pending.settle_retry(eviction, "unreachable", 1.0)
    clock.advance(1)
    assert pending.take() is eviction
