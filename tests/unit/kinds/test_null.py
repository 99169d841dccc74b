"""Null is the zero value where Go has one, for bytes and for what YAML says alike."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest

from bailiff.decisions import OptionOverrides
from bailiff.decisions.node_taints.change import PreviewTaintChangeRequest, TaintSelector
from bailiff.decisions.policies.settings import Policies
from bailiff.kinds import (
    DecodeError,
    Device,
    DeviceTaint,
    ObjectMeta,
    Pod,
    PodSpec,
    ResourceSlice,
    ResourceSliceSpec,
    Toleration,
    decode,
    decode_yaml_value,
)
from bailiff.kinds.lenient import lenient

SELECTORS = {
    "namespaceSelector": {"matchLabels": None},
    "podSelector": {"matchLabels": {"a": None}},
}


def both(value: object, kind: Any) -> Any:
    """What bytes and parsed YAML come to, which is the same."""
    found = decode(msgspec.json.encode(value), kind)
    assert decode_yaml_value(value, kind) == found
    return found


@pytest.mark.parametrize(
    ("written", "kind", "same"),
    [
        ({"metadata": None, "spec": {"nodeName": None}, "status": None}, Pod, Pod()),
        (
            {"spec": {"tolerations": [None, {"key": "a", "tolerationSeconds": None}]}},
            Pod,
            Pod(spec=PodSpec(tolerations=(Toleration(), Toleration(key="a")))),
        ),
        ({"spec": {"tolerations": None, "priority": None}}, Pod, Pod()),
        (
            {"metadata": {"labels": {"a": None, "b": "c"}}},
            Pod,
            Pod(metadata=ObjectMeta(labels={"a": "", "b": "c"})),
        ),
        ({"metadata": {"labels": None, "annotations": None}}, Pod, Pod()),
        (
            {"spec": {"devices": [None, {"taints": [None]}]}},
            ResourceSlice,
            ResourceSlice(
                spec=ResourceSliceSpec(devices=(Device(), Device(taints=(DeviceTaint(),))))
            ),
        ),
        ({"explain": None}, OptionOverrides, OptionOverrides()),
        ([None], tuple[Toleration, ...], (Toleration(),)),
        ([None, "a"], tuple[str, ...], ("", "a")),
        ({"a": None}, dict[str, tuple[int, ...]], {"a": ()}),
        ({"a": [None, 5]}, dict[str, tuple[int, ...]], {"a": (0, 5)}),
        ({"a": {"b": None}}, dict[str, object], {"a": {"b": None}}),
    ],
)
def test_null_is_the_zero_value(written: object, kind: Any, same: object) -> None:
    assert both(written, kind) == same


def test_an_empty_label_value_selects_those_that_have_it_empty() -> None:
    exclude = both({"exclude": SELECTORS}, Policies).exclude
    assert exclude.pod_selector.match_labels == {"a": ""}
    assert exclude.namespace_selector.match_labels == {}


@pytest.mark.parametrize(
    ("written", "kind", "path", "reason"),
    [
        ({"exclude": {"namespaces": [None]}}, Policies, "$.exclude.namespaces[0]", "regex"),
        ({"windows": [None]}, Policies, "$.windows[0].start", "required, and missing or null"),
        ({"blastRadus": None}, Policies, "$.blastRadus", "unknown field, allowed are evi"),
        ({"key": None}, TaintSelector, "$.key", "required, and missing or null"),
        (
            {"pods": [], "node": None},
            PreviewTaintChangeRequest,
            "$.node",
            "required, and missing or null",
        ),
        ({"metadata": None, "spec": {"nodeName": 5}}, Pod, "$.spec.nodeName", "got `int`"),
        (None, Pod, "$", "Expected `object`, got `null`"),
        ([None], tuple[bytes, ...], "$[0]", "got `null`"),
    ],
)
def test_what_null_cannot_stand_for_is_named(
    written: object, kind: Any, path: str, reason: str
) -> None:
    with pytest.raises(DecodeError, match=reason) as caught:
        decode(msgspec.json.encode(written), kind)
    assert caught.value.path == path
    assert not caught.value.malformed
    with pytest.raises(DecodeError) as caught:
        decode_yaml_value(written, kind)
    assert caught.value.path == path


def test_only_known_fields_are_looked_at() -> None:
    """Python's own functions are counted: the decoder skips what it does not know without any."""

    def calls(unknown: bytes) -> int:
        data = b'{"spec":{"tolerations":[null]},"x":%s}' % unknown
        decode(data, Pod)
        count = 0

        def tell(_frame: object, event: str, _arg: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(tell)
        try:
            decode(data, Pod)
        finally:
            sys.setprofile(None)
        return count

    assert calls(b"[" + b"null,[]," * 10_000 + b"{}]") < calls(b"[]") + 1000


def test_what_is_no_type_of_json_is_read_as_it_is() -> None:
    kind = int | str
    assert lenient(kind).type is kind
    assert both(5, kind) == 5
