"""Which pods of a node are weighed, and which are spared whatever the pressure."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.pressure.admission import AdmissionRule, admit
from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.findings import threshold_steps
from bailiff.decisions.pressure.judging import PressureRound
from bailiff.decisions.pressure.report import ThresholdReport
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.thresholds import Threshold, ThresholdValue
from bailiff.decisions.system import Scene
from bailiff.kinds import Pod, decode

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LOW = {"memory": {"availableBytes": 1, "workingSetBytes": 10**9}}
STATIC = {"kubernetes.io/config.source": "file"}


def pod(name: str, *, phase: str = "Running", **more: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "d", "uid": name, **more.pop("metadata", {})}
    status = {"phase": phase, **more.pop("status", {})}
    return {"metadata": meta, "spec": {"nodeName": "n", **more}, "status": status}


def round_of(*pods: dict[str, Any], node: dict[str, Any], **stats: dict[str, Any]) -> Any:
    measured = [{"podRef": {"uid": uid}, **one} for uid, one in stats.items()]
    known = {"summary": {"node": node, "pods": measured}}
    question = SYSTEMS.questions["decideBatch"]
    body = {"pods": pods, "pressure": known}
    return question.ask(decode(json.dumps(body).encode(), question.facts), NOW, Options())


def gone(answer: Any) -> list[str]:
    return [one.pod.name for one in answer.reports.pressure.victims]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_pods_that_have_finished_are_no_candidates(phase: str) -> None:
    answer = round_of(pod("done", phase=phase), pod("web"), node=LOW)
    assert [one.pod.name for one in answer.reports.pressure.candidates] == ["web"]
    assert [one.reason for one in answer.decisions] == ["PodFinished", "NodePressure"]


def test_a_pod_that_is_being_deleted_is_one_and_nobody_else_goes_meanwhile() -> None:
    going = pod("going", metadata={"deletionTimestamp": "2026-01-01T00:00:30Z"})
    answer = round_of(going, pod("web"), node=LOW)
    assert gone(answer) == ["going"]
    assert [one.reason for one in answer.decisions] == ["PodTerminating", "RanksLater"]


def test_pods_are_ranked_by_what_they_have_been_granted() -> None:
    asked = {"name": "c", "resources": {"requests": {"memory": "1Gi"}}}
    granted = {"name": "c", "allocatedResources": {"memory": "1"}}
    resized = pod("resized", containers=[asked], status={"containerStatuses": [granted]})
    used = {"memory": {"workingSetBytes": 100}}
    answer = round_of(pod("web", containers=[asked]), resized, node=LOW, web=used, resized=used)
    assert gone(answer) == ["resized"]


MIB = 2**20


@pytest.mark.parametrize(
    ("signal", "amounts", "told"),
    [
        (
            Signal.MEMORY_AVAILABLE,
            (96 * MIB, 4096 * MIB, 404 * MIB),
            "memory.available: 96Mi of 4Gi are left, 404Mi are to be freed",
        ),
        (
            Signal.NODEFS_INODES_FREE,
            (96, 4096, 404),
            "nodefs.inodesFree: 96 of 4096 are left, 404 are to be freed",
        ),
        (
            Signal.MEMORY_FULL,
            (7450, 10_000, 550),
            "memory.psi.full: tasks waited 25.50% of the time, 5.50% too much",
        ),
    ],
)
def test_the_trace_tells_people_amounts_with_their_units(
    signal: Signal, amounts: tuple[int, int, int], told: str
) -> None:
    available, capacity, to_free = amounts
    report = ThresholdReport(
        threshold=Threshold(signal=signal, value=ThresholdValue(percentage=0.2)),
        met=True,
        available=available,
        capacity=capacity,
        to_free=to_free,
    )
    (step,) = threshold_steps((report,))
    assert step.message == told


def test_the_trace_says_what_is_not_measured_any_more() -> None:
    met = Threshold(signal=Signal.MEMORY_AVAILABLE, value=ThresholdValue(quantity="1"))
    (step,) = threshold_steps((ThresholdReport(threshold=met, met=True),))
    assert step.message == "memory.available: it was not measured"


def test_who_is_over_a_limit_goes_and_nobody_for_memory_in_the_same_round() -> None:
    scratch: dict[str, Any] = {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1"}}]}
    full = {"volume": [{"name": "v", "usedBytes": 2}]}
    told = [
        pod("a", **scratch),
        pod("critical", metadata={"annotations": STATIC}, **scratch),
        pod("b", **scratch),
        pod("web"),
    ]
    answer = round_of(*told, node=LOW, a=full, b=full, critical=full)
    assert gone(answer) == ["a", "b"]
    reasons = [one.reason for one in answer.decisions]
    assert reasons == [
        "StorageLimitExceeded",
        "CriticalPod",
        "StorageLimitExceeded",
        "WithinLimits",
    ]


@pytest.mark.parametrize(
    ("conditions", "spec", "rule"),
    [
        ([], {}, AdmissionRule.NO_PRESSURE),
        (["DiskPressure"], {"priority": 2 * 10**9}, AdmissionRule.CRITICAL_POD),
        (["MemoryPressure"], {}, AdmissionRule.UNDER_PRESSURE),
        (
            ["MemoryPressure"],
            {"containers": [{"resources": {"requests": {"cpu": "1"}}}]},
            AdmissionRule.NOT_BEST_EFFORT,
        ),
        (["MemoryPressure"], {"tolerations": [{"operator": "Exists"}]}, AdmissionRule.TOLERATED),
        (
            ["MemoryPressure", "PIDPressure"],
            {"tolerations": [{"operator": "Exists"}]},
            AdmissionRule.UNDER_PRESSURE,
        ),
    ],
)
def test_who_may_start(conditions: list[str], spec: dict[str, Any], rule: AdmissionRule) -> None:
    found = admit(decode(json.dumps({"spec": spec}).encode(), Pod), conditions)
    assert found.rule is rule
    assert found.admit is (rule is not AdmissionRule.UNDER_PRESSURE)


@pytest.mark.parametrize("full", [True, False], ids=["over a limit of its own", "by rank"])
def test_of_others_is_said_what_is_said_of_each(full: bool) -> None:
    scratch: dict[str, Any] = {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1"}}]}
    used = {"podRef": {"uid": "a"}, "volume": [{"name": "v", "usedBytes": 2 if full else 0}]}
    known = {"summary": {"node": LOW, "pods": [used]}}
    pods = tuple(decode(json.dumps(pod(name, **scratch)).encode(), Pod) for name in ("a", "web"))
    facts = decode(json.dumps(known).encode(), PressureFacts)
    planned = PressureRound(Scene(pods=pods, now=NOW), facts, Options())
    stays = [found for found in map(planned.of, pods) if found and not found.terms]
    assert [one.reason for one in stays] == [planned.of_others().reason]
