"""What no kubelet does: each setting by itself, off where nothing is said."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions.pressure.configuring import read_configuration
from bailiff.decisions.pressure.round import Reclaimed
from bailiff.kinds import Pod
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.stats import MemoryStats, StallAverages, StallInformation
from tests.unit.decisions.pressure.scene import (
    CAPACITY,
    NOTHING_OF_THE_KUBELET,
    START,
    Node,
    extensions,
    pod,
    settings,
    threshold,
)


def extended(hard: dict[str, str] | None = None, **fields: Any) -> Node:
    """A node whose kubelet has such thresholds, with these extensions."""
    node = Node()
    node.settings = settings(hard, **fields)
    return node


def ending(one: Pod, *, seconds: float) -> Pod:
    """The same pod, gone so many seconds after START at the latest."""
    at = START + timedelta(seconds=seconds)
    return replace(one, metadata=replace(one.metadata, deletion_timestamp=at))


def saying(one: Pod, what: str) -> Pod:
    said = replace(one.metadata.annotations, evict_among_equals=what)
    return replace(one, metadata=replace(one.metadata, annotations=said))


# Dry runs.


def test_a_dry_run_tells_who_would_go_and_does_nothing() -> None:
    node = extended({"memory.available": "100"}, dryRunHard=["memory.available"])
    planned = node.round(0, 50)
    assert (planned.victims, planned.conditions, planned.starved) == ((), (), None)
    (dry,) = planned.dry_runs
    assert [one.pod.metadata.name for one in dry.victims] == ["a"]


def test_a_dry_run_keeps_no_other_threshold_from_evicting() -> None:
    hard = {"memory.available": "100", "pid.available": "1"}
    node = extended(hard, dryRunHard=["pid.available"])
    assert node.gone(0, available=50) == ["a"]
    assert node.round(10, 50).dry_runs == ()


def test_hard_and_soft_thresholds_of_one_signal_are_told_apart() -> None:
    configuration = replace(
        NOTHING_OF_THE_KUBELET,
        eviction_hard={"memory.available": "10"},
        eviction_soft={"memory.available": "100"},
        eviction_soft_grace_period={"memory.available": "30s"},
    )
    node = Node()
    node.settings = read_configuration(
        configuration, extensions=extensions(dryRunSoft=["memory.available"])
    ).settings
    node.round(0, 50)
    planned = node.round(30, 50)
    assert planned.victims == ()
    assert [one.threshold.grace_period_nanoseconds for one in planned.dry_runs] == [30 * 10**9]
    assert node.gone(40, available=5) == ["a"]


def test_what_is_said_of_memory_holds_for_that_of_all_pods_together() -> None:
    configuration = KubeletConfiguration(eviction_hard={"memory.available": "100"})
    found = read_configuration(
        configuration,
        extensions=extensions(dryRunHard=["memory.available"], stopAt={"memory.available": "200"}),
    )
    assert [(one.dry_run, one.stop_at is not None) for one in found.settings.thresholds] == [
        (True, True),
        (True, True),
    ]


# When it is over.


def test_who_went_for_a_threshold_is_followed_until_enough_is_available() -> None:
    node = extended({"memory.available": "100"}, stopAt={"memory.available": "30%"})
    assert node.gone(0, available=299) == []
    assert node.gone(10, available=99) == ["a"]
    assert node.gone(20, available=299) == ["a"]
    assert node.gone(30, available=300) == []
    assert node.gone(40, available=299) == []


def test_of_a_minimum_reclaim_and_a_lower_threshold_the_farther_counts() -> None:
    one = replace(threshold(100, reclaim=50), stop_at=threshold(120).value)
    assert one.amount(CAPACITY, reclaimed=True) == 150 * 10**9
    assert replace(one, min_reclaim=None).amount(CAPACITY, reclaimed=True) == 120 * 10**9


def test_a_threshold_that_is_not_set_any_more_evicts_nobody() -> None:
    node = Node(threshold(100, reclaim=500))
    assert node.gone(0, available=50) == ["a"]
    node.settings = replace(node.settings, thresholds=(threshold(10),))
    assert node.gone(10, available=50) == []


# As many as are needed.


def crowd(**fields: Any) -> Node:
    """Three pods of 100 above what they have asked for, and one of none."""
    node = extended({"memory.available": "200"}, **fields)
    node.pods = [pod(name) for name in ("a", "b", "c", "idle")]
    node.used = {"a": 100, "b": 90, "c": 80, "idle": 0}
    return node


def test_as_many_go_as_free_what_is_missing() -> None:
    node = crowd(releaseTarget={})
    assert node.gone(0, available=199) == ["a"]
    assert node.gone(10, available=100) == ["a"]
    assert node.gone(20, available=99) == ["a", "b"]
    assert node.gone(30, available=1) == ["a", "b", "c"]


def test_not_more_than_are_allowed_in_a_round() -> None:
    node = crowd(releaseTarget={"atMost": 2})
    assert node.gone(0, available=1) == ["a", "b"]


def test_the_target_is_where_it_is_over() -> None:
    node = crowd(releaseTarget={}, stopAt={"memory.available": "290"})
    assert node.gone(0, available=195) == ["a"]
    assert node.gone(10, available=189) == ["a", "b"]


def test_who_frees_nothing_stays() -> None:
    node = crowd(releaseTarget={})
    node.pods.append(pod("lowest", priority=-1))
    node.used["lowest"] = 0
    node.pods[0] = pod("a", priority=-1)
    node.used["a"] = 1
    # By rank `lowest` comes before b and c only where they are within their requests.
    node.pods[1:3] = [pod("b", request=90), pod("c", request=80)]
    assert node.gone(0, available=1) == ["a", "b", "c"]


@pytest.mark.parametrize(("seconds", "goes"), [(30, []), (3600, ["a"])])
def test_for_a_stall_one_goes_and_is_waited_for(seconds: float, goes: list[str]) -> None:
    node = extended(evictionHard={"memory.psi.some": "10%"}, releaseTarget={})
    node.pods = [pod("a"), ending(pod("b"), seconds=seconds)]
    node.used = {"a": 9, "b": 1}
    stalled = StallInformation(some=StallAverages(avg10=11))
    told = node.summary(500, 0)
    memory = replace(told.node.memory or MemoryStats(), psi=stalled)
    planned = node.plan(0, replace(told, node=replace(told.node, memory=memory)))
    assert [one.pod.metadata.name for one in planned.victims] == goes
    assert planned.conditions == ("MemoryPressure",)


def test_who_is_ending_is_waited_for() -> None:
    node = crowd(releaseTarget={})
    node.pods[1] = ending(node.pods[1], seconds=30)
    planned = node.round(0, 110)
    assert (planned.victims, planned.releasing) == ((), 90)
    # What is missing beyond that is taken from others.
    assert node.gone(10, available=109) == ["a"]


@given(
    st.lists(st.tuples(st.integers(-1, 300), st.booleans(), st.booleans()), max_size=8),
    st.integers(0, 400),
    st.integers(1, 4),
)
def test_no_more_go_than_are_needed(
    pods: list[tuple[int, bool, bool]], available: int, most: int
) -> None:
    node = extended({"memory.available": "300"}, releaseTarget={"atMost": most})
    node.pods, node.used = [], {}
    for number, (used, is_ending, is_critical) in enumerate(pods):
        one = pod(f"p{number}", priority=2 * 10**9 if is_critical else 0)
        node.pods.append(ending(one, seconds=9) if is_ending else one)
        if used >= 0:
            node.used[f"p{number}"] = used
    gone = node.gone(0, available=available)
    leaving = sum(max(used, 0) for used, is_ending, _ in pods if is_ending)
    missing = 300 - available - leaving
    freed = [node.used.get(name) for name in gone]
    # Each but the last is measured, and leaves something missing.
    assert all(freed[:-1])
    assert not gone or missing > sum(one or 0 for one in freed[:-1])
    assert len(gone) <= most
    by_name = {f"p{number}": one for number, one in enumerate(pods)}
    assert not any(by_name[name][1] or by_name[name][2] for name in gone)
    # Who could have freed something stays only where enough goes, or as many as may.
    able = {n for n, (used, ends, vital) in by_name.items() if used and not ends and not vital}
    enough = sum(one or 0 for one in freed) >= missing or None in freed or len(gone) == most
    assert missing <= 0 or enough or able <= set(gone)


def test_who_is_ending_is_not_chosen_again() -> None:
    node = crowd(releaseTarget={})
    node.pods[0] = ending(node.pods[0], seconds=30)
    assert node.gone(0, available=1) == ["b", "c"]


@pytest.mark.parametrize(
    ("seconds", "goes"), [(61, ["a"]), (60, []), (0, []), (-29.9, []), (-30, ["a"])]
)
def test_who_takes_long_to_end_or_hangs_is_a_candidate(seconds: float, goes: list[str]) -> None:
    node = crowd(releaseTarget={})
    node.pods[0] = ending(node.pods[0], seconds=seconds)
    assert node.gone(0, available=110) == goes


def test_after_a_pod_of_which_nothing_was_measured_the_next_measurement_is_waited_for() -> None:
    node = crowd(releaseTarget={})
    del node.used["b"]
    assert node.gone(0, available=1) == ["b"]


def test_without_a_target_a_pod_that_is_ending_is_a_candidate_as_any_other() -> None:
    node = crowd()
    node.pods[0] = ending(node.pods[0], seconds=1)
    assert node.gone(0, available=1) == ["a"]


# Cool-down.


def test_after_an_eviction_nobody_goes_for_the_cool_down() -> None:
    node = extended({"memory.available": "100"}, coolDown="30s")
    assert node.gone(0, available=50) == ["a"]
    planned = node.round(29.999, 50)
    assert (planned.victims, planned.cools_down) == ((), True)
    assert planned.conditions == ("MemoryPressure",)
    assert node.gone(30, available=50) == ["a"]
    assert node.gone(59, available=50) == []


def test_a_cool_down_that_begins_in_the_future_begins_now() -> None:
    node = extended({"memory.available": "100"}, coolDown="30s")
    node.state = replace(node.state, last_eviction_at=START + timedelta(hours=1))
    assert node.gone(0, available=50) == []
    assert node.gone(29, available=50) == []
    assert node.gone(30, available=50) == ["a"]


# First or last among equals.


@pytest.mark.parametrize(
    ("honoured", "order"),
    [(True, ["over", "first", "none", "odd", "last", "important"]), (False, None)],
)
def test_pods_say_who_goes_first_among_equals(honoured: bool, order: list[str] | None) -> None:
    node = extended({"memory.available": "100"}, orderAmongEquals=honoured)
    node.pods = [
        saying(pod("important", priority=1, request=100), "first"),
        saying(pod("last", request=100), "last"),
        saying(pod("odd", request=100), "LAST"),
        pod("none", request=100),
        saying(pod("first", request=100), "first"),
        saying(pod("over"), "last"),
    ]
    node.used = {"important": 9, "last": 90, "odd": 80, "none": 81, "first": 1, "over": 1}
    ranking = node.round(0, 50).ranking
    assert ranking is not None
    names = [one.metadata.name for one in ranking.pods]
    assert names == (order or ["over", "last", "none", "odd", "first", "important"])
    if honoured:
        assert [one.decided_by for one in ranking.candidates] == [
            "ExceedsRequest",
            "Order",
            "Usage",
            "Order",
            "Priority",
            "Last",
        ]


def test_without_a_cool_down_nothing_is_remembered_of_one() -> None:
    node = extended({"memory.available": "100"})
    node.state = replace(node.state, last_eviction_at=START)
    assert node.gone(0, available=50) == ["a"]
    assert node.state.last_eviction_at is None


def test_a_threshold_that_only_tells_is_none_that_reclaim_has_to_help() -> None:
    hard = {"memory.available": "100", "nodefs.available": "100"}
    node = extended(hard, dryRunHard=["memory.available"])
    full = node.with_disk(node.summary(50, 0), available=50)
    freed = node.with_disk(node.summary(50, 0), available=500)
    planned = node.plan(0, full, after=Reclaimed(freed))
    assert (planned.relieved, planned.victims) == (True, ())
