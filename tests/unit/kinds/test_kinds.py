"""An object of another kind is none of those that a caller may hand over."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest

from bailiff.decisions import SYSTEMS
from bailiff.kinds import (
    DecodeError,
    DeviceTaintRule,
    Node,
    Pod,
    ResourceClaim,
    ResourceSlice,
    decode,
    decode_yaml_value,
)

Facts, NodeFacts, DeviceTaintRuleFacts = (
    SYSTEMS.questions[name].facts for name in ("decide", "decideBatch", "previewDeviceTaintRule")
)
KINDS = (Pod, Node, ResourceClaim, ResourceSlice, DeviceTaintRule)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("said", [{}, {"kind": None}, {"kind": ""}, {"apiVersion": "v1"}, "own"])
def test_its_own_kind_or_none(kind: type[Any], said: Any) -> None:
    body = {"kind": kind.__name__} if said == "own" else said
    assert decode(msgspec.json.encode(body), kind) == kind()
    assert decode_yaml_value(body, kind) == kind()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("null", [{}, {"spec": None}], ids=["usual", "slow"])
def test_another_kind(kind: type[Any], null: dict[str, Any]) -> None:
    body = null | {"kind": f"{kind.__name__}List"}
    for refuse in (lambda: decode(msgspec.json.encode(body), kind), lambda: yaml(body, kind)):
        with pytest.raises(DecodeError) as caught:
            refuse()
        assert caught.value.path == "$.kind"
        assert caught.value.reason == f"expected {kind.__name__}, got {kind.__name__}List"


def yaml(body: object, kind: type[Any]) -> object:
    return decode_yaml_value(body, kind)


@pytest.mark.parametrize(
    ("kind", "body", "path"),
    [
        (Facts, {"pod": {"kind": "PodList"}}, "$.pod.kind"),
        (Facts, {"pod": {}, "node": {"kind": "Pod"}}, "$.node.kind"),
        (NodeFacts, {"node": {}, "pods": [{}, {"kind": "List"}]}, "$.pods[1].kind"),
        (DeviceTaintRuleFacts, {"rule": {"kind": "x" * 1000}}, "$.rule.kind"),
    ],
)
def test_its_place_is_named_and_little_of_it_quoted(
    kind: type[Any], body: dict[str, Any], path: str
) -> None:
    with pytest.raises(DecodeError, match="expected ") as caught:
        decode(msgspec.json.encode(body), kind)
    assert caught.value.path == path
    assert len(caught.value.reason) < 200


def test_a_kind_that_is_no_text() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(b'{"kind":5}', Pod)
    assert caught.value.path == "$.kind"


def test_a_mirrored_pod_does_not_store_it() -> None:
    words = len(Pod.__struct_fields__) + 2
    assert sys.getsizeof(decode(b'{"kind":"Pod"}', Pod)) <= 8 * words
