"""The types of the fields that somebody here reads; others are kept as they come.

A body with another type in one of them is refused with 400, as Go's decoder refuses it. So rules,
controllers and tables need not look at types again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.kinds import INT64_MAX, INT64_MIN
from bailiff_demo import errors
from bailiff_demo.objects import parse_time

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

_TIME = "time"
_COUNT_OR_PERCENT = "string or int"
# Of string to string, and of string to a quantity.
_TEXTS = "map[string]string"
_AMOUNTS = "map[string]resource.Quantity"

_OWNER = {"apiVersion": str, "kind": str, "name": str, "uid": str, "controller": bool}
_META = {
    **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion"), str),
    **dict.fromkeys(("labels", "annotations"), _TEXTS),
    **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), _TIME),
    **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), int),
    "finalizers": [str],
    "ownerReferences": [_OWNER],
}
_CONDITION = {
    **dict.fromkeys(("type", "status", "reason", "message"), str),
    "lastTransitionTime": _TIME,
    "observedGeneration": int,
}
_EXPRESSION = {"key": str, "operator": str, "values": [str]}
_SELECTOR = {"matchLabels": _TEXTS, "matchExpressions": [_EXPRESSION]}
_TERM = {"matchExpressions": [_EXPRESSION], "matchFields": [_EXPRESSION]}
_TAINT = {"key": str, "value": str, "effect": str, "timeAdded": _TIME}
_TOLERATION = {
    **dict.fromkeys(("key", "operator", "value", "effect"), str),
    "tolerationSeconds": int,
}
_NAMED = {"name": str}
_RESOURCES = {"limits": _AMOUNTS, "requests": _AMOUNTS}
_CONTAINER = {
    **dict.fromkeys(("name", "image", "imagePullPolicy"), str),
    "ports": [{"containerPort": int, "protocol": str}],
    "env": [_NAMED],
    "volumeMounts": [{"name": str, "mountPath": str}],
    "resources": _RESOURCES,
}
_POD_SPEC = {
    **dict.fromkeys(
        ("nodeName", "restartPolicy", "schedulerName", "serviceAccountName", "priorityClassName"),
        str,
    ),
    "hostNetwork": bool,
    "priority": int,
    "nodeSelector": _TEXTS,
    "tolerations": [_TOLERATION],
    "containers": [_CONTAINER],
    "initContainers": [_CONTAINER],
    **{name: [_NAMED] for name in ("volumes", "schedulingGates", "resourceClaims")},
    "readinessGates": [{"conditionType": str}],
    "terminationGracePeriodSeconds": int,
    "activeDeadlineSeconds": int,
    "resources": _RESOURCES,
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_TERM]},
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": int, "preference": _TERM}
            ],
        }
    },
}
_ENDED = {"reason": str, "exitCode": int, "signal": int, "finishedAt": _TIME}
_STATE = {"running": {}, "waiting": {"reason": str}, "terminated": _ENDED}
_CONTAINER_STATUS = {
    "name": str,
    "ready": bool,
    "restartCount": int,
    "state": _STATE,
    "lastState": _STATE,
}
_POD_STATUS = {
    **dict.fromkeys(("phase", "reason", "message", "podIP", "nominatedNodeName", "qosClass"), str),
    "conditions": [_CONDITION],
    "containerStatuses": [_CONTAINER_STATUS],
    "initContainerStatuses": [_CONTAINER_STATUS],
}
_STRATEGY = {"type": str, "rollingUpdate": {}}
_WORKLOAD = {
    "spec": {
        "replicas": int,
        "selector": _SELECTOR,
        "template": {"metadata": _META, "spec": _POD_SPEC},
        "podManagementPolicy": str,
        "strategy": _STRATEGY,
        "updateStrategy": _STRATEGY,
    },
    "status": {
        **dict.fromkeys(
            (
                *("replicas", "readyReplicas", "availableReplicas", "updatedReplicas"),
                *("desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled"),
                *("numberReady", "numberAvailable", "observedGeneration"),
            ),
            int,
        ),
        "conditions": [_CONDITION],
    },
}
_WANTED = {
    "name": str,
    "deviceClassName": str,
    "allocationMode": str,
    "count": int,
    "tolerations": [_TOLERATION],
}
_CLAIM_SPEC = {
    "devices": {"requests": [{"name": str, "exactly": _WANTED, "firstAvailable": [_WANTED]}]}
}
_CONSUMER = {"apiGroup": str, "resource": str, "name": str, "uid": str}
_RESULT = dict.fromkeys(("request", "driver", "pool", "device"), str)
_SHAPES: dict[str, JsonObject] = {
    "Pod": {"spec": _POD_SPEC, "status": _POD_STATUS},
    "Node": {
        "spec": {"taints": [_TAINT], "unschedulable": bool, "providerID": str},
        "status": {
            "conditions": [_CONDITION],
            "addresses": [{"type": str, "address": str}],
            "nodeInfo": {"kubeletVersion": str},
        },
    },
    "Namespace": {"spec": {"finalizers": [str]}, "status": {"phase": str}},
    "Event": {
        "involvedObject": dict.fromkeys(("kind", "namespace", "name", "uid"), str),
        **dict.fromkeys(("message", "reason", "type", "reportingComponent"), str),
        "source": {"component": str, "host": str},
        "series": {"count": int, "lastObservedTime": _TIME},
        **dict.fromkeys(("firstTimestamp", "lastTimestamp", "eventTime"), _TIME),
        "count": int,
    },
    "ConfigMap": {"data": _TEXTS, "binaryData": _TEXTS},
    "Secret": {"data": _TEXTS, "stringData": _TEXTS, "type": str},
    **dict.fromkeys(("DaemonSet", "StatefulSet", "Deployment", "ReplicaSet"), _WORKLOAD),
    "Scale": {"spec": {"replicas": int}},
    "Lease": {
        "spec": {
            "holderIdentity": str,
            "leaseDurationSeconds": int,
            "leaseTransitions": int,
            **dict.fromkeys(("acquireTime", "renewTime"), _TIME),
        }
    },
    "PodDisruptionBudget": {
        "spec": {
            "minAvailable": _COUNT_OR_PERCENT,
            "maxUnavailable": _COUNT_OR_PERCENT,
            "selector": _SELECTOR,
            "unhealthyPodEvictionPolicy": str,
        },
        "status": {
            **dict.fromkeys(
                (
                    *("observedGeneration", "disruptionsAllowed", "currentHealthy"),
                    *("desiredHealthy", "expectedPods"),
                ),
                int,
            ),
            "disruptedPods": _TEXTS,
            "conditions": [_CONDITION],
        },
    },
    "PriorityClass": {"value": int, "globalDefault": bool, "preemptionPolicy": str},
    "ResourceSlice": {
        "spec": {
            "driver": str,
            "nodeName": str,
            "pool": {"name": str, "generation": int, "resourceSliceCount": int},
            "devices": [{"name": str, "taints": [_TAINT]}],
        }
    },
    "ResourceClaim": {
        "spec": _CLAIM_SPEC,
        "status": {
            "allocation": {"devices": {"results": [_RESULT]}},
            "reservedFor": [_CONSUMER],
        },
    },
    "ResourceClaimTemplate": {"spec": {"spec": _CLAIM_SPEC}},
    "DeviceClass": {"spec": {"selectors": [{"cel": {}}]}},
    "DeviceTaintRule": {
        "spec": {
            "deviceSelector": dict.fromkeys(("driver", "pool", "device"), str),
            "taint": _TAINT,
        },
        "status": {"conditions": [_CONDITION]},
    },
    "Binding": {"target": _NAMED},
    "DeleteOptions": {
        "gracePeriodSeconds": int,
        "preconditions": {"uid": str, "resourceVersion": str},
        "propagationPolicy": str,
        "dryRun": [str],
    },
}
_SHAPES["Eviction"] = {"deleteOptions": _SHAPES["DeleteOptions"]}


def check_shape(obj: JsonObject, kind: str) -> None:
    """Look at the types of the fields that are read of this kind.

    Raises:
        ApiError: 400, one is of another type.
    """
    _check(obj, {"metadata": _META, **_SHAPES.get(kind, {})}, kind)


def _check(value: Any, shape: Any, path: str) -> None:  # noqa: ANN401 - any JSON value
    if isinstance(shape, dict):
        _expect(isinstance(value, dict), path, "object", value)
        for name in shape.keys() & value.keys():
            _check(value[name], shape[name], f"{path}.{name}")
    elif isinstance(shape, list):
        _expect(isinstance(value, list), path, "list", value)
        for item in value:
            _check(item, shape[0], path)
    else:
        wanted = shape if isinstance(shape, str) else shape.__name__
        _expect(_is(value, shape), path, wanted, value)


def _is(value: Any, shape: object) -> bool:  # noqa: ANN401 - a table of types
    if shape is bool:
        return isinstance(value, bool)
    if shape is int:
        return type(value) is int and INT64_MIN <= value <= INT64_MAX
    if shape is str:
        return isinstance(value, str)
    if shape == _TIME:
        return isinstance(value, str) and parse_time(value) is not None
    if shape == _COUNT_OR_PERCENT:
        return isinstance(value, str) or type(value) is int
    if shape == _TEXTS:
        return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    return isinstance(value, dict) and all(isinstance(v, str | int | float) for v in value.values())


def _expect(holds: bool, path: str, wanted: str, found: object) -> None:
    if not holds:
        names = {dict: "object", list: "list", str: "string", bool: "bool", type(None): "null"}
        name = names.get(type(found), "number")
        raise errors.bad_request(
            f"json: cannot unmarshal {name} into Go struct field {path} of type {wanted}"
        )
