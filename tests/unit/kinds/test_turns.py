"""Read and written a part at a time, a question and its answer are what they are in one go."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given

from bailiff.decisions import SYSTEMS, Options
from bailiff.kinds import DecodeError, decode, turns
from bailiff.kinds.turns import decode_in_turns, encode_in_turns
from tests.harness.device_kinds import NOW

DEFAULT = Options()
ASKED = SYSTEMS.questions["decideBatch"]

NAMES = st.sampled_from(["a", "b", "", None, 7])
TAINT = st.fixed_dictionaries({}, optional={"key": NAMES, "effect": st.just("NoExecute")})
OBJECT = st.none() | st.fixed_dictionaries({}, optional={"name": NAMES})
POD = st.none() | st.fixed_dictionaries(
    {}, optional={"metadata": OBJECT, "spec": OBJECT | st.just({"nodeName": "n"}), "x": OBJECT}
)
DEVICES = st.fixed_dictionaries(
    {},
    optional={
        "resourceClaims": st.lists(POD, max_size=3),
        "resourceSlices": st.none() | st.lists(OBJECT, max_size=2),
    },
)
BODIES: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "pods": st.none() | st.lists(POD, max_size=4) | st.just({}),
        "node": st.none() | st.fixed_dictionaries({"spec": st.just({"taints": [{}]})}) | POD,
        "now": st.sampled_from([None, "2026-01-01T00:00:00Z", "soon"]),
        "systems": st.lists(NAMES, max_size=2),
        "deviceTaints": DEVICES | st.just([]),
    },
)


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_SMALL", 2)


def read(reading: Any, data: bytes) -> Any:
    try:
        return reading(data, ASKED.facts)
    except DecodeError as error:
        return error.path, error.reason, error.malformed


@given(BODIES | st.sampled_from([None, [], 1, "x"]))
def test_what_is_read_is_the_same_and_so_is_what_is_refused(body: Any) -> None:
    data = msgspec.json.encode(body)
    in_turns, whole = read(decode_in_turns, data), read(decode, data)
    # Of several things that are wrong, either may be told.
    assert in_turns == whole or (type(in_turns) is type(whole) is tuple)


@pytest.mark.parametrize(
    "body",
    [
        {"pods": [{}, {"metadata": {"name": 7}}]},
        {"pods": {}},
        {"pods": [7]},
        {"pods": [{"metadata": 7}]},
        {"pods": [{"metadata": {"labels": []}}]},
        {"pods": [{"metadata": {"generation": "many"}}]},
        {"pods": [{"metadata": {"deletionTimestamp": 7}}]},
        {"node": 7},
        {"options": []},
        {"now": "soon"},
        {"node": {"spec": {"taints": [{"key": 7}]}}},
        {"deviceTaints": []},
        {"deviceTaints": {"resourceClaims": [{}, {"status": []}]}},
        {"nodeTaints": {"firstObserved": [{}]}},
        {"options": {"explain": "yes"}},
        {"systems": ["a", 7]},
        {"sytems": []},
        {"deviceTaints": {"claims": []}},
        {"options": {"explan": True}},
        {"pods": [{}, {"kind": "PodList"}]},
        {"node": {"kind": "Pod"}},
        {"node": {"kind": 5}},
        {"deviceTaints": {"resourceClaims": [{"kind": "Secret"}]}},
    ],
    ids=str,
)
def test_one_thing_that_is_wrong_is_told_alike(body: Any) -> None:
    data = msgspec.json.encode(body)
    assert read(decode_in_turns, data) == read(decode, data)
    assert isinstance(read(decode, data), tuple)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[}",
        b'{"pods": [}',
        b'{"a": \xff}',
        b'{"pods": [{]}',
        b'{"sytems": [}',
        b'{"pods": [{"metadata": {"name": "\\x"}}]}',
        b'{"pods": [{"metadata": {"name": "\xff"}}]}',
        b'{"node": {"metadata": {"labels": {"a": "\xff"}}}}',
        b'{"pods": [{}], "options": {,}}',
    ],
)
def test_what_is_no_json_is_refused_alike(data: bytes) -> None:
    assert read(decode_in_turns, data) == read(decode, data)


def test_a_field_that_is_required_is_missed() -> None:
    preview = SYSTEMS.questions["previewTaintChange"].facts
    with pytest.raises(DecodeError) as caught:
        decode_in_turns(b'{"node": null, "pods": []}', preview)
    assert (caught.value.path, caught.value.reason) == ("$.node", "required, and missing or null")


def test_too_many_are_refused_before_any_is_read() -> None:
    data = b'{"deviceTaints": {"deviceTaintRules": [' + b",".join([b"7"] * 1001) + b"]}}"
    with pytest.raises(DecodeError) as caught:
        decode_in_turns(data, ASKED.facts)
    assert caught.value.path == "$.deviceTaints.deviceTaintRules"
    assert caught.value.reason == "Expected `array` of length <= 1000"


@pytest.mark.parametrize("number", [0, 1, 2, 3, 7])
def test_what_is_written_is_the_same(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_PART", 2)
    body = {
        "pods": [{"metadata": {"name": f"p{i}"}} for i in range(number)],
        "node": {"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}},
        "deviceTaints": {"resourceClaims": [{"metadata": {"name": f"c{i}"}} for i in range(5)]},
        "options": {"explain": True},
    }
    answer = ASKED.ask(decode(msgspec.json.encode(body), ASKED.facts), NOW, DEFAULT)
    assert msgspec.json.decode(encode_in_turns(answer)) == msgspec.json.decode(
        msgspec.json.encode(answer)
    )


def test_what_may_hold_too_many_values_is_refused_before_any_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "MAX_MARKS", 5)
    assert decode_in_turns(b'{"pods":[{},{}]}', ASKED.facts)
    with pytest.raises(DecodeError, match="too many values"):
        decode_in_turns(b'{"pods":[{},{},{}]}', ASKED.facts)
