"""How objects go: preconditions, grace, finalizers (apiserver/pkg/registry/rest/delete.go)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.objects import JsonObject, clone, format_time, parse_time
from bailiff.embedded.resources import NAMESPACES, PODS
from bailiff.embedded.storage import Record, Store

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.embedded.errors import ApiError
    from bailiff.embedded.registry.target import DeleteOptions, Target

IMMORTAL_NAMESPACES = frozenset({"default", "kube-system", "kube-public"})
_PROPAGATION_FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}
# The longest grace period that is still a date: 100 years.
_MAX_GRACE = 100 * 365 * 24 * 3600


class Deletion:
    """Deletes objects as their kind wants it."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def delete(self, record: Record, target: Target, options: DeleteOptions) -> tuple[Record, bool]:
        """See Registry.delete."""
        check_preconditions(record, target, options)
        if target.resource is NAMESPACES:
            return self._delete_namespace(record, target, options)
        obj: JsonObject = clone(record.object)
        _add_propagation_finalizer(obj, options)
        if target.resource is PODS:
            return self._delete_pod(record, obj, target, options)
        if not obj["metadata"].get("finalizers"):
            return self._remove(record, target, options), True
        if obj["metadata"].get("deletionTimestamp") and obj == record.object:
            return record, False
        self._mark(obj, 0)
        return self._replace(record, obj, target, options), False

    @staticmethod
    def is_finished(obj: JsonObject) -> bool:
        """Whether a marked object has nothing left that holds it."""
        meta = obj["metadata"]
        if not meta.get("deletionTimestamp") or meta.get("finalizers"):
            return False
        if obj["kind"] == "Namespace" and (obj.get("spec") or {}).get("finalizers"):
            return False
        return not meta.get("deletionGracePeriodSeconds")

    def _delete_pod(
        self, record: Record, obj: JsonObject, target: Target, options: DeleteOptions
    ) -> tuple[Record, bool]:
        grace = _grace_of(obj, options)
        held = bool(obj["metadata"].get("finalizers"))
        if obj["metadata"].get("deletionTimestamp"):
            if not self._shorten(obj, options):
                return self._finish(record, obj, target, options, held=held)
        else:
            self._mark(obj, grace)
        record = self._replace(record, obj, target, options)
        return self._finish(record, obj, target, options, held=held)

    def _finish(
        self, record: Record, obj: JsonObject, target: Target, options: DeleteOptions, *, held: bool
    ) -> tuple[Record, bool]:
        if held or obj["metadata"].get("deletionGracePeriodSeconds"):
            return record, False
        return self._remove(record, target, options), True

    def _shorten(self, obj: JsonObject, options: DeleteOptions) -> bool:
        """Move the end of a grace period that runs already; it never moves back."""
        meta = obj["metadata"]
        running = meta.get("deletionGracePeriodSeconds") or 0
        if running == 0 or options.grace_seconds is None:
            return False
        grace = max(options.grace_seconds, 0) if options.grace_seconds >= 0 else 1
        if grace >= running:
            return False
        now = self._clock.now().replace(microsecond=0)
        end = parse_time(meta["deletionTimestamp"]) or now
        moved = end - timedelta(seconds=running - grace)
        if moved < now:
            moved, grace = now, 1 if grace else 0
        meta["deletionTimestamp"] = format_time(moved)
        meta["deletionGracePeriodSeconds"] = grace
        return True

    def _mark(self, obj: JsonObject, grace: int) -> None:
        meta = obj["metadata"]
        if meta.get("deletionTimestamp"):
            return
        meta["deletionTimestamp"] = format_time(self._clock.now() + timedelta(seconds=grace))
        meta["deletionGracePeriodSeconds"] = grace
        if meta.get("generation"):
            meta["generation"] += 1

    def _delete_namespace(
        self, record: Record, target: Target, options: DeleteOptions
    ) -> tuple[Record, bool]:
        if target.name in IMMORTAL_NAMESPACES:
            raise errors.forbidden(NAMESPACES, target.name, "this namespace may not be deleted")
        obj: JsonObject = clone(record.object)
        if not obj["metadata"].get("deletionTimestamp"):
            obj["metadata"]["deletionTimestamp"] = format_time(self._clock.now())
            obj.setdefault("status", {})["phase"] = "Terminating"
        elif not self.is_finished(obj):
            raise errors.conflict(
                NAMESPACES,
                target.name,
                "The system is ensuring all content is removed from this namespace.  Upon "
                "completion, this namespace will automatically be purged by the system.",
            )
        if self.is_finished(obj):
            return self._remove(record, target, options), True
        return self._replace(record, obj, target, options), False

    def _replace(
        self, record: Record, obj: JsonObject, target: Target, options: DeleteOptions
    ) -> Record:
        if options.dry_run or obj == record.object:
            return Record(record.key, record.version, obj)
        return self._store.replace(target.resource, record, obj)

    def _remove(self, record: Record, target: Target, options: DeleteOptions) -> Record:
        if options.dry_run:
            return record
        return self._store.remove(target.resource, record)


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
    kind = target.resource.kind
    named = replace(target.resource, plural=kind)
    return errors.conflict(named, target.name, why)


def _grace_of(pod: JsonObject, options: DeleteOptions) -> int:
    """Seconds of grace: none for a pod that never started or has ended."""
    spec, phase = pod.get("spec") or {}, (pod.get("status") or {}).get("phase")
    if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
        return 0
    grace = options.grace_seconds
    if grace is None:
        grace = spec.get("terminationGracePeriodSeconds") or 0
    return min(grace, _MAX_GRACE) if grace >= 0 else 1


def _add_propagation_finalizer(obj: JsonObject, options: DeleteOptions) -> None:
    wanted = _PROPAGATION_FINALIZERS.get(options.propagation)
    meta = obj["metadata"]
    others = set(_PROPAGATION_FINALIZERS.values()) - {wanted}
    kept = [f for f in meta.get("finalizers", []) if not (options.propagation and f in others)]
    if wanted and wanted not in kept:
        kept.append(wanted)
    if kept != meta.get("finalizers", []):
        meta["finalizers"] = kept
