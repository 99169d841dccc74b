"""What a kubelet would answer behind `/api/v1/nodes/NAME/proxy`: made up from annotations.

No container runs in the demo, so nothing takes memory. A pod says in an annotation how much it
takes, which anybody may change, and a node how much it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from bailiff.kinds.quantity import NANO, parse_quantity
from bailiff_demo.http.answers import json_response
from bailiff_demo.objects import format_time, part
from bailiff_demo.registry import Target
from bailiff_demo.resources import NODES, PODS
from bailiff_demo.settings import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from bailiff_demo.objects import JsonObject
    from bailiff_demo.registry import Registry

_MIB = 2**20
_USUAL = 16 * _MIB
_MOST = 2**60
# Far from full: nobody fills it.
_DISK = {"availableBytes": 80 * 2**30, "capacityBytes": 100 * 2**30, "inodesFree": 9 * 10**6,
         "inodes": 10**7}  # fmt: skip
_CONFIGURATION = {
    "kind": "KubeletConfiguration",
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "evictionHard": {"memory.available": "500Mi"},
    "evictionPressureTransitionPeriod": "30s",
}


class NodeProxy:
    """Answers for the pretended kubelets."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def summary(self, request: Request) -> Response:
        """GET /stats/summary: of the node, and of its pods that have not ended."""
        node = self._node(request)
        name = node["metadata"]["name"]
        pods = [record.object for record in self._registry.store.bucket(PODS).records()]
        running = [one for one in pods if _runs_on(one, name)]
        at = format_time(self._registry.clock.now())
        return json_response(summary_of(node, running, at))

    async def configuration(self, request: Request) -> Response:
        """GET /configz: the same for all nodes."""
        self._node(request)
        return json_response({"kubeletconfig": _CONFIGURATION})

    async def other(self, request: Request) -> Response:
        """Whatever else a kubelet serves."""
        self._node(request)
        raise HTTPException(404)

    def _node(self, request: Request) -> JsonObject:
        return self._registry.find(Target(NODES, "", request.path_params["name"])).object


def summary_of(node: JsonObject, pods: Iterable[JsonObject], at: str) -> JsonObject:
    """A summary; `at` is when everything was measured."""
    capacity = _memory(part(part(node, "status"), "capacity").get("memory"))
    told = [_pod(one, at) for one in pods]
    taken = sum(one["memory"]["workingSetBytes"] for one in told)
    disk = {"time": at, **_DISK}
    return {
        "node": {
            "nodeName": node["metadata"]["name"],
            "startTime": node["metadata"]["creationTimestamp"],
            "memory": _taken(taken, at) | {"availableBytes": max(0, capacity - taken)},
            "fs": disk,
            "runtime": {"imageFs": disk, "containerFs": disk},
            "rlimit": {"time": at, "maxpid": 100_000, "curproc": 100 + len(told)},
        },
        "pods": told,
    }


def _pod(pod: JsonObject, at: str) -> JsonObject:
    meta = pod["metadata"]
    taken = _memory(part(meta, "annotations").get(MEMORY))
    containers = pod["spec"]["containers"]
    share = taken // len(containers)
    return {
        "podRef": {key: meta[key] for key in ("name", "namespace", "uid")},
        "startTime": meta["creationTimestamp"],
        "memory": _taken(taken, at),
        "containers": [
            {"name": one["name"], "startTime": meta["creationTimestamp"],
             "memory": _taken(share, at)}
            for one in containers
        ],
    }  # fmt: skip


def _taken(amount: int, at: str) -> JsonObject:
    return dict.fromkeys(("usageBytes", "workingSetBytes", "rssBytes"), amount) | {"time": at}


def _memory(text: object) -> int:
    """Bytes; what is no quantity, or none that there can be, counts as said nothing."""
    try:
        amount = parse_quantity(str(text)).nano // NANO
    except ValueError:
        return _USUAL
    return amount if 0 <= amount <= _MOST else _USUAL


def _runs_on(pod: JsonObject, node: str) -> bool:
    ended = part(pod, "status").get("phase") in ("Succeeded", "Failed")
    return part(pod, "spec").get("nodeName") == node and not ended
