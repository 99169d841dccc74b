"""StatefulSets: fixed names, one after the other; a lost pod comes back with a new UID."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.pretend.owned import (
    delete_pod,
    is_active,
    is_ready,
    owned,
    pod_from,
    write_status,
)
from bailiff.embedded.resources import PODS, STATEFULSETS

if TYPE_CHECKING:
    from bailiff.embedded.registry import Registry
    from bailiff.embedded.storage import Record


def sync_statefulset(registry: Registry, statefulset: Record) -> None:
    """Make the first that is missing, delete the last that is too much."""
    pods = {record.key[1]: record for record in owned(registry, PODS, statefulset)}
    replicas = statefulset.object["spec"]["replicas"]
    names = [f"{statefulset.key[1]}-{ordinal}" for ordinal in range(replicas)]
    one_by_one = statefulset.object["spec"].get("podManagementPolicy") != "Parallel"
    for name in names:
        present = pods.get(name)
        if present is None:
            _create(registry, statefulset, name)
        elif not present.object["metadata"].get("deletionTimestamp") and not is_active(
            present.object
        ):
            delete_pod(registry, present)
        if one_by_one and (present is None or not is_ready(present.object)):
            break
    surplus = [record for name, record in pods.items() if name not in names]
    if surplus:
        delete_pod(registry, max(surplus, key=_ordinal))
    _write_status(registry, statefulset)


def _create(registry: Registry, statefulset: Record, name: str) -> None:
    pod = pod_from(statefulset.object, name=name)
    labels = pod["metadata"].setdefault("labels", {})
    labels["statefulset.kubernetes.io/pod-name"] = name
    labels["apps.kubernetes.io/pod-index"] = name.rpartition("-")[2]
    pod["spec"]["hostname"] = name
    registry.create(PODS, statefulset.key[0], pod)


def _ordinal(record: Record) -> int:
    digits = record.key[1].rpartition("-")[2]
    return int(digits) if digits.isdigit() else -1


def _write_status(registry: Registry, statefulset: Record) -> None:
    pods = [record.object for record in owned(registry, PODS, statefulset)]
    ready = sum(is_active(pod) and is_ready(pod) for pod in pods)
    counts = {"replicas": len(pods), "currentReplicas": len(pods), "updatedReplicas": len(pods)}
    status = {**counts, "readyReplicas": ready, "availableReplicas": ready}
    write_status(registry, STATEFULSETS, statefulset, status)
