"""Summaries that are wrong: an error that says where, and never an eviction by chance."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions import SYSTEMS, FactsError, Options
from bailiff.decisions.pressure.facts import FileSystemLayout
from bailiff.decisions.pressure.report import report_on
from bailiff.decisions.pressure.signals import STALLS as STALL_SIGNALS
from bailiff.decisions.pressure.state import PressureState
from bailiff.decisions.pressure.thresholds import ThresholdValue
from bailiff.kinds import DecodeError, decode
from bailiff.kinds.stats import MemoryStats, NodeStats, Summary
from tests.unit.decisions.pressure.scene import Node, threshold

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROUND = SYSTEMS.questions["planPressureRound"]
FS = {"availableBytes": 900, "capacityBytes": 1000, "inodesFree": 90, "inodes": 100}
SUMMARY: dict[str, Any] = {
    "node": {
        "nodeName": "n",
        "memory": {"time": "2025-12-31T23:59:59Z", "availableBytes": 2**30, "workingSetBytes": 5},
        "fs": FS,
        "runtime": {"imageFs": FS, "containerFs": FS},
        "rlimit": {"maxpid": 100, "curproc": 5},
    },
    "pods": [{"podRef": {"uid": "u"}, "memory": {"workingSetBytes": 7}, "containers": [{}]}],
}
STALLS = {"time": "2025-12-31T23:59:59Z", "psi": {"some": {"avg10": 1.5}, "full": {"avg10": 0.5}}}
SWAP = {"swapAvailableBytes": 2**30, "swapUsageBytes": 5}
MEASURED: dict[str, Any] = SUMMARY | {
    "node": SUMMARY["node"]
    | {"memory": SUMMARY["node"]["memory"] | STALLS | {"rssBytes": 5}, "swap": SWAP}
    | {"cpu": STALLS, "io": STALLS},
    "pods": [
        SUMMARY["pods"][0] | {"cpu": STALLS | {"usageNanoCores": 5}, "io": STALLS, "swap": SWAP}
    ],
}
# Everything that no kubelet does, of which nothing is met by what is measured.
EXTENSIONS = {
    "evictionHard": {"swap.available": "10%"}
    | dict.fromkeys(sorted(signal.value for signal in STALL_SIGNALS), "50%"),
    "stopAt": {"memory.available": "20%"},
    "dryRunHard": ["swap.available", "io.psi.full"],
    "releaseTarget": {},
    "coolDown": "1m",
    "orderAmongEquals": True,
    "memoryInUse": "RSS",
}
PODS = [{"metadata": {"uid": "u", "name": "web", "namespace": "d"}, "spec": {"nodeName": "n"}}]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def ask(summary: object, extensions: Any = None) -> Any:
    body = {"pods": PODS, "pressure": {"summary": summary, "extensions": extensions}}
    return ROUND.ask(decode(json.dumps(body).encode(), ROUND.facts), NOW, Options())


def path_of_error(summary: object, extensions: Any = None) -> str:
    """Where it says that the summary is wrong; where it does not, of the summary itself."""
    try:
        msgspec.json.encode(ask(summary, extensions))
    except (DecodeError, FactsError) as error:
        return error.path
    return "$.pressure.summary"


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where there is something in a summary."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [at] if at else []
    for key, part in inner if isinstance(value, dict | list) else ():
        found += places(part, (*at, key)) if isinstance(part, dict | list) else [(*at, key)]
    return found


def test_as_it_is_nobody_goes() -> None:
    assert ask(SUMMARY).report.victims == ()


@pytest.mark.parametrize("number", [2**63, 2**64, 10**30, -1, "5", True, 1.5, [], {}])
def test_a_wrong_number_is_refused_with_its_path(number: object) -> None:
    memory = {"availableBytes": number, "workingSetBytes": 5}
    with pytest.raises(DecodeError) as caught:
        ask({"node": {"memory": memory}})
    assert caught.value.path == "$.pressure.summary.node.memory.availableBytes"


@given(st.sampled_from(places(SUMMARY)), JSON)
def test_whatever_stands_anywhere_is_an_error_or_an_answer(at: tuple[Any, ...], put: Any) -> None:
    summary = json.loads(json.dumps(SUMMARY))
    part = summary
    for key in at[:-1]:
        part = part[key]
    part[at[-1]] = put
    assert path_of_error(summary).startswith("$.pressure.summary")


@given(st.sampled_from(places(MEASURED)), JSON | st.sampled_from([2**63 - 1, 1e308, -1e308]))
def test_so_it_is_with_all_that_no_kubelet_does(at: tuple[Any, ...], put: Any) -> None:
    summary = json.loads(json.dumps(MEASURED))
    part = summary
    for key in at[:-1]:
        part = part[key]
    part[at[-1]] = put
    assert path_of_error(summary, EXTENSIONS).startswith("$.pressure.summary")


def test_with_all_that_no_kubelet_does_nobody_goes_by_what_is_plenty() -> None:
    report = ask(MEASURED, EXTENSIONS).report
    assert (report.victims, report.dry_runs) == ((), ())
    assert len([one for one in report.thresholds if one.available is not None]) == 12


def test_what_is_beyond_all_bounds_is_told_as_the_greatest_number_that_can_be() -> None:
    """Protobuf has no greater one, and an answer that cannot be written is none."""
    most = 2**63 - 1
    pods = [
        {
            "metadata": {"uid": uid, "name": uid, "deletionTimestamp": "2026-01-01T00:00:09Z"},
            "spec": {
                "nodeName": "n",
                "containers": [{"name": "c", "resources": {"requests": {"cpu": "9E"}}}],
            },
        }
        for uid in "ab"
    ]
    memory = {"availableBytes": 0, "workingSetBytes": most}
    stats = [{"podRef": {"uid": uid}, "memory": {"workingSetBytes": most}} for uid in "ab"]
    summary = {"node": {"memory": memory}, "pods": stats}
    amount = {"memory.available": "8E"}
    known = {
        "summary": summary,
        "extensions": {"releaseTarget": {}},
        "configuration": {"evictionHard": amount, "evictionMinimumReclaim": amount},
    }
    body = json.dumps({"pods": pods, "pressure": known}).encode()
    found = ROUND.ask(decode(body, ROUND.facts), NOW, Options())
    assert found.report.releasing == most
    assert found.report.thresholds[0].to_free == most
    ranking = SYSTEMS.questions["rankForPressure"]
    body = json.dumps({"signal": "cpu.psi.some", "pods": pods, "summary": summary}).encode()
    first, _ = ranking.ask(decode(body, ranking.facts), NOW, Options()).candidates
    assert first.requested == most


@given(st.sampled_from(places(SUMMARY)))
def test_what_is_missing_evicts_nobody(at: tuple[Any, ...]) -> None:
    summary = json.loads(json.dumps(SUMMARY))
    part = summary
    for key in at[:-1]:
        part = part[key]
    del part[at[-1]]
    assert ask(summary).report.victims == ()


def test_of_a_capacity_beyond_all_bounds_nothing_less_than_nothing_is_to_be_freed() -> None:
    """Like upstream's, it comes out below zero, and so do the parts of it."""
    node = Node(replace(threshold(100), min_reclaim=ThresholdValue(percentage=0.5)))
    memory = MemoryStats(available_bytes=50, working_set_bytes=2**63 - 1)
    planned = node.plan(0, Summary(node=NodeStats(node_name="n", memory=memory)))
    layout = FileSystemLayout()
    (told,) = report_on(planned, PressureState(), "n", layout, derived=True).thresholds
    assert told.capacity is not None
    assert told.capacity < 0
    assert (told.met, told.to_free) == (True, 0)
