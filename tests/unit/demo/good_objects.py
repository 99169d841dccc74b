"""A good object of each kind, with every field that a rule reads."""

from __future__ import annotations

from bailiff_demo.objects import clone
from bailiff_demo.resources import Resource
from tests.unit.demo.api import Json, pod, workload

_CONDITION = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
_TERM = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
_FIELDS = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "values": ["n"]}]}]}
_POD: Json = pod(
    nodeSelector={"a": "b"},
    tolerations=[{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
    affinity={
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": _FIELDS,
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": _TERM}],
        }
    },
    volumes=[{"name": "v"}],
    schedulingGates=[{"name": "g"}],
    readinessGates=[{"conditionType": "x"}],
    initContainers=[{"name": "i", "image": "i", "ports": [{"containerPort": 1}]}],
    terminationGracePeriodSeconds=5,
    priorityClassName="system-node-critical",
    resources={"limits": {"cpu": "1"}},
) | {
    "status": {
        "phase": "Running",
        "reason": "R",
        "conditions": [_CONDITION],
        "containerStatuses": [
            {
                "name": "c",
                "ready": True,
                "restartCount": 1,
                "state": {"running": {}},
                "lastState": {"terminated": {"finishedAt": "2026-01-01T00:00:00Z", "exitCode": 1}},
            }
        ],
        "initContainerStatuses": [{"name": "i", "state": {"waiting": {"reason": "x"}}}],
    }
}
_WORKLOAD = workload(
    "a",
    replicas=2,
    strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
    updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
    persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain"},
    podManagementPolicy="Parallel",
) | {"status": {"replicas": 1, "readyReplicas": 1, "conditions": [_CONDITION]}}
_WORKLOAD["spec"]["template"]["spec"] = _POD["spec"]
_TAINT = {"key": "k", "value": "v", "effect": "NoExecute"}
_TOLERATION = {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
_EXACT = {"deviceClassName": "c", "count": 1, "tolerations": [_TOLERATION]}
_CLAIM: Json = {
    "devices": {
        "requests": [
            {"name": "r", "exactly": _EXACT},
            {"name": "s", "firstAvailable": [{"name": "t", **_EXACT}]},
        ]
    }
}
_RESULT = {
    "request": "s/t",
    "driver": "d.example.com",
    "pool": "p",
    "device": "d",
    "tolerations": [_TOLERATION],
}
_BASES: dict[str, Json] = {
    "Pod": _POD,
    "Node": {
        "spec": {"taints": [{"key": "k", "effect": "NoExecute"}], "unschedulable": True},
        "status": {
            "conditions": [_CONDITION],
            "addresses": [{"type": "InternalIP", "address": "1"}],
            "nodeInfo": {"kubeletVersion": "v"},
        },
    },
    "Namespace": {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}},
    "Lease": {"spec": {"holderIdentity": "h", "leaseDurationSeconds": 1, "leaseTransitions": 1}},
    "PodDisruptionBudget": {
        "spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "a"}}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": 1, "disruptedPods": {}},
    },
    "Event": {
        "involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"},
        "source": {"component": "c", "host": "h"},
        "series": {"count": 1, "lastObservedTime": "2026-01-01T00:00:00.000000Z"},
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 1,
    },
    "PriorityClass": {"value": 5, "globalDefault": True, "preemptionPolicy": "Never"},
    "ConfigMap": {"data": {"a": "b"}},
    "ResourceSlice": {
        "spec": {
            "driver": "d.example.com",
            "nodeName": "n",
            "pool": {"name": "p/q", "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {"name": "d", "taints": [_TAINT], "attributes": {"a": {"int": 1}}},
                {"name": "e", "capacity": {"memory": {"value": "1Gi"}}},
            ],
        }
    },
    "ResourceClaim": {
        "spec": _CLAIM,
        "status": {
            "allocation": {
                "devices": {"results": [_RESULT]},
                "allocationTimestamp": "2026-01-01T00:00:00Z",
            },
            "reservedFor": [{"resource": "pods", "name": "a", "uid": "u"}],
            "devices": [{"driver": "d.example.com", "pool": "p", "device": "d"}],
        },
    },
    "ResourceClaimTemplate": {"spec": {"metadata": {"labels": {"a": "b"}}, "spec": _CLAIM}},
    "DeviceClass": {"spec": {"selectors": [{"cel": {"expression": "true"}}]}},
    "DeviceTaintRule": {
        "spec": {
            "deviceSelector": {"driver": "d.example.com", "pool": "p", "device": "d"},
            "taint": _TAINT,
        },
        "status": {"conditions": [_CONDITION | {"reason": "R", "message": "m"}]},
    },
    "Secret": {"data": {"a": "b"}, "type": "Opaque"},
}
_META: Json = {
    "name": "a",
    "labels": {"app": "a"},
    "annotations": {"b": "c"},
    "finalizers": ["example.com/f"],
    "ownerReferences": [
        {"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u", "controller": True}
    ],
}


def base(resource: Resource) -> Json:
    """A good object with every field that a rule reads."""
    found: Json = clone(_BASES.get(resource.kind, {}))
    if resource.group == "apps":
        found = clone(_WORKLOAD)
    return {"metadata": clone(_META), **{k: v for k, v in found.items() if k != "metadata"}}
