"""When a node may be judged again after an eviction, and how old what its kubelet tells is."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
import pytest

from bailiff.clock import Moment
from bailiff.decisions import Finding
from bailiff.decisions.pressure.findings import unmeasured
from bailiff.decisions.pressure.report import PressureReport
from bailiff.decisions.pressure.state import PressureState
from bailiff.kinds import ObjectMeta, Pod, PodStatus
from bailiff.kinds.stats import NodeStats, Summary
from bailiff.worker.systems.pressure.watched_node import WatchedNode
from tests.harness.clocks import START


def stats(at: datetime = START) -> NodeStats:
    return msgspec.convert({"memory": {"time": at.isoformat()}}, NodeStats)


@pytest.fixture
def node() -> WatchedNode:
    return WatchedNode("n1", "uid-n1")


def test_nobody_is_judged_while_an_attempt_is_under_way(node):
    node.began("u1")
    assert not node.may_be_judged()
    node.failed("u1")
    assert node.may_be_judged()


def test_nobody_is_judged_while_whoever_was_evicted_leaves(node):
    node.began("u1")
    node.evicted("u1", 100.0, grace=5)
    assert not node.may_be_judged()
    node.leaving.look({"u1"}, {"u1"}, Moment(START, 135.0))
    assert node.may_be_judged()


@pytest.mark.parametrize("behind", [-3600, 0, 50])
def test_the_age_of_stats_counts_by_our_own_time_once_they_have_moved(node, behind):
    """Whatever the node's clock says: the first summary alone is held against ours."""
    first = START - timedelta(seconds=behind)
    assert node.age(stats(at=first), START, 1000.0) == max(0, behind)
    moved = first + timedelta(seconds=10)
    assert node.age(stats(at=moved), START + timedelta(seconds=10), 1010.0) == 0
    assert node.age(stats(at=moved), START + timedelta(seconds=70), 1070.0) == 60


def test_of_several_measurements_the_oldest_counts(node):
    body = {
        "node": {
            "nodeName": "n1",
            "memory": {"time": START.isoformat()},
            "fs": {"time": (START - timedelta(seconds=40)).isoformat()},
            "runtime": {"imageFs": {"time": (START - timedelta(seconds=90)).isoformat()}},
        }
    }
    assert node.age(msgspec.convert(body, Summary).node, START, 1000.0) == 90


def test_stats_without_any_time_have_no_age(node):
    assert node.age(NodeStats(), START, 5.0) == 0.0


def chosen(*uids: str) -> dict[str, Finding]:
    return {uid: unmeasured("stands for any") for uid in uids}


def test_who_was_chosen_with_a_pod_goes_though_that_one_has_gone(node):
    node.victims = chosen("u1", "u2")
    node.began("u1")
    node.evicted("u1", 100.0)
    assert set(node.victims) == {"u2"}


def test_who_is_gone_before_its_eviction_is_answered_is_not_waited_for(node):
    node.began("u1")
    node.gone("u1", START)
    node.evicted("u1", 100.0)
    assert node.may_be_judged()


def chooses_two(node: WatchedNode) -> None:
    """A round has chosen u1 and u2, and the eviction of u1 has begun."""
    node.leaving.find([], START, 90.0)
    take(node, PressureState())
    node.victims = chosen("u1", "u2")
    node.began("u1")


def evicted(uid: str) -> Pod:
    """As a kubelet, or our own write, leaves it."""
    status = PodStatus(phase="Failed", reason="Evicted")
    return Pod(metadata=ObjectMeta(uid=uid), status=status)


def test_what_a_kubelet_has_chosen_by_the_same_numbers_ends_our_choice(node):
    chooses_two(node)
    node.see(evicted("u3"), 100.0)
    # What is under way cannot be called back.
    assert set(node.victims) == {"u1"}


def test_our_own_write_is_no_kubelets_choice(node):
    """It may be seen before it is answered; whoever was chosen with the pod still goes."""
    chooses_two(node)
    node.see(evicted("u1"), 100.0)
    assert set(node.victims) == {"u1", "u2"}
    node.evicted("u1", 100.0)
    node.see(evicted("u1"), 101.0)
    assert set(node.victims) == {"u2"}


def take(node: WatchedNode, left: PressureState) -> None:
    report = PressureReport(conditions=(), thresholds=(), next=left)
    node.take(report, {}, unmeasured(""), by_hard=False, elapsed=0.0)


def test_a_cool_down_begins_when_a_pod_has_gone_and_not_when_it_was_chosen(node):
    take(node, PressureState(last_eviction_at=START))
    assert node.state.last_eviction_at is None
    node.cools_from(START)
    take(node, PressureState(last_eviction_at=START))
    assert node.state.last_eviction_at == START
    # The round after has chosen somebody, who has not gone yet.
    take(node, PressureState(last_eviction_at=START + timedelta(seconds=10)))
    assert node.state.last_eviction_at == START


def test_a_cool_down_that_is_said_to_begin_in_the_future_begins_with_the_first_round(node):
    node.state = PressureState(last_eviction_at=START + timedelta(hours=1))
    take(node, PressureState(last_eviction_at=START))
    assert node.state.last_eviction_at == START
