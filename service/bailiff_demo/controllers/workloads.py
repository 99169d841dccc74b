"""The controllers of apps/v1: which workload a change concerns, then what it calls for."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from bailiff_demo.controllers.controller import BATCH, attempt
from bailiff_demo.controllers.deployments import sync_deployment, sync_replicaset
from bailiff_demo.controllers.owned import (
    controller_of,
    delete_pod,
    is_active,
    owned,
    pod_from,
    write_status,
)
from bailiff_demo.controllers.placing import pin, pinned_node, selects, tolerated
from bailiff_demo.objects import JsonObject, clone, is_going, is_ready
from bailiff_demo.resources import (
    DAEMONSETS,
    DEPLOYMENTS,
    NODES,
    PODS,
    REPLICASETS,
    STATEFULSETS,
    Resource,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff_demo.registry import Registry
    from bailiff_demo.store import Change, Key, Record

# What every DaemonSet's pod tolerates (pkg/controller/daemon/util/daemonset_util.go).
_DAEMON_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
]


def sync_daemonset(registry: Registry, daemonset: Record) -> None:
    """One pod on each node that fits: make what is missing, delete what has ended."""
    spec = daemon_spec(daemonset.object)
    nodes = {record.key[1]: record.object for record in registry.store.bucket(NODES).records()}
    wanted = [n for n, node in nodes.items() if selects(spec, node) and tolerated(spec, node)]
    present = {}
    for record in owned(registry, PODS, daemonset):
        pod = record.object["spec"]
        node = pod.get("nodeName") or pinned_node(pod)
        present[node] = record
        if node not in nodes or not is_active(record.object):
            delete_pod(registry, record)
    for node in wanted:
        if node not in present:
            made = pod_from(daemonset.object, generateName=f"{daemonset.key[1]}-")
            made["spec"] = {**clone(spec), "affinity": pin(node)}
            registry.create(PODS, daemonset.key[0], made)
    pods = [r.object for r in owned(registry, PODS, daemonset) if is_active(r.object)]
    ready = sum(map(is_ready, pods))
    status = {
        **dict.fromkeys(("currentNumberScheduled", "updatedNumberScheduled"), len(pods)),
        **dict.fromkeys(("numberReady", "numberAvailable"), ready),
        "desiredNumberScheduled": len(wanted),
        "numberUnavailable": max(0, len(wanted) - ready),
    }
    write_status(registry, DAEMONSETS, daemonset, status)


def daemon_spec(daemonset: JsonObject) -> JsonObject:
    """The template's spec with the tolerations of a daemon."""
    spec: JsonObject = clone(daemonset["spec"]["template"]["spec"])
    own = [t for t in spec.get("tolerations") or [] if t not in _DAEMON_TOLERATIONS]
    spec["tolerations"] = [*own, *_DAEMON_TOLERATIONS]
    return spec


def sync_statefulset(registry: Registry, statefulset: Record) -> None:
    """Fixed names, one after the other: make the first that is missing, delete the last too many.

    A lost pod comes back with a new UID.
    """
    pods = {record.key[1]: record for record in owned(registry, PODS, statefulset)}
    spec = statefulset.object["spec"]
    made = 0
    for ordinal in range(spec["replicas"]):
        name = f"{statefulset.key[1]}-{ordinal}"
        present = pods.get(name)
        if present is None:
            _create(registry, statefulset, name)
            made += 1
        elif not is_active(present.object):
            delete_pod(registry, present)
        waits = present is None or not is_ready(present.object)
        if made == BATCH or (waits and spec["podManagementPolicy"] != "Parallel"):
            break
    if surplus := [record for record in pods.values() if _ordinal(record) >= spec["replicas"]]:
        delete_pod(registry, max(surplus, key=_ordinal))
    pods = {record.key[1]: record for record in owned(registry, PODS, statefulset)}
    ready = sum(is_active(r.object) and is_ready(r.object) for r in pods.values())
    counts = dict.fromkeys(("replicas", "currentReplicas", "updatedReplicas"), len(pods))
    status = {**counts, "readyReplicas": ready, "availableReplicas": ready}
    write_status(registry, STATEFULSETS, statefulset, status)


def _create(registry: Registry, statefulset: Record, name: str) -> None:
    pod = pod_from(statefulset.object, name=name)
    labels = pod["metadata"].setdefault("labels", {})
    labels["statefulset.kubernetes.io/pod-name"] = name
    labels["apps.kubernetes.io/pod-index"] = name.rpartition("-")[2]
    pod["spec"]["hostname"] = name
    registry.create(PODS, statefulset.key[0], pod)


def _ordinal(record: Record) -> int:
    digits = record.key[1].rpartition("-")[2]
    return int(digits) if digits.isdecimal() else -1


_SYNC: dict[Resource, Callable[[Registry, Record], None]] = {
    DEPLOYMENTS: sync_deployment,
    REPLICASETS: sync_replicaset,
    STATEFULSETS: sync_statefulset,
    DAEMONSETS: sync_daemonset,
}
_BY_KIND = {resource.kind: resource for resource in _SYNC}


class Workloads:
    """Keeps the pods of workloads at their number."""

    resources: tuple[Resource, ...] = (NODES, *_SYNC, PODS)

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._dirty: dict[tuple[Resource, Key], None] = {}

    def notice(self, resource: Resource, change: Change) -> None:
        """See Controller."""
        record = change.record
        if resource is NODES:
            for daemonset in self._registry.store.bucket(DAEMONSETS).records():
                self._dirty[DAEMONSETS, daemonset.key] = None
        elif resource in _SYNC:
            self._dirty[resource, record.key] = None
        owner = controller_of(record.object) or {}
        if owner.get("kind") in _BY_KIND:
            self._dirty[_BY_KIND[owner["kind"]], (record.key[0], owner["name"])] = None

    def act(self, now: float) -> float | None:
        """See Controller."""
        for resource, key in list(islice(self._dirty, BATCH)):
            del self._dirty[resource, key]
            record = self._registry.store.bucket(resource).get(key)
            if record is None or is_going(record.object):
                continue
            with attempt(self, f"sync {resource.plural} {key[0]}/{key[1]}"):
                _SYNC[resource](self._registry, record)
        return now if self._dirty else None
