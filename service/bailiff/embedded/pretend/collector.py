"""The pretended garbage collector: what lost its owner, its node or its namespace goes too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.objects import JsonObject, clone, part
from bailiff.embedded.pretend.actor import BATCH, attempt
from bailiff.embedded.registry import DeleteOptions, Registry, Target, acts
from bailiff.embedded.resources import NAMESPACES, NODES, PODS, RESOURCES, Resource

if TYPE_CHECKING:
    from bailiff.embedded.storage import Change, Key, Record

_OWN = tuple(resource for resource in RESOURCES if not resource.storage)
_FINALIZERS = ("foregroundDeletion", "orphan")


class Collector:
    """Deletes dependents, pods of nodes that are gone, and the content of ending namespaces."""

    resources: tuple[Resource, ...] = _OWN

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        # Who depends on which UID; work to do; namespaces that still have content.
        self._dependents: dict[str, set[tuple[Resource, Key]]] = {}
        self._todo: list[tuple[Resource, Record]] = []
        self._ending: dict[str, None] = {}

    def notice(self, resource: Resource, change: Change) -> None:
        """See Actor."""
        obj, gone = change.record.object, change.type == "DELETED"
        self._index(resource, change)
        finalizers = obj["metadata"].get("finalizers") or []
        leaves = gone and (change.record.uid in self._dependents or resource is NODES)
        if leaves or any(f in finalizers for f in _FINALIZERS):
            self._todo.append((resource, change.record))
        if resource is NAMESPACES and obj["metadata"].get("deletionTimestamp"):
            if gone:
                self._ending.pop(change.record.key[1], None)
            else:
                self._ending[change.record.key[1]] = None

    def _index(self, resource: Resource, change: Change) -> None:
        entry = resource, change.record.key
        for owner in change.record.object["metadata"].get("ownerReferences") or []:
            uid = owner.get("uid", "")
            if change.type != "DELETED":
                self._dependents.setdefault(uid, set()).add(entry)
            elif uid in self._dependents:
                self._dependents[uid].discard(entry)
                if not self._dependents[uid]:
                    del self._dependents[uid]

    def act(self, now: float) -> float | None:
        """See Actor."""
        batch, self._todo = self._todo[:BATCH], self._todo[BATCH:]
        for resource, record in batch:
            with attempt(self, "collect dependents"):
                self._collect(resource, record)
        for name in list(self._ending):
            with attempt(self, f"empty namespace {name}"):
                self._empty(name)
        return now if self._todo else None

    def _collect(self, resource: Resource, record: Record) -> None:
        finalizers = record.object["metadata"].get("finalizers") or []
        if "orphan" not in finalizers:
            self._delete_dependents(record)
        if resource is NODES:
            self._delete_pods_of(record.key[1])
        if any(f in finalizers for f in _FINALIZERS):
            self._release(resource, record)

    def _delete_dependents(self, owner: Record) -> None:
        for resource, key in sorted(self._dependents.get(owner.uid, ()), key=lambda e: e[1]):
            if self._registry.store.bucket(resource).get(key) is not None:
                self._registry.delete(Target(resource, *key), DeleteOptions())

    def _delete_pods_of(self, node: str) -> None:
        for record in list(self._registry.store.bucket(PODS).records()):
            if record.object["spec"].get("nodeName") == node:
                options = DeleteOptions(grace_seconds=0)
                self._registry.delete(Target(PODS, *record.key), options)

    def _release(self, resource: Resource, record: Record) -> None:
        target = Target(resource, *record.key)
        if self._registry.store.bucket(resource).get(record.key) is None:
            return

        def mutate(obj: JsonObject) -> JsonObject:
            kept = [f for f in obj["metadata"].get("finalizers") or [] if f not in _FINALIZERS]
            obj["metadata"]["finalizers"] = kept
            return obj

        self._registry.change(target, mutate)

    def _empty(self, name: str) -> None:
        left = False
        for resource in _OWN:
            if not resource.namespaced:
                continue
            for record in list(self._registry.store.bucket(resource).records(name)):
                _, gone = self._registry.delete(Target(resource, *record.key), DeleteOptions())
                left = left or not gone
        if not left:
            target = Target(NAMESPACES, "", name, "finalize")
            namespace = self._registry.store.bucket(NAMESPACES).get(target.key)
            if namespace is not None and part(namespace.object, "spec").get("finalizers"):
                body = clone(namespace.object)
                body["spec"] = {"finalizers": []}
                acts.finalize(self._registry, target, body)
