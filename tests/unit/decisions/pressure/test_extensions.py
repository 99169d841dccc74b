"""What no kubelet does: each setting by itself, off where nothing is said."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.decisions.pressure.configuring import read_configuration
from bailiff.decisions.pressure.round import Reclaimed
from bailiff.kinds import Pod
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from tests.unit.decisions.pressure.scene import (
    CAPACITY,
    NOTHING_OF_THE_KUBELET,
    START,
    Node,
    extended,
    extensions,
    pod,
    threshold,
)


def saying(one: Pod, what: str) -> Pod:
    said = replace(one.metadata.annotations, evict_among_equals=what)
    return replace(one, metadata=replace(one.metadata, annotations=said))


def reclaiming(**fields: Any) -> Node:
    """A node that is short below 100, and not any more from 400 on."""
    configuration = replace(
        NOTHING_OF_THE_KUBELET,
        eviction_hard={"memory.available": "100"},
        eviction_minimum_reclaim={"memory.available": "300"},
    )
    node = Node()
    node.settings = read_configuration(configuration, extensions=extensions(**fields)).settings
    return node


# Dry runs.


def test_a_dry_run_tells_who_would_go_and_does_nothing() -> None:
    node = extended({"memory.available": "100"}, dryRunHard=["memory.available"])
    planned = node.round(0, 50)
    assert (planned.victims, planned.conditions, planned.starved) == ((), (), None)
    (dry,) = planned.dry_runs
    assert [one.pod.metadata.name for one in dry.victims] == ["a"]


@pytest.mark.parametrize(
    ("named", "goes"),
    [({"dryRunSoft": ["memory.available"]}, []), ({"dryRunHard": ["memory.available"]}, ["a"])],
    ids=["among the soft ones", "among the hard ones"],
)
def test_a_dry_run_goes_by_where_a_threshold_is_written(
    named: dict[str, Any], goes: list[str]
) -> None:
    """A grace period of 0 makes a soft threshold act as a hard one, and no hard one of it."""
    configuration = replace(
        NOTHING_OF_THE_KUBELET,
        eviction_soft={"memory.available": "100"},
        eviction_soft_grace_period={"memory.available": "0s"},
    )
    node = Node()
    node.settings = read_configuration(configuration, extensions=extensions(**named)).settings
    assert node.gone(0, available=50) == goes


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


@pytest.mark.parametrize(
    "fields",
    [{"stopAt": {"memory.available": "500"}}, {}],
    ids=["a lower threshold", "a minimum reclaim"],
)
def test_what_a_dry_run_acted_upon_evicts_nobody_when_it_is_ended(fields: dict[str, Any]) -> None:
    node = reclaiming(dryRunHard=["memory.available"], **fields)
    assert len(node.round(0, 50).dry_runs) == 1
    node.settings = reclaiming(**fields).settings
    planned = node.round(10, 200)
    assert (planned.victims, planned.conditions, planned.starved) == ((), (), None)
    assert node.gone(20, available=50) == ["a"]
    assert node.gone(30, available=200) == ["a"]


def test_a_grace_period_begins_anew_when_a_dry_run_is_ended() -> None:
    soft = threshold(100, seconds=30)
    node = Node(replace(soft, dry_run=True))
    node.round(0, 50)
    node.settings = Node(soft).settings
    assert node.gone(30, available=50) == []
    assert node.gone(59, available=50) == []
    assert node.gone(60, available=50) == ["a"]


# When it is over.


def test_who_went_for_a_threshold_is_followed_until_enough_is_available() -> None:
    node = extended({"memory.available": "100"}, stopAt={"memory.available": "30%"})
    assert node.gone(0, available=299) == []
    assert node.gone(10, available=99) == ["a"]
    assert node.gone(20, available=299) == ["a"]
    assert node.gone(30, available=300) == []
    assert node.gone(40, available=299) == []


def test_who_frees_nothing_does_not_go_for_what_no_kubelet_would_act_upon() -> None:
    node = extended({"memory.available": "100"}, stopAt={"memory.available": "300"})
    node.used = {"a": 0, "b": 10}
    assert node.gone(0, available=99) == ["a"]
    # Not short any more, and not yet enough: who uses nothing cannot help.
    assert node.gone(10, available=100) == ["b"]
    node.used = {"a": 0, "b": 0}
    planned = node.round(20, 100)
    assert planned.victims == ()
    assert planned.starved is not None
    # As the kubelet does where it is short.
    assert node.gone(30, available=99) == ["a"]


def test_who_was_not_measured_may_free_something() -> None:
    node = extended({"memory.available": "100"}, stopAt={"memory.available": "300"})
    node.round(0, 99)
    node.used = {"b": 10}
    assert node.gone(10, available=200) == ["a"]


def test_within_a_minimum_reclaim_goes_whoever_the_kubelet_takes() -> None:
    node = reclaiming(stopAt={"memory.available": "500"})
    node.used = {"a": 0, "b": 10}
    assert node.gone(0, available=99) == ["a"]
    assert node.gone(10, available=149) == ["a"]
    assert node.gone(20, available=400) == ["b"]


def test_of_a_minimum_reclaim_and_a_lower_threshold_the_farther_counts() -> None:
    one = replace(threshold(100, reclaim=50), stop_at=threshold(120).value)
    assert one.amount(CAPACITY, reclaimed=True) == 150 * 10**9
    assert replace(one, min_reclaim=None).amount(CAPACITY, reclaimed=True) == 120 * 10**9


def test_a_threshold_that_is_not_set_any_more_evicts_nobody() -> None:
    node = Node(threshold(100, reclaim=500))
    assert node.gone(0, available=50) == ["a"]
    node.settings = replace(node.settings, thresholds=(threshold(10),))
    assert node.gone(10, available=50) == []


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
