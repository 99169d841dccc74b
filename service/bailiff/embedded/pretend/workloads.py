"""The pretended controllers of apps/v1: which workload a change concerns, then its controller."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from bailiff.embedded.pretend.actor import BATCH, attempt
from bailiff.embedded.pretend.daemonsets import sync_daemonset
from bailiff.embedded.pretend.replicas import sync_deployment, sync_replicaset
from bailiff.embedded.pretend.statefulsets import sync_statefulset
from bailiff.embedded.resources import (
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

    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.registry import Registry
    from bailiff.embedded.storage import Change, Key, Record

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
        """See Actor."""
        if resource is NODES:
            for record in self._registry.store.bucket(DAEMONSETS).records():
                self._dirty[DAEMONSETS, record.key] = None
            return
        record = change.record
        if resource in _SYNC:
            self._dirty[resource, record.key] = None
        owner = controller_of(record.object)
        if owner is not None and owner.get("kind") in _BY_KIND:
            self._dirty[_BY_KIND[owner["kind"]], (record.key[0], owner.get("name", ""))] = None

    def act(self, now: float) -> float | None:
        """See Actor."""
        for resource, key in list(islice(self._dirty, BATCH)):
            del self._dirty[resource, key]
            record = self._registry.store.bucket(resource).get(key)
            if record is None or record.object["metadata"].get("deletionTimestamp"):
                continue
            with attempt(self, f"sync {resource.plural} {key[0]}/{key[1]}"):
                _SYNC[resource](self._registry, record)
        return now if self._dirty else None


def controller_of(obj: JsonObject) -> JsonObject | None:
    """The owner that controls an object; None without one."""
    owners: list[JsonObject] = obj["metadata"].get("ownerReferences") or []
    return next((owner for owner in owners if owner.get("controller")), None)
