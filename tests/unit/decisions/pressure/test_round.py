"""Rounds one after the other: grace periods, conditions, measurements, clocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from bailiff.decisions.pressure.state import PressureState
from bailiff.kinds import decode
from tests.unit.decisions.pressure.scene import CAPACITY, Node, pod, threshold


def test_a_hard_threshold_evicts_at_once_and_one_pod_a_round() -> None:
    node = Node(threshold(100))
    assert node.gone(0, available=99) == ["a"]
    assert node.gone(10, available=99) == ["a"]
    assert node.gone(20, available=100) == []


def test_by_one_measurement_nobody_goes_twice() -> None:
    node = Node(threshold(100))
    assert node.gone(0, available=99) == ["a"]
    assert node.gone(1, available=99, measured_at=0) == []
    assert node.gone(2, available=99, measured_at=1) == ["a"]


def test_a_soft_threshold_waits_and_begins_anew_after_a_break() -> None:
    node = Node(threshold(100, seconds=30))
    assert node.gone(0, available=50) == []
    assert node.gone(29.999, available=50) == []
    assert node.gone(30, available=50) == ["a"]
    assert node.gone(40, available=500) == []
    assert node.gone(50, available=50) == []
    assert node.gone(79, available=50) == []
    assert node.gone(80, available=50) == ["a"]


def test_a_minimum_reclaim_keeps_a_threshold_met() -> None:
    node = Node(threshold(100, reclaim=50))
    assert node.gone(0, available=149) == []
    assert node.gone(10, available=99) == ["a"]
    assert node.gone(20, available=149) == ["a"]
    assert node.gone(30, available=150) == []
    assert node.gone(40, available=149) == []


def test_a_condition_holds_for_the_transition_period() -> None:
    node = Node(threshold(100, seconds=1000), transition=60)
    assert node.round(0, 50).conditions == ("MemoryPressure",)
    assert node.round(10, 500).conditions == ("MemoryPressure",)
    assert node.round(59.999, 500).conditions == ("MemoryPressure",)
    assert node.round(60, 500).conditions == ()
    # From when it was last observed, not first.
    assert node.round(70, 50).conditions == ("MemoryPressure",)
    assert node.round(100, 50).conditions == ("MemoryPressure",)
    assert node.round(159, 500).conditions == ("MemoryPressure",)
    assert node.round(160, 500).conditions == ()


@pytest.mark.parametrize(
    ("most", "own", "given"), [(0, 30, 1), (-1, None, 1), (60, None, 60), (60, 30, 30), (60, 0, 1)]
)
def test_a_soft_threshold_gives_a_grace_period_of_at_least_a_second(
    most: int, own: int | None, given: int
) -> None:
    node = Node(threshold(100, seconds=1), most_grace=most)
    node.pods = [pod("a", grace=own)]
    node.round(0, 50)
    (victim,) = node.round(1, 50).victims
    assert victim.grace_period_seconds == given


def test_critical_pods_stay_and_the_next_one_goes() -> None:
    node = Node(threshold(100))
    node.pods.append(pod("critical", priority=2 * 10**9))
    node.used["critical"] = CAPACITY
    assert node.gone(0, available=1) == ["a"]
    node.pods = [node.pods[-1]]
    planned = node.round(10, 1)
    assert (planned.victims, planned.starved) == ((), node.settings.thresholds[0])


def test_a_clock_that_is_put_back_neither_evicts_early_nor_stalls() -> None:
    node = Node(threshold(100, seconds=30))
    node.round(1000, 50)
    assert node.gone(0, available=50) == []
    assert node.gone(29, available=50) == []
    assert node.gone(30, available=50) == ["a"]


def test_a_hard_threshold_does_not_wait_for_a_clock_that_was_put_back() -> None:
    node = Node(threshold(100))
    node.round(1000, 50)
    assert node.gone(0, available=50, measured_at=1001) == ["a"]


def test_the_state_survives_being_handed_over_as_json() -> None:
    node = Node(threshold(100, seconds=30, reclaim=5))
    node.round(0, 50)
    node.state = decode(json.encode(node.state), PressureState)
    assert node.gone(30, available=50) == ["a"]


AVAILABLE = st.integers(0, 300)


@given(st.lists(AVAILABLE, max_size=8), AVAILABLE, st.integers(0, 40))
def test_a_round_without_news_changes_nothing_but_what_time_changes(
    history: list[int], last: int, later: int
) -> None:
    node = Node(threshold(100), threshold(200, seconds=30, reclaim=20))
    for number, available in enumerate(history):
        node.round(10 * number, available)
    at = 10 * len(history)
    before = node.round(at, last)
    after = node.round(at + later, last, measured_at=at)
    assert after.victims == ()
    assert after.starved is None
    kept = [(one.threshold, one.first_observed_at) for one in before.state.thresholds]
    now = [(one.threshold, one.first_observed_at) for one in after.state.thresholds]
    assert now == kept
    assert after.state.signals == before.state.signals


@given(st.lists(st.tuples(st.integers(1, 60), AVAILABLE), min_size=1, max_size=12))
def test_nobody_goes_before_a_threshold_was_met_for_its_grace_period(
    steps: list[tuple[int, int]],
) -> None:
    node = Node(threshold(100, seconds=45))
    at, since = 0, None
    for seconds, available in steps:
        at += seconds
        since = None if available >= 100 else at if since is None else since
        expected = since is not None and at - since >= 45
        assert bool(node.gone(at, available)) is expected


def test_a_clock_that_is_put_back_ends_a_condition_in_time() -> None:
    node = Node(threshold(100), transition=60)
    node.round(1000, 50)
    assert node.round(0, 500).conditions == ("MemoryPressure",)
    assert node.round(60, 500).conditions == ()
