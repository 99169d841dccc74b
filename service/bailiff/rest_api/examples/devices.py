"""Questions about devices to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.rest_api.examples.nodes import ADDED, NOW, Example, node, pod

if TYPE_CHECKING:
    from collections.abc import Mapping

_DRIVER = "gpu.example.com"
_DEGRADED = {"key": "gpu.example.com/degraded", "effect": "NoExecute", "timeAdded": ADDED}
_TEN_MINUTES = {
    "key": "gpu.example.com/degraded",
    "operator": "Exists",
    "effect": "NoExecute",
    "tolerationSeconds": 600,
}


def _user(name: str, claim: str) -> dict[str, Any]:
    """A running pod that names a claim."""
    user = pod(name)
    user["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": claim}]
    return user


def _claim(name: str, device: str, user: str, *tolerations: Mapping[str, Any]) -> dict[str, Any]:
    result = {"request": "gpu", "driver": _DRIVER, "pool": "node-1", "device": device}
    if tolerations:
        result["tolerations"] = list(tolerations)  # type: ignore[assignment]  # of a JSON object
    consumer = {"resource": "pods", "name": user, "uid": pod(user)["metadata"]["uid"]}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"claim-{name}"},
        "status": {
            "allocation": {"devices": {"results": [result]}},
            "reservedFor": [consumer],
        },
    }


def _slice(*tainted: str) -> dict[str, Any]:
    devices: list[dict[str, Any]] = [{"name": "gpu-0"}, {"name": "gpu-1"}]
    for device in devices:
        if device["name"] in tainted:
            device["taints"] = [_DEGRADED]
    return {
        "metadata": {"name": "node-1-gpu", "uid": "slice-1"},
        "spec": {
            "driver": _DRIVER,
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "nodeName": "node-1",
            "devices": devices,
        },
    }


def _rule(effect: str, **selector: str) -> dict[str, Any]:
    taint = {"key": "gpu.example.com/recall", "value": "batch-7", "effect": effect}
    return {
        "metadata": {"name": "recall", "uid": "rule-1", "generation": 1},
        "spec": {"deviceSelector": selector, "taint": taint},
    }


_PODS = [_user("train-0", "train-0-gpu"), _user("train-1", "train-1-gpu")]
_CLAIMS = [
    _claim("train-0-gpu", "gpu-0", "train-0"),
    _claim("train-1-gpu", "gpu-1", "train-1", _TEN_MINUTES),
]

POD_WITH_DEVICES: Mapping[str, Example] = {
    "device": Example(
        summary="The node is well, the pod's GPU is not: EVICT_NOW",
        body={
            "pod": _PODS[0],
            "node": node(),
            "deviceTaints": {
                "resourceClaims": _CLAIMS[:1],
                "resourceSlices": [_slice("gpu-0")],
            },
            "now": NOW,
        },
    ),
}

DEVICES: Mapping[str, Example] = {
    "slice": Example(
        summary="Two GPUs degrade, one allocation tolerates that for ten minutes",
        body={
            "pods": _PODS,
            "deviceTaints": {
                "resourceClaims": _CLAIMS,
                "resourceSlices": [_slice("gpu-0", "gpu-1")],
            },
            "now": NOW,
        },
    ),
    "rule": Example(
        summary="An administrator taints one GPU with a rule, explained",
        body={
            "pods": _PODS,
            "deviceTaints": {
                "resourceClaims": _CLAIMS,
                "deviceTaintRules": [
                    {
                        "metadata": {"name": "gpu-1-broken", "uid": "rule-2"},
                        "spec": {
                            "deviceSelector": {"driver": _DRIVER, "device": "gpu-1"},
                            "taint": _DEGRADED,
                        },
                    }
                ],
            },
            "now": NOW,
            "options": {"explain": True},
        },
    ),
}

DEVICE_TAINT_RULE: Mapping[str, Example] = {
    "before": Example(
        summary="A rule with the effect None, before it gets teeth",
        body={
            "rule": _rule("None", driver=_DRIVER),
            "pods": _PODS,
            "deviceTaints": {"resourceClaims": _CLAIMS, "resourceSlices": [_slice()]},
            "now": NOW,
        },
    ),
    "evicting": Example(
        summary="A rule that evicts from one device",
        body={
            "rule": _rule("NoExecute", driver=_DRIVER, pool="node-1", device="gpu-1"),
            "pods": _PODS,
            "deviceTaints": {"resourceClaims": _CLAIMS, "resourceSlices": [_slice()]},
            "now": NOW,
        },
    ),
}
