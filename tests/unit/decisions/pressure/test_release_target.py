"""As many pods go in a round as free what is missing, and those that are ending count first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.kinds.stats import MemoryStats, StallAverages, StallInformation
from tests.unit.decisions.pressure.scene import Node, ending, extended, pod


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
