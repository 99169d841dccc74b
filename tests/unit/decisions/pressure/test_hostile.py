"""Summaries that are wrong: an error that says where, and never an eviction by chance."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import SYSTEMS, FactsError, Options
from bailiff.kinds import DecodeError, decode

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


def ask(summary: object) -> Any:
    body = {"pods": PODS, "pressure": {"summary": summary}}
    return ROUND.ask(decode(json.dumps(body).encode(), ROUND.facts), NOW, Options())


def path_of_error(summary: object) -> str:
    """Where it says that the summary is wrong; where it does not, of the summary itself."""
    try:
        ask(summary)
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


@given(st.sampled_from(places(SUMMARY)))
def test_what_is_missing_evicts_nobody(at: tuple[Any, ...]) -> None:
    summary = json.loads(json.dumps(SUMMARY))
    part = summary
    for key in at[:-1]:
        part = part[key]
    del part[at[-1]]
    assert ask(summary).report.victims == ()
