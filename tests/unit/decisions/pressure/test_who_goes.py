"""Which pods of a node are weighed, and which are spared whatever the pressure."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.pressure.admission import AdmissionRule, admit
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
