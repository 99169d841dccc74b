"""No answer is longer than was counted before any of it was made."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.pressure.signals import EXTRA_SIGNALS
from bailiff.kinds import decode

NOW = datetime(2026, 1, 1, tzinfo=UTC)
# As long as they may be, of a character that JSON writes as six.
LABEL, NAME = "\x01" * 63, "\x01" * 240
EXTRA = sorted(signal.value for signal in EXTRA_SIGNALS)
DISK = {"availableBytes": 1, "capacityBytes": 10**15, "inodesFree": 1, "inodes": 10**15}


def pods(number: int, containers: int) -> list[dict[str, Any]]:
    asked = [{"name": f"{LABEL[:60]}{n}", "resources": {}} for n in range(containers)]
    limited = {"name": LABEL, "emptyDir": {"sizeLimit": "123456789123456789m"}}
    return [
        {
            "metadata": {"name": f"{NAME}{n}", "namespace": LABEL, "uid": f"{NAME}{n}"},
            "spec": {"nodeName": "n", "containers": asked, "volumes": [limited]},
        }
        for n in range(number)
    ]


def summary(told: list[dict[str, Any]], *, over: bool, each: int = 2**62 + 1) -> dict[str, Any]:
    used = {"workingSetBytes": each}
    stats = [
        {
            "podRef": {"uid": one["metadata"]["uid"]},
            "memory": used,
            "swap": {"swapUsageBytes": each},
            "containers": [{"name": c["name"], "memory": used} for c in one["spec"]["containers"]],
            "volume": [{"name": LABEL, "usedBytes": 2**60}] if over else [],
        }
        for one in told
    ]
    memory = {"availableBytes": 1, "workingSetBytes": 2**62}
    node = {"nodeName": "n", "memory": memory, "fs": DISK, "rlimit": {"maxpid": 9, "curproc": 9}}
    return {"node": node | {"runtime": {"imageFs": DISK, "containerFs": DISK}}, "pods": stats}


@pytest.mark.parametrize("name", ["decideBatch", "planPressureRound"])
@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize(("number", "containers"), [(1, 0), (1, 200), (30, 3), (300, 1)])
@pytest.mark.parametrize("explain", [False, True])
def test_it_is_counted_as_long_as_it_gets(
    name: str, over: bool, number: int, containers: int, explain: bool
) -> None:
    told = pods(number, containers)
    hard = dict.fromkeys(("memory.available", "nodefs.available", "imagefs.available"), "99%")
    hard |= {"nodefs.inodesFree": "99%", "imagefs.inodesFree": "99%", "pid.available": "1"}
    known = {"summary": summary(told, over=over), "configuration": {"evictionHard": hard}}
    body = {"pods": told, "pressure": known, "options": {"explain": explain}}
    check_told(name, body)


@pytest.mark.parametrize("at_most", [1, 100])
@pytest.mark.parametrize("dry", [[], ["memory.available", *EXTRA]])
@pytest.mark.parametrize(("number", "containers"), [(1, 200), (30, 3), (100, 1), (300, 1)])
def test_as_long_as_it_gets_where_many_go_or_would(
    at_most: int, dry: list[str], number: int, containers: int
) -> None:
    told = pods(number, containers)
    # So little that all go that may.
    found = summary(told, over=False, each=2**54 + 1)
    stalled = {"psi": {kind: {"avg10": 99.9} for kind in ("some", "full")}}
    found["node"]["memory"] |= stalled
    found["node"] |= {"cpu": stalled, "io": stalled}
    found["node"] |= {"swap": {"swapAvailableBytes": 1, "swapUsageBytes": 2**50}}
    extensions = {
        "evictionHard": dict.fromkeys(EXTRA, "1%") | {"swap.available": "99%"},
        "releaseTarget": {"atMost": at_most},
        "dryRunHard": dry,
        "stopAt": dict.fromkeys(("memory.available", "swap.available"), "99%"),
    }
    configuration = {"evictionHard": {"memory.available": "99%"}}
    known = {"summary": found, "configuration": configuration, "extensions": extensions}
    report = check_told("planPressureRound", {"pods": told, "pressure": known})["report"]
    going = min(at_most, number)
    told_only = [len(one["victims"]) for one in report.get("dryRuns", ())]
    assert sorted(set(told_only), reverse=True)[:1] == ([going] if dry else [])
    assert len(report.get("victims", ())) == (0 if dry else going)


def check_told(name: str, body: dict[str, Any]) -> dict[str, Any]:
    question = SYSTEMS.questions[name]
    facts = decode(json.dumps(body).encode(), question.facts)
    plan = question.plan(facts, NOW, Options())
    answer = msgspec.json.encode(plan.answer())
    assert len(answer) <= plan.told
    found: dict[str, Any] = json.loads(answer)
    return found


def test_so_many_pods_with_a_trace_are_too_many() -> None:
    question = SYSTEMS.questions["decideBatch"]
    body = {"pods": pods(5000, 1), "pressure": {"summary": {}}, "options": {"explain": True}}
    facts = decode(json.dumps(body).encode(), question.facts)
    with pytest.raises(ValueError, match="ask in several questions, or without a trace"):
        question.plan(facts, NOW, Options())
