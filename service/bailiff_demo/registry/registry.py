"""create, get, update, patch, apply: every write passes here, whoever makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bailiff_demo import errors
from bailiff_demo.apply import apply_config, record_write
from bailiff_demo.errors import Cause
from bailiff_demo.objects import JsonObject, clone, format_time, without_nulls
from bailiff_demo.patches import apply_patch
from bailiff_demo.registry import meta
from bailiff_demo.registry.deletion import DeleteOptions, Deletion
from bailiff_demo.registry.meta import Target
from bailiff_demo.resources import NAMESPACES, PODS, PRIORITYCLASSES
from bailiff_demo.rules import strategy_of
from bailiff_demo.rules.fields import fill
from bailiff_demo.shapes import check_shape
from bailiff_demo.store import Record, Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.clock import Clock
    from bailiff_demo.resources import Resource

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

    def create(
        self,
        resource: Resource,
        namespace: str,
        obj: JsonObject,
        *,
        manager: str = "",
    ) -> Record:
        """A new object.

        Args:
            resource: of which kind.
            namespace: empty for what lives in none.
            obj: taken over and filled in.
            manager: who owns its fields; empty for nobody in particular.

        Raises:
            ApiError: 400, not such an object; 403, its namespace is going; 404, its namespace is
                not there; 409, there is one of that name; 422, it breaks rules.
        """
        obj = self._take(resource, obj)
        meta.prepare_new(obj, namespace)
        return self._make(resource, namespace, obj, manager)

    def _make(self, resource: Resource, namespace: str, obj: JsonObject, manager: str) -> Record:
        meta.check_namespace(self.store, resource, namespace, obj["metadata"].get("name", ""))
        strategy = strategy_of(resource)
        strategy.default(obj)
        causes = meta.check_meta(obj, strategy)
        if resource is PODS:
            self._set_priority(obj)
        if not causes:
            strategy.on_create(obj)
            strategy.on_write(obj)
            strategy.stamp(obj, None, self._now())
            causes = strategy.validate(obj)
        _refuse(resource, obj, causes)
        if resource.generation:
            obj["metadata"]["generation"] = 1
        if manager:
            target = Target(resource, namespace, obj["metadata"]["name"])
            record_write(target, obj, None, manager, self._now())
        return self.store.insert(resource, obj)

    def _set_priority(self, pod: JsonObject) -> None:
        """The admission plugin Priority; a default class is looked for in vain, there is none."""
        name = pod["spec"].get("priorityClassName", "")
        found = self.store.bucket(PRIORITYCLASSES).get(("", name))
        if name and found is None:
            why = f"no PriorityClass with name {name} was found"
            raise errors.forbidden(PODS, pod["metadata"].get("name", ""), why)
        fill(pod["spec"], priority=found.object.get("value", 0) if found else 0)

    def _now(self) -> str:
        return format_time(self.clock.now())

    def update(self, target: Target, obj: JsonObject, *, manager: str = "") -> Record:
        """Another state for an object (PUT).

        Raises:
            ApiError: as create, and 404; 409, another write came first, or another UID.
        """
        resource, strategy = target.resource, strategy_of(target.resource)
        obj = self._take(resource, obj)
        meta.check_identity(obj, target)
        old = self.find(target)
        if not obj["metadata"].get("resourceVersion") and not strategy.unconditional_update:
            text = "must be specified for an update"
            cause = Cause.invalid("metadata.resourceVersion", 0, text)
            raise errors.invalid(resource.group, resource.plural, target.name, [cause])
        if (uid := obj["metadata"].get("uid") or old.uid) != old.uid:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old.uid}"
            raise errors.conflict(resource, target.name, why)
        return self._write(target, old, obj, manager)

    def patch(
        self,
        target: Target,
        media_type: str,
        patch: object,
        *,
        manager: str = "",
    ) -> Record:
        """A change of an object (PATCH).

        Raises:
            ApiError: as update; 400, no such patch; 422, it does not fit.
        """

        def mutate(obj: JsonObject) -> JsonObject:
            shown = {**obj, "apiVersion": target.resource.api_version}
            return self._take(target.resource, apply_patch(media_type, shown, patch))

        return self.change(target, mutate, manager=manager)

    def apply(self, target: Target, config: JsonObject, *, manager: str) -> Record:
        """Server-side apply: the object is made, or gets what its manager wants of it.

        Raises:
            ApiError: as update; 409, a UID is wanted of what is not there; 422, no manager.
        """
        if not config.get("kind") or not config.get("apiVersion"):
            raise errors.bad_request("invalid object type: /, Kind=")
        config = self._take(target.resource, config)
        meta.check_identity(config, target)
        live = self.store.bucket(target.resource).get(target.key)
        if live is None and target.subresource:
            raise errors.not_found(target.resource, target.name)
        before = {} if live is None else live.object
        obj = apply_config(target, before, config, manager, self._now())
        meta.drop_empty(obj)
        if live is not None:
            return self._write(target, live, obj, None)
        return self._apply_new(target, obj)

    def _apply_new(self, target: Target, obj: JsonObject) -> Record:
        if uid := obj["metadata"].get("uid"):
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object"
            raise errors.conflict(target.resource, target.name, f"{why} was found")
        owners = obj["metadata"].get("managedFields")
        meta.prepare_new(obj, target.namespace)
        if owners:
            obj["metadata"]["managedFields"] = owners
        return self._make(target.resource, target.namespace, obj, "")

    def change(self, target: Target, mutate: Mutate, *, manager: str = "") -> Record:
        """A change of an object by a function, which gets a copy and returns the new state.

        Raises:
            ApiError: as update, and whatever the function raises.
        """
        old = self.find(target)
        new = mutate(clone(old.object))
        meta.check_identity(new, target)
        return self._write(target, old, new, manager)

    def delete(self, target: Target, options: DeleteOptions | None = None) -> tuple[Record, bool]:
        """Delete an object, or mark it where something holds it; its last state, and if it is gone.

        Raises:
            ApiError: 403, it may not go; 404; 409, it is not the one that is meant.
        """
        return self._deletion.delete(self.find(target), target, options or DeleteOptions())

    def _take(self, resource: Resource, obj: JsonObject) -> JsonObject:
        """A body as an object of ours, with fields of the right types."""
        taken: JsonObject = without_nulls(obj)
        meta.check_kind(taken, resource)
        taken["apiVersion"] = resource.stored_as or resource.api_version
        taken.setdefault("metadata", {})
        check_shape(taken, resource.kind)
        meta.drop_empty(taken)
        return taken

    def _write(self, target: Target, old: Record, new: JsonObject, manager: str | None) -> Record:
        """Write a new state; without a manager its managedFields are as they should be."""
        meta.check_version(target, old, new)
        _refuse(target.resource, new, meta.check_uid(old, new))
        meta.keep_owned(new, old.object)
        _isolate(target, new, old.object)
        self._check_change(target, new, old.object)
        if manager is not None:
            record_write(target, new, old.object, manager, self._now())
        if new == old.object:
            return old
        if target.resource.generation and new.get("spec") != old.object.get("spec"):
            new["metadata"]["generation"] = old.object["metadata"].get("generation", 0) + 1
        if self._deletion.is_finished(new):
            self.store.remove(target.resource, old)
            return Record(old.key, self.store.version, new)
        return self.store.replace(target.resource, old, new)

    def _check_change(self, target: Target, new: JsonObject, old: JsonObject) -> None:
        """Fill in and judge a new state."""
        strategy = strategy_of(target.resource)
        strategy.default(new)
        causes = meta.check_meta(new, strategy)
        if target.subresource == "status":
            causes += strategy.validate_status(new, old)
        elif not target.subresource:
            strategy.on_write(new)
            strategy.stamp(new, old, self._now())
            causes += strategy.validate(new) or strategy.validate_update(new, old)
        _refuse(target.resource, new, causes)


def _refuse(resource: Resource, obj: JsonObject, causes: list[Cause]) -> None:
    if causes:
        name = obj["metadata"].get("name") or obj["metadata"].get("generateName", "")
        raise errors.invalid(resource.group, resource.kind, name, causes)


def _isolate(target: Target, new: JsonObject, old: JsonObject) -> None:
    """Keep what the other endpoint writes: the status, or all but the status."""
    resource = target.resource
    if not resource.status:
        return
    if target.subresource != "status":
        _keep(new, old, ["status", "spec"] if resource is NAMESPACES else ["status"])
        return
    _keep(new, old, [*({*new, *old} - {"status", "metadata", "kind", "apiVersion"})])
    if resource.status_keeps_metadata:
        _keep(new["metadata"], old["metadata"], ["labels", "annotations", "finalizers"])
    if resource.status_keeps_metadata or resource is PODS:
        _keep(new["metadata"], old["metadata"], ["ownerReferences"])


def _keep(new: JsonObject, old: JsonObject, names: list[str]) -> None:
    for name in names:
        new.pop(name, None)
        if name in old:
            new[name] = old[name]
