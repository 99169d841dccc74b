"""What a question takes grows with what it is about, and no faster, and was counted before.

Calls of functions are counted, not seconds, so that a busy machine changes nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.pressure import configuring, local_storage, ranking
from bailiff.decisions.pressure.configuration import ThresholdReader
from bailiff.decisions.pressure.signals import EXTRA_SIGNALS
from bailiff.decisions.question import Plan
from bailiff.kinds import decode
from bailiff.kinds.quantity import parse_quantity

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DISK = {"availableBytes": 1, "capacityBytes": 10**15, "inodesFree": 1, "inodes": 10**15}
OWN = {"memory": {"workingSetBytes": 9}, "rootfs": {"usedBytes": 9}, "logs": {"usedBytes": 9}}
# A container that uses more than it asks for, and less than it may.
ASKED = {"resources": {key: {"memory": "1", "cpu": "1"} for key in ("requests", "limits")}}
LIMITED = {"resources": {"limits": {"ephemeral-storage": "1Gi"}}}


def containers(number: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"name": f"c-{place}", **ASKED, **fields} for place in range(number)]


def volumes(number: int) -> dict[str, Any]:
    names = [f"v-{place}" for place in range(number)]
    return {
        "spec": {"volumes": [{"name": one, "emptyDir": {"sizeLimit": "1Gi"}} for one in names]},
        "stats": {"volume": [{"name": one, "usedBytes": 1} for one in names]},
    }


def granted(number: int) -> dict[str, Any]:
    asked = {"allocatedResources": {"memory": "2"}}
    told = [{"name": f"c-{place}", **asked} for place in range(number)]
    return {"spec": {"containers": containers(number)}, "status": {"containerStatuses": told}}


def measured(number: int) -> dict[str, Any]:
    stats = [{"name": f"c-{place}", **OWN} for place in range(number)]
    return {"spec": {"containers": containers(number)}, "stats": {"containers": stats}}


# A pod that is large in one way.
PODS: dict[str, Callable[[int], dict[str, Any]]] = {
    "containers": lambda number: {"spec": {"containers": containers(number)}},
    "init containers": lambda number: {"spec": {"initContainers": containers(number)}},
    "sidecars": lambda number: {
        "spec": {"initContainers": containers(number, restartPolicy="Always")}
    },
    "sidecars with limits": lambda number: {
        "spec": {"initContainers": containers(number, restartPolicy="Always", **LIMITED)}
    },
    "limits": lambda number: {"spec": {"containers": containers(number, **LIMITED)}},
    "volumes": volumes,
    "granted": granted,
    "measured": measured,
    "tolerations": lambda number: {
        "spec": {"tolerations": [{"key": f"k-{place}"} for place in range(number)]}
    },
}


def node_of(*pods: dict[str, Any], signal: str, **known: Any) -> dict[str, Any]:
    """All that can be low is; of the kubelet's thresholds that of one signal is set."""
    told = [
        {
            "metadata": {"name": f"p-{place}", "namespace": "d", "uid": f"u-{place}"},
            "spec": {"nodeName": "n", **one.get("spec", {})},
            "status": one.get("status", {}),
        }
        for place, one in enumerate(pods)
    ]
    stats = [
        {"podRef": {"uid": f"u-{place}"}, **OWN, "ephemeral-storage": OWN["logs"]}
        | one.get("stats", {})
        for place, one in enumerate(pods)
    ]
    stalled = {"psi": {kind: {"avg10": 99.9} for kind in ("some", "full")}}
    memory = {"availableBytes": 1, "workingSetBytes": 2**40, **stalled}
    swap = {"swapAvailableBytes": 1, "swapUsageBytes": 2**50}
    node = {"nodeName": "n", "memory": memory, "fs": DISK, "swap": swap, "io": stalled}
    summary = {"node": node | {"cpu": stalled, "runtime": {"imageFs": DISK}}, "pods": stats}
    facts = {"summary": summary, "kubeletVersion": "v1.37.1", **known}
    facts["configuration"] = {"evictionHard": {signal: "99%"}}
    return {"pods": told, "pressure": facts}


