"""Objects beyond Kubernetes' own limits are left out, and those at the limit are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bailiff.cluster import Unreadable
from bailiff.cluster.limits import (
    MAX_ANNOTATIONS,
    MAX_DEVICE_TAINTS,
    MAX_DEVICES,
    MAX_OBJECT_BYTES,
    MAX_RESERVED_FOR,
    MAX_RESULTS,
    MAX_RULE_CONDITIONS,
    Refusal,
)
from bailiff.cluster.listing import decode_page
from bailiff.cluster.watch_events import decode_event
from bailiff.kinds import (
    DeviceTaintRule,
    Namespace,
    Node,
    Pod,
    ResourceClaim,
    ResourceSlice,
)

ZONE = "topology.kubernetes.io/zone"
TAINT = {"key": "k", "effect": "NoExecute"}


def annotated(name: str, length: int) -> dict[str, Any]:
    return {"metadata": {"annotations": {f"bailiff.dev/{name}": "x" * length}}}


def padded(size: int) -> dict[str, Any]:
    """An object that has so many bytes once it is named, within 100."""
    return {"spec": {"containers": [{"image": "x" * (size - 100)}]}}


def slices(devices: int = 1, taints: int = 1, generation: int = 0) -> dict[str, Any]:
    first = {"name": "d", "taints": [TAINT] * taints}
    others = [{"name": f"d{number}"} for number in range(devices - 1)]
    return {"spec": {"pool": {"generation": generation}, "devices": [*others, first]}}


def claims(results: int = 1, reserved: int = 1) -> dict[str, Any]:
    result = {"driver": "d", "pool": "p", "device": "d"}
    allocation = {"devices": {"results": [result] * results}}
    return {"status": {"allocation": allocation, "reservedFor": [{"uid": "u"}] * reserved}}


CASES = [
    pytest.param(
        Pod, padded(MAX_OBJECT_BYTES), padded(MAX_OBJECT_BYTES + 200), Refusal.TOO_LARGE,
        f"at most {MAX_OBJECT_BYTES}", id="bytes",
    ),
    pytest.param(
        Pod, annotated("do-not-evict", MAX_ANNOTATIONS),
        annotated("do-not-evict", MAX_ANNOTATIONS + 1), Refusal.TEXT_TOO_LONG,
        "$.metadata.annotations: 262145 characters", id="annotations of a pod",
    ),
    pytest.param(
        Node, annotated("taints-first-observed", MAX_ANNOTATIONS),
        annotated("taints-first-observed", MAX_ANNOTATIONS + 1), Refusal.TEXT_TOO_LONG,
        "$.metadata.annotations", id="annotations of a node",
    ),
    pytest.param(
        Node, {"metadata": {"labels": {ZONE: "z" * 63}}},
        {"metadata": {"labels": {ZONE: "z" * 64}}}, Refusal.TEXT_TOO_LONG,
        f"$.metadata.labels[{ZONE}]: 64 characters, at most 63", id="a zone",
    ),
    pytest.param(
        Namespace, {"metadata": {"labels": {"k" * 317: "v" * 63}}},
        {"metadata": {"labels": {"k": "v" * 64}}}, Refusal.TEXT_TOO_LONG,
        "a value of $.metadata.labels: 64", id="a label's value",
    ),
    pytest.param(
        Namespace, {}, {"metadata": {"labels": {"k" * 318: ""}}}, Refusal.TEXT_TOO_LONG,
        "a key of $.metadata.labels: 318", id="a label's key",
    ),
    pytest.param(
        Node, {"spec": {"taints": [{"key": "k" * 317, "value": "v" * 63}]}},
        {"spec": {"taints": [{"key": "k", "value": "v" * 64}]}}, Refusal.TEXT_TOO_LONG,
        "$.spec.taints[0].value: Expected `str` of length <= 63", id="a taint's value",
    ),
    pytest.param(
        ResourceSlice, slices(devices=MAX_DEVICES), slices(devices=MAX_DEVICES + 1),
        Refusal.TOO_MANY_ITEMS, "$.spec.devices: 129 items", id="devices",
    ),
    pytest.param(
        ResourceSlice, slices(2, taints=MAX_DEVICE_TAINTS), slices(2, taints=17),
        Refusal.TOO_MANY_ITEMS, "$.spec.devices[...].taints: 17 items", id="taints of a device",
    ),
    pytest.param(
        ResourceSlice, slices(generation=2**63 - 1), slices(generation=-1),
        Refusal.OUT_OF_RANGE, "$.spec.pool.generation: -1 is below 0", id="generation",
    ),
    pytest.param(
        ResourceClaim, claims(results=MAX_RESULTS), claims(results=MAX_RESULTS + 1),
        Refusal.TOO_MANY_ITEMS, "$.status.allocation.devices.results: 33", id="results",
    ),
    pytest.param(
        ResourceClaim, claims(reserved=MAX_RESERVED_FOR), claims(reserved=MAX_RESERVED_FOR + 1),
        Refusal.TOO_MANY_ITEMS, "$.status.reservedFor: 257 items", id="consumers",
    ),
    pytest.param(
        DeviceTaintRule, {"status": {"conditions": [{"type": "t"}] * MAX_RULE_CONDITIONS}},
        {"status": {"conditions": [{"type": "t"}] * 9}},
        Refusal.TOO_MANY_ITEMS, "$.status.conditions: 9 items", id="conditions of a rule",
    ),
]  # fmt: skip


def body(parts: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "one", "uid": "u", "resourceVersion": "7"} | parts.get("metadata", {})
    return parts | {"metadata": metadata}


def listed(kind: type[Any], parts: dict[str, Any]) -> Any:
    page = {"metadata": {"resourceVersion": "9"}, "items": [body({}), body(parts)]}
    found = decode_page(json.dumps(page, separators=(",", ":")).encode(), kind)
    # The other object of the page is there whatever becomes of this one.
    assert found.items[0].metadata.name == "one"
    return found.unreadable[0] if found.unreadable else found.items[1]


def watched(kind: type[Any], parts: dict[str, Any]) -> Any:
    line = {"type": "MODIFIED", "object": body(parts)}
    found: Any = decode_event(json.dumps(line, separators=(",", ":")).encode(), kind, lambda x: x)
    return found if isinstance(found, Unreadable) else found.object


@pytest.mark.parametrize("read", [listed, watched])
@pytest.mark.parametrize(("kind", "allowed", "beyond", "refusal", "words"), CASES)
def test_what_is_beyond_a_limit_is_left_out(kind, allowed, beyond, refusal, words, read) -> None:
    assert isinstance(read(kind, allowed), kind)
    found = read(kind, beyond)
    assert isinstance(found, Unreadable)
    assert (found.refusal, found.metadata.name, found.metadata.uid) == (refusal, "one", "u")
    assert words in found.reason


def test_what_cannot_be_decoded_is_no_refusal() -> None:
    found = watched(Pod, {"spec": {"nodeName": 5}})
    assert isinstance(found, Unreadable)
    assert found.refusal is None


def test_a_name_of_a_megabyte_is_cut_and_no_other_s() -> None:
    found = watched(Pod, {"metadata": {"name": "n" * 1_000_000, "namespace": "s" * 1_000_000}})
    assert isinstance(found, Unreadable)
    assert found.refusal is Refusal.TEXT_TOO_LONG
    assert found.metadata.name == f"{'n' * 253}…"
    assert found.metadata.namespace == f"{'s' * 253}…"


def test_the_last_state_of_one_that_is_deleted_may_be_beyond_them() -> None:
    line = {"type": "DELETED", "object": body(slices(devices=MAX_DEVICES + 1))}
    found = decode_event(json.dumps(line).encode(), ResourceSlice, lambda one: one)
    assert isinstance(found, Unreadable)
    assert (found.deleted, found.refusal) == (True, Refusal.TOO_MANY_ITEMS)
