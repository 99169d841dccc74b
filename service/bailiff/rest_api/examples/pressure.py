"""Questions about a node under pressure to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.rest_api.examples.nodes import NOW, Example, pod

if TYPE_CHECKING:
    from collections.abc import Mapping

_GIB, _MIB = 2**30, 2**20
_MEASURED = "2026-05-04T11:59:55Z"


def _asking(name: str, memory: str) -> dict[str, Any]:
    """A running pod that has asked for so much memory."""
    one = pod(name)
    one["spec"] |= {
        "containers": [{"name": "main", "resources": {"requests": {"memory": memory}}}],
        "terminationGracePeriodSeconds": 30,
    }
    return one


def _measured(name: str, memory: int) -> dict[str, Any]:
    """What a kubelet tells of a pod that uses so much memory, in bytes."""
    meta = pod(name)["metadata"]
    used = {"time": _MEASURED, "workingSetBytes": memory}
    return {
        "podRef": {key: meta[key] for key in ("name", "namespace", "uid")},
        "containers": [{"name": "main", "memory": used}],
        "memory": used,
    }


def _summary(available: int) -> dict[str, Any]:
    """What a kubelet of a node of 8 GiB tells, with so much memory left, in bytes."""
    memory = {
        "time": _MEASURED,
        "availableBytes": available,
        "workingSetBytes": 8 * _GIB - available,
    }
    return {
        "node": {"nodeName": "node-1", "memory": memory},
        "pods": [_measured("web-0", 900 * _MIB), _measured("batch-0", 3 * _GIB)],
    }


_PODS = [_asking("web-0", "1Gi"), _asking("batch-0", "512Mi")]
_HARD = {"kind": "KubeletConfiguration", "evictionHard": {"memory.available": "500Mi"}}
_SOFT = {
    "kind": "KubeletConfiguration",
    "evictionHard": {},
    "evictionSoft": {"memory.available": "1Gi"},
    "evictionSoftGracePeriod": {"memory.available": "1m30s"},
    "evictionMaxPodGracePeriod": 60,
}

ROUND: Mapping[str, Example] = {
    "memory": Example(
        summary="A node runs out of memory",
        body={
            "now": NOW,
            "pods": _PODS,
            "pressure": {"summary": _summary(300 * _MIB), "configuration": _HARD},
        },
    ),
    "graceful": Example(
        summary="A soft threshold is met, and its grace period begins",
        body={
            "now": NOW,
            "pods": _PODS,
            "pressure": {"summary": _summary(900 * _MIB), "configuration": _SOFT},
        },
    ),
}
RANKING: Mapping[str, Example] = {
    "memory": Example(
        summary="Who would go if memory ran out?",
        body={
            "now": NOW,
            "signal": "memory.available",
            "pods": _PODS,
            "summary": _summary(6 * _GIB),
        },
    )
}
ADMISSION: Mapping[str, Example] = {
    "best effort": Example(
        summary="A pod that asks for nothing, under memory pressure",
        body={"now": NOW, "pod": pod("web-0"), "conditions": ["MemoryPressure"]},
    )
}
CONFIGURATION: Mapping[str, Example] = {
    "soft": Example(summary="A soft threshold", body={"now": NOW, "configuration": _SOFT}),
    "wrong": Example(
        summary="Two mistakes",
        body={
            "now": NOW,
            "configuration": {
                "evictionHard": {"memory.available": "100MB", "nodefs.free": "10%"}
            },
        },
    ),
}
