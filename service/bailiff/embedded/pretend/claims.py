"""The pretended controller of claims: a device that nobody uses any more is free again.

As pkg/controller/resourceclaim/controller.go, for pods and claims that are there; it makes no
claims from templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.objects import JsonObject, clone, part
from bailiff.embedded.resources import PODS, RESOURCECLAIMS, Resource

if TYPE_CHECKING:
    from bailiff.embedded.registry import Registry
    from bailiff.embedded.storage import Change, Key, Record


class Claims:
    """Takes pods that are gone or done out of `reservedFor`."""

    resources: tuple[Resource, ...] = (RESOURCECLAIMS, PODS)

    def __init__(self, registry: Registry) -> None:
        self._store = registry.store
        self._dirty: set[Key] = set()

    def notice(self, resource: Resource, change: Change) -> None:
        """See Actor."""
        if resource is RESOURCECLAIMS:
            self._dirty.add(change.record.key)
        elif change.type == "DELETED" or _is_done(change.record.object):
            self._dirty.update(self._store.bucket(RESOURCECLAIMS).keys(change.record.key[0]))

    def act(self, now: float) -> float | None:  # noqa: ARG002 - the protocol's
        """See Actor."""
        for key in sorted(self._dirty):
            record = self._store.bucket(RESOURCECLAIMS).get(key)
            if record is not None:
                self._sync(record)
        self._dirty.clear()
        return None

    def _sync(self, claim: Record) -> None:
        users = part(claim.object, "status").get("reservedFor") or []
        left = [user for user in users if self._uses(claim.key[0], user)]
        if left == users:
            return
        changed = clone(claim.object)
        changed["status"]["reservedFor"] = left
        if not left:
            changed["status"] = {}
        self._store.replace(RESOURCECLAIMS, claim, changed)

    def _uses(self, namespace: str, user: JsonObject) -> bool:
        if user.get("apiGroup") or user.get("resource") != "pods":
            return True
        pod = self._store.bucket(PODS).get((namespace, user.get("name", "")))
        return pod is not None and pod.uid == user.get("uid") and not _is_done(pod.object)


def _is_done(pod: JsonObject) -> bool:
    """It runs no more, whether or not it is still there."""
    return part(pod, "status").get("phase") in ("Succeeded", "Failed")
