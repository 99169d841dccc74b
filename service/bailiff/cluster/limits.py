"""Objects beyond Kubernetes' own limits, which no kube-apiserver would have stored.

Who answers us may be another server, one that somebody else has taken over, or one whose etcd was
written to behind its back. What it tells is read, and kept, for a whole cluster: so what exceeds
the limits of the API server's validation is left out like what cannot be decoded (see
`unreadable`), and counted by its reason. Lengths of names, keys, values and UIDs are those of the
types (`kinds.texts`); here is what no type can say. Where Kubernetes sets no limit but that of an
object's size, as for the taints of a node and the tolerations of a pod, there is none here either.

The numbers are those of Kubernetes 1.37; a contract test holds them against a real API server, so
that one which grows there is seen.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from bailiff.kinds import (
    LABEL_ZONE,
    DeviceTaintRule,
    Namespace,
    Node,
    Pod,
    ResourceClaim,
    ResourceSlice,
)
from bailiff.kinds.names import MAX_LABEL, MAX_QUALIFIED_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bailiff.kinds import Annotations

# etcd takes 1.5 MiB an object (DefaultMaxRequestBytes in its embed/config.go). Most is longer as
# JSON: of a text that is all control characters one byte becomes six.
MAX_OBJECT_BYTES = 6 * 1536 * 1024
# All annotations of an object (TotalAnnotationSizeLimitB in k8s.io/apimachinery,
# pkg/api/validation/objectmeta.go); of those that a rule reads.
MAX_ANNOTATIONS = 256 * 1024
# pkg/apis/resource/types.go: ResourceSliceMaxDevices, DeviceTaintsMaxLength,
# AllocationResultsMaxSize, ResourceClaimReservedForMaxSize, DeviceTaintRuleStatusMaxConditions.
MAX_DEVICES = 128
MAX_DEVICE_TAINTS = 16
MAX_RESULTS = 32
MAX_RESERVED_FOR = 256
MAX_RULE_CONDITIONS = 8


class Refusal(StrEnum):
    """Why an object is refused; the value is the metric label."""

    TOO_LARGE = "too_large"
    TEXT_TOO_LONG = "text_too_long"
    TOO_MANY_ITEMS = "too_many_items"
    OUT_OF_RANGE = "out_of_range"


class Excess(NamedTuple):
    """What of an object is beyond a limit; the words name the place."""

    refusal: Refusal
    words: str


def excess_of_size(size: int) -> Excess:
    """That so many bytes of JSON are more than an object may have."""
    return Excess(Refusal.TOO_LARGE, f"$: {size} bytes, at most {MAX_OBJECT_BYTES} are possible")


def excess_of(found: object) -> Excess | None:
    """What of a decoded object is beyond a limit; the first thing found. None: nothing.

    Of a pod it takes 0.2 us, where to decode one takes 8.
    """
    check = _CHECKS.get(type(found))
    return None if check is None else check(found)


def excess_of_text(words: str) -> Excess | None:
    """What a decoder's complaint says of a text that is longer than its type allows."""
    if not words.partition(": ")[2].startswith("Expected `str` of length <="):
        return None
    return Excess(Refusal.TEXT_TOO_LONG, words)


def _of_pod(pod: Pod) -> Excess | None:
    # Its labels are dropped, or compared with what people select by, who can name no longer ones.
    annotations = pod.metadata.annotations
    return None if annotations.do_not_evict is None else _annotations(annotations)


def _of_node(node: Node) -> Excess | None:
    zone = node.metadata.labels.get(LABEL_ZONE, "")
    if len(zone) > MAX_LABEL:
        return _long(f"$.metadata.labels[{LABEL_ZONE}]", len(zone), MAX_LABEL)
    return _annotations(node.metadata.annotations)


def _of_namespace(namespace: Namespace) -> Excess | None:
    labels = namespace.metadata.labels
    key, value = max(map(len, labels), default=0), max(map(len, labels.values()), default=0)
    if key > MAX_QUALIFIED_NAME:
        return _long("a key of $.metadata.labels", key, MAX_QUALIFIED_NAME)
    if value > MAX_LABEL:
        return _long("a value of $.metadata.labels", value, MAX_LABEL)
    return None


def _of_slice(one: ResourceSlice) -> Excess | None:
    spec = one.spec
    if spec.pool.generation < 0:
        words = f"$.spec.pool.generation: {spec.pool.generation} is below 0"
        return Excess(Refusal.OUT_OF_RANGE, words)
    if len(spec.devices) > MAX_DEVICES:
        return _too_many("$.spec.devices", len(spec.devices), MAX_DEVICES)
    most = max((len(device.taints) for device in spec.devices), default=0)
    if most > MAX_DEVICE_TAINTS:
        return _too_many("$.spec.devices[...].taints", most, MAX_DEVICE_TAINTS)
    return None


def _of_claim(claim: ResourceClaim) -> Excess | None:
    status = claim.status
    if len(status.reserved_for) > MAX_RESERVED_FOR:
        return _too_many("$.status.reservedFor", len(status.reserved_for), MAX_RESERVED_FOR)
    results = () if status.allocation is None else status.allocation.devices.results
    if len(results) > MAX_RESULTS:
        return _too_many("$.status.allocation.devices.results", len(results), MAX_RESULTS)
    return None


def _of_rule(rule: DeviceTaintRule) -> Excess | None:
    number = len(rule.status.conditions)
    if number > MAX_RULE_CONDITIONS:
        return _too_many("$.status.conditions", number, MAX_RULE_CONDITIONS)
    return None


def _annotations(annotations: Annotations) -> Excess | None:
    texts = (annotations.taints_first_observed, annotations.acknowledged_taints)
    number = sum(map(len, texts)) + len(annotations.do_not_evict or "")
    if number > MAX_ANNOTATIONS:
        return _long("$.metadata.annotations", number, MAX_ANNOTATIONS)
    return None


def _too_many(place: str, found: int, most: int) -> Excess:
    words = f"{place}: {found} items, at most {most} are allowed"
    return Excess(Refusal.TOO_MANY_ITEMS, words)


def _long(place: str, found: int, most: int) -> Excess:
    words = f"{place}: {found} characters, at most {most} are allowed"
    return Excess(Refusal.TEXT_TOO_LONG, words)


_CHECKS: Mapping[type, Callable[[Any], Excess | None]] = {
    Pod: _of_pod,
    Node: _of_node,
    Namespace: _of_namespace,
    ResourceSlice: _of_slice,
    ResourceClaim: _of_claim,
    DeviceTaintRule: _of_rule,
}
