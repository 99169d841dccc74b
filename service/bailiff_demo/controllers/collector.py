"""The garbage collector: what lost its owner, its node or its namespace goes; claims become free.

As pkg/controller/garbagecollector, podgc, namespace and resourceclaim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo.controllers.controller import BATCH, attempt
from bailiff_demo.objects import JsonObject, clone, has_finished, is_going, part
from bailiff_demo.registry import DeleteOptions, Registry, Target
from bailiff_demo.resources import (
    NAMESPACES,
    NODES,
    OWN_RESOURCES,
    PODS,
    RESOURCECLAIMS,
    Resource,
)

if TYPE_CHECKING:
    from bailiff_demo.store import Change, Key, Record


class Collector:
    """Deletes dependents, pods of nodes that are gone, and the content of ending namespaces."""

    resources: tuple[Resource, ...] = OWN_RESOURCES

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        # Who depends on which UID; work to do; namespaces that still have content.
        self._dependents: dict[str, set[tuple[Resource, Key]]] = {}
        self._todo: list[tuple[Resource, Record]] = []
        self._ending: dict[str, None] = {}

    def notice(self, resource: Resource, change: Change) -> None:
        """See Controller."""
        obj, gone = change.record.object, change.type == "DELETED"
        self._index(resource, change)
        if gone and (change.record.uid in self._dependents or resource is NODES):
            self._todo.append((resource, change.record))
        if resource is NAMESPACES and is_going(obj):
            self._ending[change.record.key[1]] = None
            if gone:
                del self._ending[change.record.key[1]]

    def _index(self, resource: Resource, change: Change) -> None:
        entry = resource, change.record.key
        for uid in _owners(change.previous):
            self._dependents.get(uid, set()).discard(entry)
            if not self._dependents.get(uid):
                self._dependents.pop(uid, None)
        if change.type != "DELETED":
            for uid in _owners(change.record):
                self._dependents.setdefault(uid, set()).add(entry)

    def act(self, now: float) -> float | None:
        """See Controller."""
        batch, self._todo = self._todo[:BATCH], self._todo[BATCH:]
        for resource, record in batch:
            with attempt(self, "collect dependents"):
                self._collect(resource, record)
        for name in list(self._ending):
            with attempt(self, f"empty namespace {name}"):
                self._empty(name)
        return now if self._todo else None

    def _collect(self, resource: Resource, record: Record) -> None:
        dependents = self._dependents.get(record.uid, ())
        for dependent, key in sorted(dependents, key=lambda entry: entry[1]):
            found = self._registry.store.bucket(dependent).get(key)
            if found is not None and not self._has_owner(found):
                self._delete(Target(dependent, *key))
        if resource is NODES:
            for pod in list(self._registry.store.bucket(PODS).records()):
                if pod.object["spec"].get("nodeName") == record.key[1]:
                    self._delete(Target(PODS, *pod.key), DeleteOptions(grace_seconds=0))

    def _has_owner(self, record: Record) -> bool:
        """Whether one of its owners still lives."""
        for owner in record.object["metadata"].get("ownerReferences") or []:
            for resource in OWN_RESOURCES:
                key = record.key[0] if resource.namespaced else "", owner.get("name", "")
                found = self._registry.store.bucket(resource).get(key)
                if found is not None and found.uid == owner.get("uid"):
                    return True
        return False

    def _delete(self, target: Target, options: DeleteOptions | None = None) -> bool:
        """Delete what is still there; whether it is gone then."""
        if self._registry.store.bucket(target.resource).get(target.key) is None:
            return True
        return self._registry.delete(target, options)[1]

    def _empty(self, name: str) -> None:
        gone = [
            self._delete(Target(resource, *record.key))
            for resource in OWN_RESOURCES
            if resource.namespaced
            for record in list(self._registry.store.bucket(resource).records(name))
        ]
        namespace = self._registry.store.bucket(NAMESPACES).get(("", name))
        if all(gone) and namespace and not namespace.object["metadata"].get("finalizers"):
            self._registry.store.remove(NAMESPACES, namespace)


def _owners(record: Record | None) -> list[str]:
    references = record.object["metadata"].get("ownerReferences") if record is not None else None
    return [owner.get("uid", "") for owner in references or []]


class Claims:
    """Takes pods that are gone or done out of `reservedFor`: a device without users is free."""

    resources: tuple[Resource, ...] = (RESOURCECLAIMS, PODS)

    def __init__(self, registry: Registry) -> None:
        self._store = registry.store
        self._dirty: set[Key] = set()

    def notice(self, resource: Resource, change: Change) -> None:
        """See Controller."""
        if resource is RESOURCECLAIMS:
            self._dirty.add(change.record.key)
        elif change.type == "DELETED" or has_finished(change.record.object):
            self._dirty.update(self._store.bucket(RESOURCECLAIMS).keys(change.record.key[0]))

    def act(self, now: float) -> float | None:  # noqa: ARG002 - the protocol's
        """See Controller."""
        for key in sorted(self._dirty):
            record = self._store.bucket(RESOURCECLAIMS).get(key)
            if record is not None:
                self._sync(record)
        self._dirty.clear()
        return None

    def _sync(self, claim: Record) -> None:
        users = part(claim.object, "status").get("reservedFor") or []
        left = [user for user in users if self._uses(claim.key[0], user)]
        if left != users:
            changed = clone(claim.object)
            changed["status"] = {**changed["status"], "reservedFor": left} if left else {}
            self._store.replace(RESOURCECLAIMS, claim, changed)

    def _uses(self, namespace: str, user: JsonObject) -> bool:
        if user.get("apiGroup") or user.get("resource") != "pods":
            return True
        pod = self._store.bucket(PODS).get((namespace, user.get("name", "")))
        return pod is not None and pod.uid == user.get("uid") and not has_finished(pod.object)
