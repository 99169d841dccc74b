"""Who is waited for after an eviction, and for how long."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bailiff.clock import Moment
from bailiff.decisions.pressure.report import PressureReport
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.state import PressureState, SignalState
from bailiff.kinds import ObjectMeta, Pod, PodStatus
from bailiff.worker.systems.pressure.leaving import Leaving
from tests.harness.clocks import START


def evicted(uid: str, ends_in: float | None = None) -> Pod:
    """A pod that lies there evicted; deleted as well, where it ends in so many seconds."""
    at = None if ends_in is None else START + timedelta(seconds=ends_in)
    metadata = ObjectMeta(uid=uid, deletion_timestamp=at)
    return Pod(metadata=metadata, status=PodStatus(phase="Failed", reason="Evicted"))


@pytest.fixture
def leaving() -> Leaving:
    return Leaving()


@pytest.mark.parametrize(
    ("present", "measured", "elapsed", "waits"),
    [
        ({"u1"}, {"u1"}, 129.9, True),
        ({"u1"}, {"u1"}, 130.0, False),
        (set(), {"u1"}, 101.0, False),
        ({"u1"}, set(), 101.0, False),
    ],
    ids=["still there", "for half a minute", "gone from the API", "uses nothing"],
)
def test_until_the_pod_has_left(leaving, present, measured, elapsed, waits):
    leaving.add("u1", 100.0, grace=0)
    leaving.look(present, measured, Moment(START, elapsed))
    assert bool(leaving) is waits


@pytest.mark.parametrize(("grace", "until"), [(60, 190), (-5, 130), (10**9, 100 + 3600 + 30)])
def test_the_grace_period_that_it_was_given_comes_first(leaving, grace, until):
    leaving.add("u1", 100.0, grace)
    leaving.look({"u1"}, {"u1"}, Moment(START, until - 0.1))
    assert leaving
    leaving.look({"u1"}, {"u1"}, Moment(START, until))
    assert not leaving


def test_a_pod_that_leaves_without_a_trace_is_waited_for_no_more(leaving):
    leaving.add("u1", 100.0, grace=0)
    leaving.forget("u1")
    assert not leaving


def test_whoever_was_evicted_before_the_first_look_is_waited_for_while_it_is_measured(leaving):
    leaving.find([evicted("u1", ends_in=20), evicted("u2"), evicted("u3")], START, 100.0)
    leaving.look({"u1", "u2", "u3"}, {"u1", "u2"}, Moment(START, 110.0))
    assert ("u1" in leaving, "u2" in leaving, "u3" in leaving) == (True, True, False)
    leaving.look({"u1", "u2"}, {"u1", "u2"}, Moment(START, 131.0))
    assert ("u1" in leaving, "u2" in leaving) == (True, False)


def test_only_the_first_look_finds_them(leaving):
    leaving.find([], START, 100.0)
    leaving.find([evicted("u1")], START, 110.0)
    assert not leaving


def test_what_lies_there_is_news_once(leaving):
    assert leaving.is_news("u1")
    assert not leaving.is_news("u1")
    leaving.forget("u1")
    assert leaving.is_news("u1")


def test_of_pods_that_have_left_nothing_is_kept(leaving):
    """A worker runs for months, and evicts many."""
    for number in range(10):
        leaving.find([evicted(f"lies-{number}")], START, 100.0)
        leaving.is_news(f"news-{number}")
        leaving.add(f"measured-{number}", 100.0, grace=0)
        leaving.add(f"unmeasured-{number}", 100.0, grace=0, measured=False)
    for uid in [*leaving._until, *leaving._seen]:
        leaving.forget(uid)
    leaving.look(set(), set(), Moment(START, 110.0))
    assert not any((leaving._until, leaving._seen, leaving._unmeasured))


def test_whoever_was_not_measured_is_waited_for_once(leaving):
    leaving.add("u1", 100.0, grace=0, measured=False)
    leaving.look({"u1"}, set(), Moment(START, 110.0))
    assert leaving
    leaving.look(set(), set(), Moment(START, 120.0))
    # It is tried once more, and has been measured meanwhile.
    leaving.add("u1", 130.0, grace=0)
    leaving.look({"u1"}, set(), Moment(START, 131.0))
    assert not leaving


@pytest.mark.parametrize(("measured", "before"), [(-1, True), (2, True), (3, False)])
def test_once_a_pod_has_left_what_was_measured_before_counts_no_more(leaving, measured, before):
    signal = Signal.MEMORY_AVAILABLE
    seen = SignalState(signal=signal, time=START + timedelta(seconds=measured))
    state = PressureState(signals=(seen,))
    report = PressureReport(conditions=(), thresholds=(), next=state, starved=signal)
    leaving.add("u1", 100.0, grace=0)
    leaving.look(set(), set(), Moment(START, 110.0))
    assert leaving.was_measured_before(report) is before
    assert not leaving.was_measured_before(report)
