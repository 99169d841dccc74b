"""What a kubelet writes about its node and its pods once all is well."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from bailiff.embedded.objects import JsonObject, format_time, set_condition

if TYPE_CHECKING:
    from datetime import datetime

_NOT_READY = "node.kubernetes.io/not-ready"
_NODE_CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID"),
    ("Ready", "True", "KubeletReady"),
)
_POD_CONDITIONS = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)
_RESOURCES = {"cpu": "4", "memory": "16Gi", "pods": "110"}


def address(text: str, network: str) -> str:
    """An address in a network of /16 that stays the same for the same text."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"{network}.{digest[0]}.{1 + digest[1] % 254}"


def ready_node(node: JsonObject, now: datetime) -> JsonObject:
    """A node whose kubelet reports that all is well; the taint of the unready goes."""
    spec = node.setdefault("spec", {})
    taints = [t for t in spec.get("taints", []) if t.get("key") != _NOT_READY]
    spec.pop("taints", None)
    if taints:
        spec["taints"] = taints
    status = node.setdefault("status", {})
    for kind, value, reason in _NODE_CONDITIONS:
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
        {"type": "InternalIP", "address": address(name, "10.10")},
        {"type": "Hostname", "address": name},
    ]
    status["capacity"] = status["allocatable"] = _RESOURCES
    status["nodeInfo"] = _node_info(name)
    return node


def _node_info(name: str) -> JsonObject:
    identity = hashlib.sha256(name.encode()).hexdigest()
    return {
        "machineID": identity[:32],
        "systemUUID": identity[:32],
        "bootID": identity[32:],
        "kernelVersion": "pretended",
        "osImage": "Bailiff embedded",
        "containerRuntimeVersion": "pretend://1",
        "kubeletVersion": "v1.36.2+bailiff",
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": "amd64",
    }


def running_pod(pod: JsonObject, now: datetime) -> JsonObject:
    """A pod whose containers all run and are ready."""
    started = format_time(now)
    status = pod["status"]
    status |= {"phase": "Running", "startTime": started, "observedGeneration": _generation(pod)}
    status["hostIP"] = address(pod["spec"]["nodeName"], "10.10")
    status["podIP"] = address(pod["metadata"]["uid"], "10.244")
    status["hostIPs"], status["podIPs"] = [{"ip": status["hostIP"]}], [{"ip": status["podIP"]}]
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


def _generation(pod: JsonObject) -> int:
    generation: int = pod["metadata"].get("generation", 1)
    return generation
