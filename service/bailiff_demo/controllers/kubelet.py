"""The pretended kubelets of all nodes: they register nodes, start pods and end them."""

from __future__ import annotations

import hashlib
import heapq
from typing import TYPE_CHECKING, TypeAlias

from bailiff_demo.controllers.controller import BATCH, attempt
from bailiff_demo.objects import (
    JsonObject,
    clone,
    find_condition,
    format_time,
    is_going,
    parse_time,
    part,
    set_condition,
)
from bailiff_demo.registry import DeleteOptions, Registry, Target
from bailiff_demo.resources import NODES, PODS, Resource
from bailiff_demo.settings import KUBERNETES_VERSION
from bailiff_demo.stats import measures

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff_demo.settings import DemoSettings
    from bailiff_demo.store import Change, Record

_Due: TypeAlias = tuple[float, int, Target, str]

_NOT_READY = "node.kubernetes.io/not-ready"
_NO_PRESSURE = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID"),
)
_READY = ("Ready", "True", "KubeletReady")
_POD_CONDITIONS = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)
_RESOURCES = {"cpu": "4", "memory": "16Gi", "pods": "110"}


class Kubelet:
    """Starts bound pods after a moment, ends deleted ones when their grace is over."""

    resources: tuple[Resource, ...] = (NODES, PODS)

    def __init__(self, registry: Registry, settings: DemoSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._fresh: list[Record] = []
        self._due: list[_Due] = []
        self._count = 0

    def notice(self, resource: Resource, change: Change) -> None:
        """See Controller."""
        if change.type == "DELETED":
            return
        new = change.record.object
        if resource is NODES:
            if change.type == "ADDED" and find_condition(new, "Ready") is None:
                self._fresh.append(change.record)
        elif part(new, "spec").get("nodeName"):
            self._fresh.append(change.record)

    def act(self, now: float) -> float | None:
        """See Controller."""
        for record in self._fresh:
            self._plan(record, now)
        self._fresh.clear()
        for _ in range(BATCH):
            if not self._due or self._due[0][0] > now:
                break
            _, _, target, uid = heapq.heappop(self._due)
            with attempt(self, "write a status"):
                self._work(target, uid)
        return self._due[0][0] if self._due else None

    def _plan(self, record: Record, now: float) -> None:
        obj = record.object
        if obj["kind"] == "Node":
            delay, resource = 0.0, NODES
        elif is_going(obj):
            delay, resource = min(self._grace_left(obj), self._settings.stop_seconds), PODS
        elif _is_waiting(obj):
            delay, resource = self._settings.start_seconds, PODS
        else:
            return
        self._count += 1
        target = Target(resource, *record.key)
        heapq.heappush(self._due, (now + delay, self._count, target, record.uid))

    def _grace_left(self, pod: JsonObject) -> float:
        end = parse_time(pod["metadata"]["deletionTimestamp"]) or self._registry.clock.now()
        return max(0.0, (end - self._registry.clock.now()).total_seconds())

    def _work(self, target: Target, uid: str) -> None:
        record = self._registry.store.bucket(target.resource).get(target.key)
        if record is None or record.uid != uid:
            return
        if target.resource is NODES:
            node = ready_node(clone(record.object), self._registry.clock.now())
            self._registry.store.replace(NODES, record, node)
        elif is_going(record.object):
            if record.object["metadata"].get("deletionGracePeriodSeconds"):
                self._registry.delete(target, DeleteOptions(grace_seconds=0, uid=uid))
        elif _is_waiting(record.object) and self._has_node(record.object):
            pod = running_pod(clone(record.object), self._registry.clock.now())
            self._registry.store.replace(PODS, record, pod)

    def _has_node(self, pod: JsonObject) -> bool:
        key = ("", pod["spec"]["nodeName"])
        return self._registry.store.bucket(NODES).get(key) is not None


def _is_waiting(pod: JsonObject) -> bool:
    status = part(pod, "status")
    return status.get("phase") == "Pending" and not status.get("containerStatuses")


def _address(text: str, network: str) -> str:
    """An address in a network of /16 that stays the same for the same text."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"{network}.{digest[0]}.{1 + digest[1] % 254}"


def ready_node(node: JsonObject, now: datetime) -> JsonObject:
    """A node whose kubelet reports that all is well; the taint of the unready goes.

    It has the capacity that its status tells already, and otherwise that of all others. A kubelet
    that only measures says nothing of pressure.
    """
    spec = node.setdefault("spec", {})
    taints = [t for t in spec.get("taints", []) if t.get("key") != _NOT_READY]
    spec.pop("taints", None)
    if taints:
        spec["taints"] = taints
    status = node.setdefault("status", {})
    published = (_READY,) if measures(node) else (*_NO_PRESSURE, _READY)
    for kind, value, reason in published:
        condition = {
            "type": kind,
            "status": value,
            "reason": reason,
            "message": f"kubelet: {reason}",
            "lastHeartbeatTime": format_time(now),
        }
        set_condition(node, condition, now)
    name = node["metadata"]["name"]
    status["addresses"] = [
        {"type": "InternalIP", "address": _address(name, "10.10")},
        {"type": "Hostname", "address": name},
    ]
    status["capacity"] = {**_RESOURCES, **part(status, "capacity")}
    status["allocatable"] = {**status["capacity"], **part(status, "allocatable")}
    status["nodeInfo"] = {
        **dict.fromkeys(("machineID", "systemUUID", "bootID", "kubeProxyVersion"), ""),
        **dict.fromkeys(("kernelVersion", "osImage", "containerRuntimeVersion"), "pretended"),
        "kubeletVersion": KUBERNETES_VERSION,
        "operatingSystem": "linux",
        "architecture": "amd64",
    }
    return node


def running_pod(pod: JsonObject, now: datetime) -> JsonObject:
    """A pod whose containers all run and are ready."""
    started = format_time(now)
    status = pod["status"]
    status |= {"phase": "Running", "startTime": started}
    status["observedGeneration"] = pod["metadata"].get("generation", 1)
    status["hostIP"] = _address(pod["spec"]["nodeName"], "10.10")
    status["podIP"] = _address(pod["metadata"]["uid"], "10.244")
    status["podIPs"] = [{"ip": status["podIP"]}]
    for kind in _POD_CONDITIONS:
        set_condition(pod, {"type": kind, "status": "True"}, now)
    status["containerStatuses"] = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "containerID": f"pretend://{pod['metadata']['uid']}/{container['name']}",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": started}},
            "lastState": {},
        }
        for container in pod["spec"]["containers"]
    ]
    return pod
