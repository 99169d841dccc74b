"""A round that is carried out from outside the node: pods that are ending, hang, or are held."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.decisions.pressure.choosing import Outside
from bailiff.decisions.pressure.round import RoundPlan
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.thresholds import Threshold, ThresholdValue
from bailiff.kinds import Pod
from bailiff.kinds.pod_volumes import EmptyDir, Volume
from bailiff.kinds.stats import RlimitStats, Summary, VolumeStats
from tests.unit.decisions.pressure.scene import START, Node, ending, extended, pod, threshold

HARD = threshold(100)
# Met for long enough, with a grace period of a minute.
SOFT = threshold(100, seconds=1)


def outside(*held: str, now: float = 0) -> Outside:
    """So many seconds after START, where the policies hold pods of these names."""
    at = START + timedelta(seconds=now)
    return Outside(at, frozenset(f"u-{name}" for name in held))


def gone(node: Node, at: float = 0) -> list[str]:
    return node.gone(at, available=1)


@pytest.mark.parametrize(
    ("limit", "seconds", "goes"),
    [
        (HARD, 3600, ["a"]),
        (HARD, 3.1, ["a"]),
        (HARD, 3, []),
        (HARD, 0, []),
        (HARD, -29.9, []),
        (HARD, -30, ["b"]),
        (SOFT, 62.1, ["a"]),
        (SOFT, 62, []),
        (SOFT, -30, ["b"]),
    ],
)
def test_the_first_by_rank_that_is_ending(
    limit: Threshold, seconds: float, goes: list[str]
) -> None:
    """It is given less time, is waited for if it is nearly gone, and hangs after half a minute."""
    node = Node(limit, most_grace=60)
    node.outside = outside(now=10)
    node.pods[0] = ending(pod("a", grace=60), seconds=10 + seconds)
    if limit is SOFT:
        assert gone(node) == []
    assert gone(node, 10) == goes


@pytest.mark.parametrize(
    ("phase", "measured", "goes"),
    [("Pending", False, ["b"]), ("Running", False, []), ("Pending", True, [])],
)
def test_one_that_ends_before_it_began_to_run_keeps_nobody(
    phase: str, measured: bool, goes: list[str]
) -> None:
    """As one that waits for its image: nothing will be free when it is gone."""
    node = Node(HARD)
    node.outside = outside()
    one = ending(node.pods[0], seconds=3)
    node.pods[0] = replace(one, status=replace(one.status, phase=phase))
    node.used = {"a": 10, "b": 1} if measured else {"b": 1}
    assert gone(node) == goes


def test_a_grace_period_may_be_longer_than_any_time_that_is_told() -> None:
    node = Node(SOFT, most_grace=2**62)
    node.outside = outside()
    node.pods[0] = ending(pod("a", grace=2**62), seconds=3600)
    assert (gone(node), gone(node, 10)) == ([], [])


def test_that_it_is_nearly_gone_is_told() -> None:
    node = Node(HARD)
    node.outside = outside()
    node.pods[0] = ending(node.pods[0], seconds=3)
    assert node.round(0, 1).ends_first


def test_instants_of_the_api_server_go_by_the_wall_clock_alone() -> None:
    """An hour has been put right since the clock of rounds began."""
    node = Node(HARD)
    node.outside = outside(now=3600)
    node.pods[0] = ending(node.pods[0], seconds=3)
    assert gone(node) == ["b"]


@pytest.mark.parametrize(("seconds", "goes"), [(61, ["a"]), (30, []), (-29.9, []), (-30, ["b"])])
def test_with_a_release_target_who_hangs_is_no_candidate(seconds: float, goes: list[str]) -> None:
    node = extended({"memory.available": "100"}, releaseTarget={})
    node.outside = outside()
    node.used = {"a": 100, "b": 100}
    node.pods[0] = ending(node.pods[0], seconds=seconds)
    assert gone(node) == goes


def over_its_limit(one: Pod) -> Pod:
    """It may have a byte in its volume, of which it uses two."""
    volume = Volume(name="v", empty_dir=EmptyDir(size_limit="1"))
    return replace(one, spec=replace(one.spec, volumes=(volume,)))


def with_volumes(summary: Summary) -> Summary:
    volume = (VolumeStats(name="v", used_bytes=2),)
    return replace(summary, pods=tuple(replace(one, volume=volume) for one in summary.pods))


@pytest.mark.parametrize(
    ("over", "held", "goes"),
    [
        ("b", "", ["b"]),
        ("b", "b", ["b", "first"]),
        ("ab", "b", ["a", "b"]),
        (["first"], "", ["first"]),
        (["first"], ["first"], ["first"]),
    ],
    ids=["it goes alone", "held, it keeps nobody", "one of two is held", "the first", "not twice"],
)
def test_who_is_over_a_limit_of_its_own(
    over: str | list[str], held: str | list[str], goes: list[str]
) -> None:
    node = Node(HARD)
    node.outside = outside(*held)
    node.pods.append(pod("first", priority=-1))
    node.used["first"] = 10
    node.pods = [over_its_limit(one) if one.metadata.name in over else one for one in node.pods]
    planned = node.plan(0, with_volumes(node.summary(1, 0)))
    assert [one.pod.metadata.name for one in planned.victims] == goes


DISK = Threshold(signal=Signal.NODEFS_AVAILABLE, value=ThresholdValue(quantity="100"))
PIDS = Threshold(signal=Signal.PID_AVAILABLE, value=ThresholdValue(quantity="100"))


def low(node: Node, *, disk: int = 500, processes: int = 500) -> RoundPlan:
    """A round of a node with 1 byte of memory, and so much of the rest, where 100 are wanted."""
    seen = node.with_disk(node.summary(1, 0), disk)
    limit = RlimitStats(maxpid=1000, curproc=1000 - processes)
    return node.plan(0, replace(seen, node=replace(seen.node, rlimit=limit)))


def found(planned: RoundPlan) -> tuple[Signal | None, list[str]]:
    """What was acted upon, and who goes."""
    starved = planned.starved
    names = [one.pod.metadata.name for one in planned.victims]
    return None if starved is None else starved.signal, names


@pytest.mark.parametrize(
    ("from_outside", "starved", "goes"),
    [
        # A kubelet stays with the first.
        (None, Signal.MEMORY_AVAILABLE, []),
        (outside(), Signal.PID_AVAILABLE, ["a"]),
    ],
)
def test_where_nobody_can_go_for_the_first_the_next_does_not_wait(
    from_outside: Outside | None, starved: Signal, goes: list[str]
) -> None:
    node = extended({"memory.available": "100", "pid.available": "100"}, releaseTarget={})
    # With a release target nobody goes for memory who uses none. A process each has.
    node.outside, node.used = from_outside, {"a": 0, "b": 0}
    planned = low(node, processes=99)
    assert found(planned) == (starved, goes)


def test_where_nobody_can_go_for_any_the_first_is_told_of() -> None:
    node = Node(HARD, PIDS)
    node.outside = outside()._replace(refused=frozenset({"u-a", "u-b"}))
    planned = low(node, processes=1)
    assert found(planned) == (Signal.MEMORY_AVAILABLE, [])


@pytest.mark.parametrize(
    ("apart", "starved", "goes"),
    [(False, Signal.NODEFS_AVAILABLE, []), (True, Signal.PID_AVAILABLE, ["a"])],
)
def test_what_the_node_cannot_be_freed_for_keeps_nothing_else(
    apart: bool, starved: Signal, goes: list[str]
) -> None:
    node = Node(DISK, PIDS)
    node.outside = outside()._replace(only_without_reclaim=apart)
    node.reclaims = True
    planned = low(node, disk=1, processes=1)
    assert found(planned) == (starved, goes)
    # Nobody goes for the disk, and it is told of all the same.
    assert "DiskPressure" in planned.conditions


def test_where_the_node_cannot_be_freed_and_nothing_else_is_low_nobody_goes() -> None:
    node = Node(DISK, PIDS)
    node.outside, node.reclaims = outside()._replace(only_without_reclaim=True), True
    planned = low(node, disk=1)
    assert found(planned) == (None, [])
