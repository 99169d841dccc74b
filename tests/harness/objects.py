"""Objects as JSON, as kubectl would send them. Those of resource.k8s.io: device_objects.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Object = dict[str, Any]

KEY = "example.com/maintenance"


def object_of(kind: str, name: str, /, **parts: object) -> Object:
    """Any object of the core group."""
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}} | parts


def node_object(name: str, /, *taints: Mapping[str, Any]) -> Object:
    """A node with the label that a kubelet gives it.

    Of an object that is made with nothing that anybody can own the API server keeps no
    managedFields before something is applied to it (k8s.io/apimachinery,
    pkg/util/managedfields/internal/skipnonapplied.go).
    """
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    spec = {"taints": list(taints)} if taints else {}
    return object_of("Node", name, metadata=metadata, spec=spec)


def pod_object(name: str, /, **spec: object) -> Object:
    """A pod with one container, unless told otherwise."""
    return object_of("Pod", name, spec={"containers": [container()]} | spec)


def container() -> Object:
    """The least that a pod must hold."""
    return {"name": "main", "image": "registry.example/app"}


def config_map(name: str = "a", /, **data: str) -> Object:
    """A ConfigMap."""
    return object_of("ConfigMap", name, data=data)


def taint(key: str = KEY, value: str = "", effect: str = "NoExecute") -> Object:
    """A taint of a node."""
    return {"key": key, "value": value, "effect": effect}


def tolerating(seconds: int | None = None, key: str = KEY) -> Object:
    """A toleration of a NoExecute taint, for ever if no seconds are given."""
    toleration: Object = {"key": key, "operator": "Exists", "effect": "NoExecute"}
    return toleration if seconds is None else toleration | {"tolerationSeconds": seconds}


def condition(kind: str, status: str = "True", **more: str) -> Object:
    """A condition of a status."""
    return {"type": kind, "status": status} | more
