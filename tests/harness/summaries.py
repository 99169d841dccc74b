"""Answers of `/stats/summary` as long as real ones, which change each time."""

from __future__ import annotations

import json
import random
from typing import Any

# One that is the same each time; k8s.io/kubelet, pkg/apis/stats/v1alpha1/types.go has the fields.
_TIME = "2026-03-01T00:08:01Z"


def summary_json(node: str, pods: int = 110, containers: int = 2, seed: int = 0) -> bytes:
    """A summary with line breaks, as the kubelet's HTTP library writes it.

    Args:
        node: the name that it tells.
        pods: how many.
        containers: of each.
        seed: equal ones make equal summaries.
    """
    return json.dumps(summary_of(node, pods, containers, seed), indent=1).encode()


def summary_of(node: str, pods: int = 110, containers: int = 2, seed: int = 0) -> dict[str, Any]:
    """The same as JSON values."""
    rng = random.Random(seed)
    own = {
        "nodeName": node,
        "systemContainers": [_container(rng, name) for name in ("kubelet", "runtime", "pods")],
        "startTime": _TIME,
        **_usage(rng),
        "fs": _fs(rng),
        "runtime": {"imageFs": _fs(rng), "containerFs": _fs(rng)},
        "rlimit": {"time": _TIME, "maxpid": 4194304, "curproc": rng.randrange(5000)},
    }
    return {"node": own, "pods": [_pod(rng, number, containers) for number in range(pods)]}


def _pod(rng: random.Random, number: int, containers: int) -> dict[str, Any]:
    interface = {"name": "eth0", "rxBytes": rng.randrange(10**10), "txBytes": rng.randrange(10**10)}
    return {
        "podRef": {
            "name": f"web-7d9c5b6f8d-{number:05}",
            "namespace": f"team-{number % 7}",
            "uid": f"6bc218b3-98e2-424e-8601-{number:012}",
        },
        "startTime": _TIME,
        "containers": [_container(rng, f"container-{n}") for n in range(containers)],
        **_usage(rng),
        "network": {"time": _TIME, **interface, "interfaces": [interface]},
        "volume": [
            {**_fs(rng), "name": "kube-api-access-x7k2p"},
            {**_fs(rng), "name": "cache"},
        ],
        "ephemeral-storage": _fs(rng),
        "process_stats": {"process_count": rng.randrange(50)},
    }


def _container(rng: random.Random, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "startTime": _TIME,
        **_usage(rng),
        "rootfs": _fs(rng),
        "logs": _fs(rng),
    }


def _usage(rng: random.Random) -> dict[str, Any]:
    return {
        "cpu": {
            "time": _TIME,
            "usageNanoCores": rng.randrange(10**9),
            "usageCoreNanoSeconds": rng.randrange(10**15),
            "psi": _psi(rng),
        },
        "memory": {
            "time": _TIME,
            "availableBytes": rng.randrange(10**10),
            "usageBytes": rng.randrange(10**10),
            "workingSetBytes": rng.randrange(10**10),
            "rssBytes": rng.randrange(10**10),
            "pageFaults": rng.randrange(10**8),
            "majorPageFaults": rng.randrange(100),
            "psi": _psi(rng),
        },
        "io": {"time": _TIME, "psi": _psi(rng)},
        "swap": {"time": _TIME, "swapAvailableBytes": 0, "swapUsageBytes": 0},
    }


def _psi(rng: random.Random) -> dict[str, Any]:
    return {
        kind: {
            "total": rng.randrange(10**12),
            "avg10": round(rng.random(), 2),
            "avg60": round(rng.random(), 2),
            "avg300": round(rng.random(), 2),
        }
        for kind in ("full", "some")
    }


def _fs(rng: random.Random) -> dict[str, Any]:
    return {
        "time": _TIME,
        "availableBytes": rng.randrange(10**11),
        "capacityBytes": 10**11,
        "usedBytes": rng.randrange(10**9),
        "inodesFree": rng.randrange(10**7),
        "inodes": 10**7,
        "inodesUsed": rng.randrange(10**5),
    }
