"""DaemonSets: one pod on each node that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.objects import JsonObject, clone
from bailiff.embedded.pretend.owned import (
    delete_pod,
    is_active,
    is_ready,
    owned,
    pod_from,
    write_status,
)
from bailiff.embedded.pretend.placing import pin, pinned_node, selects, tolerated
from bailiff.embedded.resources import DAEMONSETS, NODES, PODS

if TYPE_CHECKING:
    from bailiff.embedded.registry import Registry
    from bailiff.embedded.storage import Record

_PREFIX = "node.kubernetes.io/"
# What every DaemonSet's pod tolerates (pkg/controller/daemon/util/daemonset_util.go).
_TOLERATED = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)


def sync_daemonset(registry: Registry, daemonset: Record) -> None:
    """Make what is missing, delete what has ended or lost its node."""
    present: dict[str, Record] = {}
    for record in owned(registry, PODS, daemonset):
        present[_node_of(record.object)] = record
    spec = daemon_spec(daemonset.object)
    nodes = {record.key[1]: record.object for record in registry.store.bucket(NODES).records()}
    wanted = [n for n, node in nodes.items() if selects(spec, node) and tolerated(spec, node)]
    for node, record in present.items():
        if node not in nodes or not is_active(record.object):
            delete_pod(registry, record)
    for node in wanted:
        if node not in present:
            pod = pod_from(daemonset.object, generateName=f"{daemonset.key[1]}-")
            pod["spec"] = {**clone(spec), "affinity": pin(node)}
            registry.create(PODS, daemonset.key[0], pod)
    _write_status(registry, daemonset, len(wanted))


def daemon_spec(daemonset: JsonObject) -> JsonObject:
    """The template's spec with the tolerations of a daemon; an equal one loses its seconds."""
    spec = clone(daemonset["spec"]["template"]["spec"])
    marks = [*_TOLERATED]
    if spec.get("hostNetwork"):
        marks.append(("network-unavailable", "NoSchedule"))
    ours = [{"key": _PREFIX + k, "operator": "Exists", "effect": e} for k, e in marks]
    kept = [t for t in spec.get("tolerations", []) if _identity(t) not in map(_identity, ours)]
    spec["tolerations"] = [*kept, *ours]
    found: JsonObject = spec
    return found


def _identity(toleration: JsonObject) -> tuple[str, ...]:
    return tuple(toleration.get(name, "") for name in ("key", "effect", "operator", "value"))


def _node_of(pod: JsonObject) -> str:
    return pod["spec"].get("nodeName") or pinned_node(pod["spec"]) or ""


def _write_status(registry: Registry, daemonset: Record, wanted: int) -> None:
    pods = [r.object for r in owned(registry, PODS, daemonset) if is_active(r.object)]
    ready = sum(is_ready(pod) for pod in pods)
    status = {
        "desiredNumberScheduled": wanted,
        "currentNumberScheduled": len(pods),
        "updatedNumberScheduled": len(pods),
        "numberReady": ready,
        "numberAvailable": ready,
        "numberUnavailable": max(0, wanted - ready),
    }
    write_status(registry, DAEMONSETS, daemonset, status)