def counted(name: str, body: dict[str, Any]) -> tuple[int, int]:
    """How many functions were called to answer a question, and the steps that were counted."""
    question = SYSTEMS.questions[name]
    facts = decode(json.dumps(body).encode(), question.facts)
    calls = 0

    def see(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    # Else it counts what the questions before have left to remember.
    parse_quantity.cache_clear()
    before = sys.getprofile()
    sys.setprofile(see)
    try:
        plan: Plan[Any] = question.plan(facts, NOW, Options())
        plan.answer()
    finally:
        sys.setprofile(before)
    return calls, plan.steps


SIGNALS = ["memory.available", "nodefs.available", "nodefs.inodesFree"]
# A step is half a microsecond, in which no more functions are called.
CALLS = 10


@pytest.mark.parametrize("signal", SIGNALS)
@pytest.mark.parametrize("large", sorted(PODS))
def test_a_pod_that_is_twice_as_large_takes_twice_the_work(large: str, signal: str) -> None:
    few, _ = counted("planPressureRound", node_of(PODS[large](300), signal=signal))
    many, steps = counted("planPressureRound", node_of(PODS[large](600), signal=signal))
    assert many <= 2.1 * few
    assert many <= CALLS * steps


def test_twice_as_many_pods_take_twice_the_work() -> None:
    one = measured(2)
    few, _ = counted("planPressureRound", node_of(*[one] * 200, signal="memory.available"))
    many, steps = counted("planPressureRound", node_of(*[one] * 400, signal="memory.available"))
    # They are sorted, too.
    assert many <= 2.2 * few
    assert many <= CALLS * steps


@pytest.mark.parametrize("large", sorted(PODS))
def test_thresholds_that_only_tell_are_counted_too(large: str) -> None:
    extra = sorted(signal.value for signal in EXTRA_SIGNALS)
    extensions = {
        "evictionHard": dict.fromkeys(extra, "1%") | {"swap.available": "99%"},
        "releaseTarget": {"atMost": 10},
        "dryRunHard": ["memory.available", *extra],
    }
    body = node_of(*[PODS[large](60)] * 3, signal="memory.available", extensions=extensions)
    calls, steps = counted("planPressureRound", body)
    assert calls <= CALLS * steps


@pytest.mark.parametrize("large", sorted(PODS))
def test_an_admission_is_counted_too(large: str) -> None:
    few, many = (
        {"pod": node_of(PODS[large](number), signal="memory.available")["pods"][0]}
        for number in (300, 600)
    )
    pressed = {"conditions": ["MemoryPressure"]}
    calls, _ = counted("admitUnderPressure", few | pressed)
    more, steps = counted("admitUnderPressure", many | pressed)
    assert more <= 2.1 * calls
    assert more <= CALLS * steps


def test_a_configuration_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    body = node_of(measured(1), signal="memory.available")
    body["pressure"]["configuration"] = {"evictionHard": {"memory.available": "12345Ki"}}
    read: list[str] = []
    real = ThresholdReader.read

    def see(self: ThresholdReader, hard: Mapping[str, str], *others: Any) -> Any:
        read.append(hard["memory.available"])
        return real(self, hard, *others)

    monkeypatch.setattr(ThresholdReader, "read", see)
    # The second is equal and not the same, as where two nodes have one configuration.
    for _ in range(2):
        counted("planPressureRound", body)
    assert read == ["12345Ki"]


def test_one_that_is_too_long_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuring, "_LONGEST", 0)
    before = configuring._read_once.cache_info()
    counted("planPressureRound", node_of(signal="memory.available"))
    assert configuring._read_once.cache_info() == before


def test_a_calm_round_looks_at_no_container(monkeypatch: pytest.MonkeyPatch) -> None:
    body = node_of(granted(2), signal="pid.available")
    looked: list[str] = []
    for place in (ranking, local_storage):
        monkeypatch.setattr(place, "as_allocated", lambda pod: looked.append(pod.metadata.name))
    counted("planPressureRound", body)
    assert looked == []
