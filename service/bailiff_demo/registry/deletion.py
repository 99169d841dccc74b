"""How objects go: preconditions, grace, finalizers (apiserver/pkg/registry/rest/delete.go)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bailiff_demo import errors
from bailiff_demo.objects import (
    JsonObject,
    clone,
    format_time,
    has_finished,
    is_going,
    parse_time,
    part,
)
from bailiff_demo.resources import NAMESPACES, PODS
from bailiff_demo.shapes import check_shape

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff_demo.errors import ApiError
    from bailiff_demo.registry.meta import Target
    from bailiff_demo.store import Record, Store

_IMMORTAL = frozenset({"default", "kube-system", "kube-public"})
# The longest grace period that is still a date: 100 years.
_MAX_GRACE = 100 * 365 * 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """metav1.DeleteOptions; dependents always go in the background.

    Attributes:
        grace_seconds: of a pod; None for its own. Below zero counts as one.
        uid: the object must have this UID.
        resource_version: the object must be at this version.
    """

    grace_seconds: int | None = None
    uid: str | None = None
    resource_version: str | None = None

    @classmethod
    def parse(cls, body: JsonObject) -> DeleteOptions:
        """From a request's body.

        Raises:
            ApiError: 400, wrong types.
        """
        check_shape(body, "DeleteOptions")
        conditions = part(body, "preconditions")
        return cls(
            grace_seconds=body.get("gracePeriodSeconds"),
            uid=conditions.get("uid"),
            resource_version=conditions.get("resourceVersion"),
        )


class Deletion:
    """Deletes objects as their kind wants it."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def delete(self, record: Record, target: Target, options: DeleteOptions) -> tuple[Record, bool]:
        """See Registry.delete."""
        check_preconditions(record, target, options)
        obj: JsonObject = clone(record.object)
        if target.resource is NAMESPACES:
            self._mark_namespace(obj, target)
        else:
            grace = _grace_of(obj, options) if target.resource is PODS else 0
            held = bool(obj["metadata"].get("finalizers"))
            if is_going(obj):
                self._shorten(obj, options)
            elif grace or held or target.resource is PODS:
                self._mark(obj, grace)
            else:
                return self._store.remove(target.resource, record), True
        record = self._replace(record, obj, target)
        if self.is_finished(obj):
            return self._store.remove(target.resource, record), True
        return record, False

    @staticmethod
    def is_finished(obj: JsonObject) -> bool:
        """Whether nothing holds a marked object any more; a namespace ends with its content."""
        meta = obj["metadata"]
        held = meta.get("finalizers") or meta.get("deletionGracePeriodSeconds")
        return is_going(obj) and not held and obj["kind"] != "Namespace"

    def _shorten(self, obj: JsonObject, options: DeleteOptions) -> None:
        """Move the end of a grace period that runs already; it never moves back."""
        meta, wanted = obj["metadata"], options.grace_seconds
        running = meta.get("deletionGracePeriodSeconds") or 0
        if running == 0 or wanted is None:
            return
        grace = wanted if wanted >= 0 else 1
        if grace >= running:
            return
        now = self._clock.now().replace(microsecond=0)
        end = parse_time(meta["deletionTimestamp"]) or now
        moved = end - timedelta(seconds=running - grace)
        if moved < now:
            moved, grace = now, 1 if grace else 0
        meta["deletionTimestamp"] = format_time(moved)
        meta["deletionGracePeriodSeconds"] = grace

    def _mark(self, obj: JsonObject, grace: int) -> None:
        meta = obj["metadata"]
        meta["deletionTimestamp"] = format_time(self._clock.now() + timedelta(seconds=grace))
        meta["deletionGracePeriodSeconds"] = grace
        if meta.get("generation"):
            meta["generation"] += 1

    def _mark_namespace(self, obj: JsonObject, target: Target) -> None:
        if target.name in _IMMORTAL:
            raise errors.forbidden(NAMESPACES, target.name, "this namespace may not be deleted")
        if is_going(obj):
            why = (
                "The system is ensuring all content is removed from this namespace.  Upon "
                "completion, this namespace will automatically be purged by the system."
            )
            raise errors.conflict(NAMESPACES, target.name, why)
        obj["metadata"]["deletionTimestamp"] = format_time(self._clock.now())
        obj.setdefault("status", {})["phase"] = "Terminating"

    def _replace(self, record: Record, obj: JsonObject, target: Target) -> Record:
        return record if obj == record.object else self._store.replace(target.resource, record, obj)


def check_preconditions(record: Record, target: Target, options: DeleteOptions) -> None:
    """Refuse to touch another object or version than the client means.

    Raises:
        ApiError: 409.
    """
    if options.uid is not None and options.uid != record.uid:
        raise _precondition(
            target,
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({record.uid}). The object might have been deleted and then recreated",
        )
    version = options.resource_version
    if version is not None and version != str(record.version):
        raise _precondition(
            target,
            f"the ResourceVersion in the precondition ({version}) does not match the "
            f"ResourceVersion in record ({record.version}). The object might have been modified",
        )


def _precondition(target: Target, why: str) -> ApiError:
    return errors.conflict(target.resource, target.name, why, target.resource.kind)


def _grace_of(pod: JsonObject, options: DeleteOptions) -> int:
    """Seconds of grace: none for a pod that never started or has ended."""
    spec = part(pod, "spec")
    if not spec.get("nodeName") or has_finished(pod):
        return 0
    grace = options.grace_seconds
    if grace is None:
        grace = spec.get("terminationGracePeriodSeconds") or 0
    return min(grace, _MAX_GRACE) if grace >= 0 else 1
