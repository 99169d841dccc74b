"""create, get, update, patch: every write passes here, whoever makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bailiff.embedded import errors
from bailiff.embedded.errors import Cause
from bailiff.embedded.objects import JsonObject, clone, format_time, without_nulls
from bailiff.embedded.patches import apply_patch
from bailiff.embedded.registry import meta
from bailiff.embedded.registry.deletion import Deletion
from bailiff.embedded.registry.listing import ListOptions, Page, list_page
from bailiff.embedded.registry.target import DeleteOptions, Target
from bailiff.embedded.resources import NAMESPACES, PODS, Resource
from bailiff.embedded.rules import strategy_of
from bailiff.embedded.shapes import check_shape
from bailiff.embedded.storage import Record, Store
from bailiff.embedded.views import from_storage, to_storage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bailiff.clock import Clock

    Mutate: TypeAlias = Callable[[JsonObject], JsonObject]


class Registry:
    """The API's verbs. Nothing in here awaits, so that each is atomic."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._deletion = Deletion(store, clock)

    def find(self, target: Target) -> Record:
        """The object.

        Raises:
            ApiError: 404.
        """
        record = self.store.bucket(target.resource).get(target.key)
        if record is None:
            raise errors.not_found(target.resource, target.name)
        return record

    def list(self, resource: Resource, options: ListOptions) -> Page:
        """A page of objects.

        Raises:
            ApiError: 400, no such token; 410, too old.
        """
        return list_page(self.store, resource, options)

    def create(
        self, resource: Resource, namespace: str, obj: JsonObject, *, dry_run: bool = False
    ) -> Record:
        """A new object.

        Args:
            resource: of which kind.
            namespace: empty for what lives in none.
            obj: taken over and filled in.
            dry_run: check all, write nothing.

        Raises:
            ApiError: 400, not such an object; 403, its namespace is going; 404, its namespace is
                not there; 409, there is one of that name; 422, it breaks rules.
        """
        obj = self._take(resource, obj)
        meta.prepare_new(obj, namespace)
        self._check_namespace(resource, namespace, obj["metadata"].get("name", ""))
        strategy = strategy_of(resource)
        strategy.default(obj)
        causes = meta.check_meta(obj, strategy)
        if not causes:
            strategy.on_create(obj)
            strategy.stamp(obj, None, format_time(self.clock.now()))
            causes = strategy.validate(obj)
        self._refuse(resource, obj, causes)
        if resource.generation:
            obj["metadata"]["generation"] = 1
        if dry_run:
            return self._pretend_insert(resource, obj)
        return self.store.insert(resource, obj)

    def update(self, target: Target, obj: JsonObject, *, dry_run: bool = False) -> Record:
        """Another state for an object (PUT).

        Raises:
            ApiError: as create, and 404; 409, another write came first, or another UID.
        """
        obj = self._take(target.resource, obj)
        meta.check_identity(obj, target)
        strategy = strategy_of(target.resource)
        old = self.store.bucket(target.resource).get(target.key)
        if old is None and strategy.create_on_update and not obj["metadata"].get("uid"):
            obj["metadata"].pop("resourceVersion", None)
            return self.create(target.resource, target.namespace, obj, dry_run=dry_run)
        old = self.find(target)
        if not obj["metadata"].get("resourceVersion") and not strategy.unconditional_update:
            text = "must be specified for an update"
            causes = [Cause.invalid("metadata.resourceVersion", 0, text)]
            raise errors.invalid(target.resource.group, target.resource.plural, target.name, causes)
        if (uid := obj["metadata"].get("uid") or old.uid) != old.uid:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old.uid}"
            raise errors.conflict(target.resource, target.name, why)
        return self._write(target, old, obj, dry_run=dry_run)

    def patch(
        self, target: Target, media_type: str, patch: object, *, dry_run: bool = False
    ) -> Record:
        """A change of an object (PATCH).

        Raises:
            ApiError: as update; 400, no such patch; 422, it does not fit.
        """

        def mutate(obj: JsonObject) -> JsonObject:
            shown = from_storage(target.resource, obj)
            return self._take(target.resource, apply_patch(media_type, shown, patch))

        return self.change(target, mutate, dry_run=dry_run)

    def change(self, target: Target, mutate: Mutate, *, dry_run: bool = False) -> Record:
        """A change of an object by a function, which gets a copy and returns the new state.

        Raises:
            ApiError: as update, and whatever the function raises.
        """
        old = self.find(target)
        obj = mutate(clone(old.object))
        meta.check_identity(obj, target)
        return self._write(target, old, obj, dry_run=dry_run)

    def delete(self, target: Target, options: DeleteOptions | None = None) -> tuple[Record, bool]:
        """Delete an object, at once or as its grace period and finalizers allow.

        Returns:
            Its last version, and whether it is gone.

        Raises:
            ApiError: 404; 409, a precondition does not hold; 403, it may not go.
        """
        return self._deletion.delete(self.find(target), target, options or DeleteOptions())

    def _take(self, resource: Resource, obj: JsonObject) -> JsonObject:
        """A body as an object of ours, with fields of the right types."""
        taken: JsonObject = without_nulls(obj)
        meta.check_kind(taken, resource.kind, resource.api_version)
        taken.setdefault("metadata", {})
        stored = to_storage(resource, taken)
        check_shape(stored, resource.kind, resource.api_version)
        meta.drop_empty(stored)
        return stored

    def _write(self, target: Target, old: Record, new: JsonObject, *, dry_run: bool) -> Record:
        self._check_version(target, old, new)
        if (uid := new["metadata"].get("uid") or old.uid) != old.uid:
            cause = Cause.invalid("metadata.uid", uid, "field is immutable")
            self._refuse(target.resource, new, [cause])
        meta.keep_owned(new, old.object)
        _isolate(target, new, old.object)
        strategy = strategy_of(target.resource)
        strategy.default(new)
        causes = meta.check_meta(new, strategy)
        if target.subresource == "status":
            causes += strategy.validate_status(new, old.object)
        elif not target.subresource:
            strategy.stamp(new, old.object, format_time(self.clock.now()))
            causes += strategy.validate(new) or strategy.validate_update(new, old.object)
        self._refuse(target.resource, new, causes)
        if new == old.object:
            return old
        if target.resource.generation and new.get("spec") != old.object.get("spec"):
            new["metadata"]["generation"] = old.object["metadata"].get("generation", 0) + 1
        if dry_run:
            return Record(old.key, old.version, new)
        if self._deletion.is_finished(new):
            self.store.remove(target.resource, old)
            return Record(old.key, self.store.version, new)
        return self.store.replace(target.resource, old, new)

    @staticmethod
    def _check_version(target: Target, old: Record, new: JsonObject) -> None:
        """Refuse a write that was made against another version."""
        version = new["metadata"].get("resourceVersion") or str(old.version)
        if not version.isdigit():
            causes = [Cause.invalid("metadata.resourceVersion", version, "must be a number")]
            raise errors.invalid(target.resource.group, target.resource.kind, target.name, causes)
        if int(version) not in (0, old.version):
            raise errors.stale(target.resource, target.name)

    @staticmethod
    def _refuse(resource: Resource, obj: JsonObject, causes: Sequence[Cause]) -> None:
        if causes:
            name = obj["metadata"].get("name") or obj["metadata"].get("generateName", "")
            raise errors.invalid(resource.group, resource.kind, name, causes)

    def _check_namespace(self, resource: Resource, namespace: str, name: str) -> None:
        """The admission plugin NamespaceLifecycle."""
        if not resource.namespaced:
            return
        found = self.store.bucket(NAMESPACES).get(("", namespace))
        if found is None:
            raise errors.not_found(NAMESPACES, namespace)
        if found.object["metadata"].get("deletionTimestamp"):
            why = (
                f"unable to create new content in namespace {namespace} because it is being "
                "terminated"
            )
            text = f"namespace {namespace} is being terminated"
            cause = Cause("NamespaceTerminating", "metadata.namespace", text)
            raise errors.forbidden(resource, name, why, [cause])

    def _pretend_insert(self, resource: Resource, obj: JsonObject) -> Record:
        key = obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
        if self.store.bucket(resource).get(key) is not None:
            raise errors.already_exists(resource, key[1])
        self.store.stamp(obj)
        return Record(key, self.store.version, obj)


def _isolate(target: Target, new: JsonObject, old: JsonObject) -> None:
    """Keep what the other endpoint owns: the status, or all but the status."""
    if not target.resource.status:
        return
    if target.subresource != "status":
        _keep(new, old, "status")
        if target.resource is NAMESPACES and not target.subresource:
            _keep(new, old, "spec")
        return
    for name in {*new, *old} - {"status", "metadata", "kind", "apiVersion"}:
        _keep(new, old, name)
    if target.resource.status_keeps_metadata:
        for name in ("labels", "annotations", "finalizers", "ownerReferences"):
            _keep(new["metadata"], old["metadata"], name)
    if target.resource is PODS:
        # Upstream: old kubelets would corrupt the references.
        _keep(new["metadata"], old["metadata"], "ownerReferences")
        _keep_missing(new.setdefault("status", {}), old.get("status", {}), "qosClass")


def _keep(new: JsonObject, old: JsonObject, name: str) -> None:
    new.pop(name, None)
    if name in old:
        new[name] = old[name]


def _keep_missing(new: JsonObject, old: JsonObject, name: str) -> None:
    if name in old:
        new.setdefault(name, old[name])
