"""Reviews to try, as kube-apiserver sends them. Where no cluster is read, answers are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from bailiff.decisions.admission import AdmittedPod, Mutations, patch_of
from bailiff.webhooks import ALLOWED, Outcome, refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.webhooks import Hook


class Example(NamedTuple):
    """A request to a hook, and what comes of it.

    Attributes:
        request: of the review.
        outcome: as the hook has it; where it reads a cluster, as it may have it.
    """

    request: Mapping[str, Any]
    outcome: Outcome


_SPEC = {"containers": [{"name": "web", "image": "registry.example/web:1"}]}
_POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": _SPEC,
}
_CREATE_POD = {
    "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
    "kind": {"group": "", "version": "v1", "kind": "Pod"},
    "resource": {"group": "", "version": "v1", "resource": "pods"},
    "name": "web",
    "namespace": "default",
    "operation": "CREATE",
    "userInfo": {"username": "ada"},
    "object": _POD,
    "dryRun": False,
}

_EVICT_POD = _CREATE_POD | {
    "kind": {"group": "policy", "version": "v1", "kind": "Eviction"},
    "subResource": "eviction",
    "object": {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "web", "namespace": "default"},
    },
}
_DELETE_POD = {key: value for key, value in _CREATE_POD.items() if key != "object"} | {
    "operation": "DELETE",
    "userInfo": {"username": "system:serviceaccount:karpenter:karpenter"},
    "oldObject": _POD,
    "options": {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions"},
}
_PAUSED = refused(
    429,
    "TooManyRequests",
    "policy paused: paused by anna until 2026-01-31T14:00:00Z: moving racks",
    2,
)

_NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a"}, "spec": {}}
_RULE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "recall"},
    "spec": {
        "deviceSelector": {"driver": "gpu.example.com"},
        "taint": {"key": "recall", "effect": "NoExecute"},
    },
}
_DEVICES = [{"name": "card-0", "taints": [{"key": "broken", "effect": "NoExecute"}]}]
_SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "gpu-1"},
    "spec": {
        "driver": "gpu.example.com",
        "pool": {"name": "gpu-1", "generation": 1},
        "nodeName": "gpu-1",
        "devices": _DEVICES,
    },
}
_TAINTED = [{"key": "maintenance", "value": "row-7", "effect": "NoExecute"}]


def _of(group: str, resource: str, given: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:  # noqa: ANN401 - JSON
    version, kind = given["apiVersion"].rpartition("/")[2], given["kind"]
    return _CREATE_POD | {
        "kind": {"group": group, "version": version, "kind": kind},
        "resource": {"group": group, "version": version, "resource": resource},
        "name": given["metadata"]["name"],
        "namespace": given["metadata"].get("namespace", ""),
        "object": given,
        **more,
    }


_BINDING = {
    "apiVersion": "v1",
    "kind": "Binding",
    "metadata": {"name": "web", "namespace": "default"},
    "target": {"kind": "Node", "name": "node-a"},
}
_BOUND = _of("", "pods", _BINDING, subResource="binding")
_PLACED = _of("", "pods", _POD | {"spec": _SPEC | {"nodeName": "node-a"}})
_TAINT_NODE = _of(
    "",
    "nodes",
    _NODE | {"spec": {"taints": _TAINTED}},
    operation="UPDATE",
    oldObject=_NODE,
)
_NOT_ADMITTED = refused(
    403,
    "Forbidden",
    "the kubelet of node node-a would not start the pod: The node had condition: [MemoryPressure].",
)
_LEAVES = "evicted in 300 s from node node-a by maintenance=row-7:NoExecute (bailiff: pod web)"
_MANY = (
    "evicts 37 pods now, 5 in 300 s; PodDisruptionBudget web/web would be violated "
    "(bailiff: node node-a)"
)
_TOO_MANY = replace(
    refused(
        403,
        "Forbidden",
        "blastRadius: device taint broken:NoExecute evicts 37 pods, more than 10; where that is "
        "meant, annotate ResourceSlice gpu-1 first: "
        "bailiff.dev/acknowledged-taints='device taint broken:NoExecute'",
    ),
    warnings=("evicts 37 pods now (bailiff: ResourceSlice gpu-1, device taint broken:NoExecute)",),
)

# By the hook's path.
EXAMPLES: Mapping[str, Example] = {
    "mutate/pods": Example(
        _CREATE_POD, Outcome(patch=patch_of(msgspec.convert(_POD, AdmittedPod), Mutations()))
    ),
    "validate/pods": Example(_PLACED, Outcome(warnings=(_LEAVES,))),
    "validate/bindings": Example(_BOUND, _NOT_ADMITTED),
    "validate/nodes": Example(_TAINT_NODE, Outcome(warnings=(_MANY,))),
    "validate/devicetaintrules": Example(
        _of("resource.k8s.io", "devicetaintrules", _RULE),
        Outcome(warnings=("evicts 2 pods now (bailiff: DeviceTaintRule recall)",)),
    ),
    "validate/resourceslices": Example(_of("resource.k8s.io", "resourceslices", _SLICE), _TOO_MANY),
    "validate/evictions": Example(_EVICT_POD, _PAUSED),
    "validate/deletes": Example(_DELETE_POD, _PAUSED),
}
# Of a hook that has none.
_ANY = Example(_CREATE_POD, ALLOWED)


def example_of(hook: Hook) -> Example:
    """One to try."""
    return EXAMPLES.get(hook.path, _ANY)


def review_of(hook: Hook) -> dict[str, Any]:
    """The whole review of the example."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": example_of(hook).request,
    }
