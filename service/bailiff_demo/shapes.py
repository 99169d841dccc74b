"""The types of the fields that rules and controllers read; others are kept as they come.

A body with another type in one of them is refused with 400, as Go's decoder refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.kinds import INT64_MAX, INT64_MIN
from bailiff_demo import errors
from bailiff_demo.objects import is_quantity, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff_demo.objects import JsonObject


def _of(kind: str, *names: str) -> JsonObject:
    return dict.fromkeys(names, kind)


# A shape is a dict for an object, a list of one shape for a list, or a key of _CHECKS.
_META = {
    **_of("string", "name", "generateName", "namespace", "uid", "resourceVersion"),
    **_of("strings by name", "labels", "annotations"),
    **_of("time", "creationTimestamp", "deletionTimestamp"),
    **_of("int", "generation", "deletionGracePeriodSeconds"),
    "finalizers": ["string"],
    "ownerReferences": [
        {**_of("string", "apiVersion", "kind", "name", "uid"), "controller": "bool"}
    ],
}
_CONDITION = {
    **_of("string", "type", "status", "reason", "message"),
    **_of("time", "lastTransitionTime"),
}
_EXPRESSION = {"key": "string", "operator": "string", "values": ["string"]}
_SELECTOR = {"matchLabels": "strings by name", "matchExpressions": [_EXPRESSION]}
_TERM = {"matchExpressions": [_EXPRESSION], "matchFields": [_EXPRESSION]}
_TAINT = {**_of("string", "key", "value", "effect"), "timeAdded": "time"}
_TOLERATION = {**_of("string", "key", "operator", "value", "effect"), "tolerationSeconds": "int"}
_NAMED = {"name": "string"}
_CONTAINER = {
    **_of("string", "name", "image", "imagePullPolicy"),
    "ports": [{"containerPort": "int", "protocol": "string"}],
    "env": [_NAMED],
    "volumeMounts": [{"mountPath": "string"}],
    "resources": _of("amounts by name", "limits", "requests"),
}
_NODE_AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_TERM]},
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": "int", "preference": _TERM}],
}
_POD_SPEC = {
    **_of("string", "nodeName", "restartPolicy", "schedulerName", "serviceAccountName"),
    **_of("int", "terminationGracePeriodSeconds", "activeDeadlineSeconds", "priority"),
    **_of("strings by name", "nodeSelector"),
    "priorityClassName": "string",
    "tolerations": [_TOLERATION],
    "containers": [_CONTAINER],
    "initContainers": [_CONTAINER],
    "volumes": [_NAMED],
    "schedulingGates": [_NAMED],
    "resourceClaims": [_NAMED],
    "affinity": {"nodeAffinity": _NODE_AFFINITY},
}
_STATUS = {"phase": "string", "conditions": [_CONDITION]}
_STRATEGY = {"type": "string", "rollingUpdate": "object"}
_WORKLOAD = {
    "spec": {
        "replicas": "int32",
        "selector": _SELECTOR,
        "template": {"metadata": _META, "spec": _POD_SPEC},
        "podManagementPolicy": "string",
        "strategy": _STRATEGY,
        "updateStrategy": _STRATEGY,
    },
    "status": _STATUS,
}
_WANTED = {
    **_of("string", "name", "deviceClassName", "allocationMode"),
    "count": "int",
    "tolerations": [_TOLERATION],
}
_REQUEST = {"name": "string", "exactly": _WANTED, "firstAvailable": [_WANTED]}
_CLAIM_SPEC = {"devices": {"requests": [_REQUEST]}}
_OPTIONS = {
    "gracePeriodSeconds": "int",
    "preconditions": _of("string", "uid", "resourceVersion"),
    "propagationPolicy": "string",
    "dryRun": ["string"],
}
_SHAPES: dict[str, JsonObject] = {
    "Pod": {"spec": _POD_SPEC, "status": {**_STATUS, "containerStatuses": [{"name": "string"}]}},
    "Node": {
        "spec": {"taints": [_TAINT], "unschedulable": "bool"},
        "status": {
            **_STATUS,
            **_of("quantities by name", "capacity", "allocatable"),
            "addresses": [_of("string", "type", "address")],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": "int32"}},
        },
    },
    "Namespace": {"spec": {"finalizers": ["string"]}, "status": _STATUS},
    "Event": {
        "involvedObject": _of("string", "kind", "namespace", "name", "uid"),
        "source": _of("string", "component", "host"),
    },
    "ConfigMap": _of("strings by name", "data", "binaryData"),
    "Secret": _of("strings by name", "data"),
    **dict.fromkeys(("DaemonSet", "StatefulSet", "Deployment", "ReplicaSet"), _WORKLOAD),
    "Scale": {"spec": {"replicas": "int32"}},
    "Lease": {"spec": {"leaseDurationSeconds": "int", "leaseTransitions": "int"}},
    "PodDisruptionBudget": {
        "spec": {
            **_of("int or percentage", "minAvailable", "maxUnavailable"),
            "selector": _SELECTOR,
            "unhealthyPodEvictionPolicy": "string",
        },
        "status": {
            **_of("int", "observedGeneration", "disruptionsAllowed"),
            **_of("int", "currentHealthy", "desiredHealthy", "expectedPods"),
            "disruptedPods": "strings by name",
            **_STATUS,
        },
    },
    "ResourceSlice": {
        "spec": {
            "driver": "string",
            "nodeName": "string",
            "pool": {"name": "string", **_of("int", "generation", "resourceSliceCount")},
            "devices": [{"name": "string", "taints": [_TAINT]}],
        }
    },
    "ResourceClaim": {
        "spec": _CLAIM_SPEC,
        "status": {
            "allocation": "object",
            "reservedFor": [_of("string", "apiGroup", "resource", "name", "uid")],
        },
    },
    "ResourceClaimTemplate": {"spec": {"spec": _CLAIM_SPEC}},
    "DeviceTaintRule": {
        "spec": {"deviceSelector": _of("string", "driver", "pool", "device"), "taint": _TAINT},
        "status": _STATUS,
    },
    "Binding": {"target": _NAMED},
    "DeleteOptions": _OPTIONS,
    "Eviction": {"deleteOptions": _OPTIONS},
}


def _all(value: object, *kinds: type) -> bool:
    return isinstance(value, dict) and all(isinstance(v, kinds) for v in value.values())


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "bool": lambda v: isinstance(v, bool),
    "int": lambda v: type(v) is int and INT64_MIN <= v <= INT64_MAX,
    "int32": lambda v: type(v) is int and -(2**31) <= v < 2**31,
    "object": lambda v: isinstance(v, dict),
    "time": lambda v: isinstance(v, str) and "T" in v and parse_time(v) is not None,
    "strings by name": lambda v: _all(v, str),
    "amounts by name": lambda v: _all(v, str, int, float),
    "quantities by name": lambda v: isinstance(v, dict) and all(map(is_quantity, v.values())),
    "int or percentage": lambda v: isinstance(v, str) or type(v) is int,
}


def check_shape(obj: JsonObject, kind: str) -> None:
    """Look at the types of the fields that are read of this kind.

    Raises:
        ApiError: 400, one is of another type.
    """
    common: JsonObject = {"metadata": _META, **_of("object", "spec", "status")}
    _check(obj, {**common, **_SHAPES.get(kind, {})}, kind)


def _check(value: Any, shape: Any, path: str) -> None:  # noqa: ANN401 - any JSON value
    if isinstance(shape, dict) and isinstance(value, dict):
        for name in shape.keys() & value.keys():
            _check(value[name], shape[name], f"{path}.{name}")
    elif isinstance(shape, list) and isinstance(value, list):
        for item in value:
            _check(item, shape[0], path)
    elif not isinstance(shape, str) or not _CHECKS[shape](value):
        wanted = shape if isinstance(shape, str) else type(shape).__name__
        raise errors.bad_request(f"json: cannot unmarshal {path}: must be of type {wanted}")
