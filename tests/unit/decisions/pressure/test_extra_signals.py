"""Signals that no kubelet has, other ways to read those it has, and extensions that cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.decisions.cost import FactsError
from bailiff.decisions.pressure.configuring import read_configuration
from bailiff.decisions.pressure.extensions import MemoryAvailable
from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.judging import metering_of
from bailiff.decisions.pressure.layout import Layout
from bailiff.decisions.pressure.messages import pressure_message
from bailiff.decisions.pressure.observations import Metering, observe
from bailiff.decisions.pressure.ranking import rank
from bailiff.decisions.pressure.signals import EXTRA_SIGNALS, Signal
from bailiff.kinds import Node as NodeObject
from bailiff.kinds import Pod, decode
from bailiff.kinds.pod_resources import ResourceRequirements
from bailiff.kinds.stats import Summary
from tests.unit.decisions.pressure.scene import (
    NOTHING_OF_THE_KUBELET,
    START,
    extensions,
    pod,
    settings,
)

GI = 2**30


def summary(node: dict[str, Any]) -> Summary:
    return decode(json.dumps({"node": node}).encode(), Summary)


MEMORY = {"availableBytes": 3 * GI, "workingSetBytes": 5 * GI, "rssBytes": 2 * GI}
STALLS = {
    "some": {"avg10": 12.34, "avg60": 5, "avg300": 1},
    "full": {"avg10": 200, "avg60": 0, "avg300": -1},
}


def test_page_cache_counts_as_free_where_only_rss_is_in_use() -> None:
    told = summary({"memory": MEMORY, "systemContainers": [{"name": "pods", "memory": MEMORY}]})
    seen = observe(told, Metering(memory=extensions(memoryInUse="RSS").memory_in_use))
    for signal in (Signal.MEMORY_AVAILABLE, Signal.ALLOCATABLE_MEMORY_AVAILABLE):
        assert (seen[signal].available, seen[signal].capacity) == (6 * GI, 8 * GI)


def test_what_the_kernel_estimates_has_to_be_told() -> None:
    facts = PressureFacts(extensions=extensions(memoryInUse="MemAvailable"))
    with pytest.raises(FactsError) as refused:
        metering_of(facts)
    assert refused.value.path == "$.pressure.memAvailable"
    told = decode(b'{"availableBytes": 7, "time": "2026-01-01T00:00:00Z"}', MemoryAvailable)
    seen = observe(summary({"memory": MEMORY}), metering_of(replace(facts, mem_available=told)))
    one = seen[Signal.MEMORY_AVAILABLE]
    assert (one.available, one.capacity, one.time) == (7, 8 * GI, START)


HUGE = {"cpu": "4", "hugepages-2Mi": "1Gi", "hugepages-1Gi": "1Gi", "hugepages-64Ki": "much"}


@pytest.mark.parametrize(
    ("version", "gate", "left"),
    [("v1.36.2", None, 1), ("v1.37.0", None, 3), ("v1.37.1", False, 1), ("v1.38.0", True, 3)],
)
def test_huge_pages_are_taken_off_once(version: str, gate: bool | None, left: int) -> None:
    gates = {} if gate is None else {"HugepageAwareEviction": gate}
    facts = decode(
        json.dumps(
            {
                "kubeletVersion": version,
                "hugePagesBytes": 2 * GI,
                "configuration": {"featureGates": gates},
                "extensions": {"subtractHugePages": True},
            }
        ).encode(),
        PressureFacts,
    )
    seen = observe(summary({"memory": MEMORY}), metering_of(facts))
    one = seen[Signal.MEMORY_AVAILABLE]
    assert (one.available, one.capacity) == (left * GI, (left + 5) * GI)


def test_more_huge_pages_than_is_left_leave_nothing() -> None:
    seen = observe(summary({"memory": MEMORY}), Metering(huge_pages=4 * GI))
    one = seen[Signal.MEMORY_AVAILABLE]
    assert (one.available, one.capacity) == (0, 5 * GI)


@pytest.mark.parametrize(
    ("version", "size", "path"),
    [("", 0, "$.pressure.kubeletVersion"), ("v1.36.0", None, "$.pressure.hugePagesBytes")],
)
def test_of_huge_pages_version_and_size_have_to_be_told(
    version: str, size: int | None, path: str
) -> None:
    facts = PressureFacts(
        kubelet_version=version,
        huge_pages_bytes=size,
        extensions=extensions(subtractHugePages=True),
    )
    with pytest.raises(FactsError) as refused:
        metering_of(facts)
    assert refused.value.path == path


def test_of_a_node_all_sizes_of_huge_pages_count_and_what_is_no_quantity_is_none() -> None:
    node = decode(json.dumps({"status": {"capacity": HUGE}}).encode(), NodeObject)
    assert node.status.huge_pages == 2 * GI


@pytest.mark.parametrize(
    ("window", "some", "full"), [("10s", 1234, 10_000), ("60s", 500, 0), ("300s", 100, 0)]
)
def test_stalls_are_read_over_a_window(window: str, some: int, full: int) -> None:
    stalled = {"psi": STALLS}
    told = summary({"memory": MEMORY | stalled, "cpu": stalled, "io": stalled})
    seen = observe(told, Metering(window=extensions(stallWindow=window).stall_window))
    extra = [one for one in seen.values() if one.signal in EXTRA_SIGNALS]
    assert {one.signal: one.capacity - one.available for one in extra} == {
        signal: full if signal.endswith("full") else some
        for signal in EXTRA_SIGNALS - {Signal.SWAP_AVAILABLE}
    }


@pytest.mark.parametrize(("average", "left"), [("1e308", 0), ("-1e308", 10_000), ("0.004", 10_000)])
def test_a_stall_that_cannot_be_is_all_of_the_time_or_none(average: str, left: int) -> None:
    told = '{"node": {"memory": {"psi": {"some": {"avg10": AVERAGE}}}}}'
    seen = observe(decode(told.replace("AVERAGE", average).encode(), Summary))
    assert seen[Signal.MEMORY_SOME].available == left


def test_what_a_kubelet_does_not_measure_is_not_looked_at() -> None:
    assert not EXTRA_SIGNALS & observe(summary({"memory": MEMORY})).keys()


def test_a_stall_is_met_above_its_threshold_until_it_is_below_where_it_stops() -> None:
    (one,) = settings(
        evictionHard={"memory.psi.full": "20%"}, stopAt={"memory.psi.full": "5%"}
    ).thresholds
    met = [stall for stall in (1999, 2001) if 10_000 - stall < one.amount(10_000) / 10**9]
    assert met == [2001]
    over = [s for s in (499, 501) if 10_000 - s >= one.amount(10_000, reclaimed=True) / 10**9]
    assert over == [499]


# Who goes for them, and what is said.


def node_of(**told: dict[str, Any]) -> tuple[Summary, list[Pod]]:
    """Pods with what was measured of each, by name."""
    stats = [{"podRef": {"uid": f"u-{name}"}} | of for name, of in told.items()]
    pods = [pod(name, request=100) for name in told]
    return decode(json.dumps({"pods": stats}).encode(), Summary), pods


def order(signal: str, told: dict[str, dict[str, Any]], **fields: Any) -> list[tuple[str, int]]:
    measured, pods = node_of(**told)
    stats = {one.pod_ref.uid: one for one in measured.pods}
    found = rank(Signal(signal), Layout.SINGLE, pods, stats, extensions(**fields))
    return [(one.pod.name, one.used) for one in found.candidates]


def asking_for_cpu(name: str, cpu: str) -> Pod:
    one = pod(name)
    (container,) = one.spec.containers
    asked = replace(container, resources=ResourceRequirements(requests={"cpu": cpu}))
    return replace(one, spec=replace(one.spec, containers=(asked,)))


def test_for_swap_goes_who_has_most_of_it() -> None:
    told = {"a": {"swap": {"swapUsageBytes": 1}}, "b": {}, "c": {"swap": {"swapUsageBytes": 9}}}
    assert order("swap.available", told) == [("c", 9), ("a", 1), ("b", 0)]


def test_for_stalls_of_memory_goes_who_goes_for_memory() -> None:
    told = {
        "within": {"memory": {"workingSetBytes": 99, "rssBytes": 98}},
        "over": {"memory": {"workingSetBytes": 101, "rssBytes": 7}},
    }
    assert order("memory.psi.full", told) == [("over", 101), ("within", 99)]
    assert order("memory.psi.full", told, memoryInUse="RSS") == [("within", 98), ("over", 7)]


def test_for_stalls_of_input_and_output_goes_who_waits_most_for_it() -> None:
    told = {name: {"io": {"psi": {"some": {"avg60": at}}}} for name, at in (("a", 1), ("b", 2.5))}
    assert order("io.psi.some", told, stallWindow="60s") == [("b", 250), ("a", 100)]


def test_for_stalls_of_the_cpu_goes_who_uses_more_than_asked_for() -> None:
    measured, _ = node_of(
        modest={"cpu": {"usageNanoCores": 2 * 10**9}}, greedy={"cpu": {"usageNanoCores": 10**9}}
    )
    pods = [asking_for_cpu("modest", "2"), asking_for_cpu("greedy", "999m")]
    stats = {one.pod_ref.uid: one for one in measured.pods}
    found = rank(Signal.CPU_SOME, Layout.SINGLE, pods, stats)
    assert [(one.pod.name, one.exceeds_request, one.requested) for one in found.candidates] == [
        ("greedy", True, 999 * 10**6),
        ("modest", False, 2 * 10**9),
    ]


def test_a_stall_is_told_as_a_part_of_the_time() -> None:
    (one,) = settings(evictionHard={"memory.psi.some": "10%"}).thresholds
    told = summary({"memory": MEMORY | {"psi": STALLS}})
    why = pressure_message(pod("a"), None, one, observe(told)[Signal.MEMORY_SOME])
    assert why.message == (
        "Tasks on the node waited for memory: memory.psi.some of the last 10s is 12.34%, "
        "threshold 10.00%. "
    )


def test_who_used_more_anonymous_memory_than_asked_for_is_named_with_it() -> None:
    memory = {"workingSetBytes": 500, "rssBytes": 200}
    measured, pods = node_of(a={"containers": [{"name": "c", "memory": memory}]})
    (one,) = settings({"memory.available": "100"}).thresholds
    seen = observe(summary({"memory": MEMORY}))[Signal.MEMORY_AVAILABLE]
    told = pressure_message(pods[0], measured.pods[0], one, seen, extensions(memoryInUse="RSS"))
    assert "Container c was using 200, request is 100" in told.message


# Bad settings.

HARD_MEMORY, HARD_SWAP = 'evictionHard["memory.available"]', 'evictionHard["swap.available"]'
HARD_IO, GRACE_CPU = 'evictionHard["io.psi.full"]', 'evictionSoftGracePeriod["cpu.psi.some"]'


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"evictionHard": {"memory.available": "1Gi"}}, HARD_MEMORY, "UnknownSignal"),
        ({"evictionHard": {"swap.available": "-1"}}, HARD_SWAP, "NotPositive"),
        ({"evictionHard": {"io.psi.full": "1Gi"}}, HARD_IO, "MalformedPercentage"),
        ({"evictionHard": {"io.psi.full": "101%"}}, HARD_IO, "PercentageOutOfRange"),
        ({"evictionSoft": {"cpu.psi.some": "50%"}}, GRACE_CPU, "GracePeriodMissing"),
        ({"stopAt": {"nodefs.avail": "1"}}, 'stopAt["nodefs.avail"]', "UnknownSignal"),
        ({"stopAt": {"io.psi.some": "5"}}, 'stopAt["io.psi.some"]', "MalformedPercentage"),
        ({"coolDown": "soon"}, "coolDown", "MalformedDuration"),
        ({"coolDown": "-1s"}, "coolDown", "NegativeDuration"),
    ],
)
def test_what_is_wrong_in_extensions_is_told_with_its_field(
    fields: dict[str, Any], path: str, code: str
) -> None:
    (error,) = read_configuration(NOTHING_OF_THE_KUBELET, extensions=extensions(**fields)).errors
    assert (error.path, error.code) == (f"extensions.{path}", code)
