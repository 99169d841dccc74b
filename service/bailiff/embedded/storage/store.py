"""All objects of the cluster under one rising version."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.objects import JsonObject, clone, format_time, metadata
from bailiff.embedded.resources import EVENTS, RESOURCES, Resource, find_resource
from bailiff.embedded.settings import DEFAULT_SETTINGS, EmbeddedSettings
from bailiff.embedded.storage.bucket import Bucket, Change, Record
from bailiff.embedded.storage.watch import Watch

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.embedded.storage.bucket import ChangeType, Key


class Store:
    """Versions, objects and changes. It knows no rules of Kubernetes: those are the registry's.

    Everything happens between two awaits, so that every method is atomic.

    `create`, `get`, `list`, `update` and `delete` are for tests and fleets that want a state
    without the rules in between: no defaults, no validation, no graceful deletion.
    """

    def __init__(self, clock: Clock, settings: EmbeddedSettings = DEFAULT_SETTINGS) -> None:
        self._clock = clock
        self._settings = settings
        self.version = 1
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        names = {resource.bucket for resource in RESOURCES}
        self._buckets = {name: Bucket(settings.history, self.version) for name in names}

    def __len__(self) -> int:
        return sum(len(bucket) for bucket in self._buckets.values())

    def bucket(self, resource: Resource) -> Bucket:
        """Where the resource's objects are."""
        return self._buckets[resource.bucket]

    def watch(
        self,
        resource: Resource,
        version: int | None = None,
        signal: asyncio.Event | None = None,
    ) -> Watch:
        """Changes to a resource after a version; None from now on. See Watch.

        Raises:
            ApiError: 410, too old a version.
        """
        start = self.version if version is None else version
        return Watch(self.bucket(resource), start, signal)

    def insert(self, resource: Resource, obj: JsonObject) -> Record:
        """Write a new object, which must have a name; missing UID and times are filled in.

        Raises:
            ApiError: 409, there is one of that name; 403, the cluster is full.
        """
        bucket, key = self.bucket(resource), key_of(obj)
        if bucket.get(key) is not None:
            raise errors.already_exists(resource, key[1])
        if len(self) >= self._settings.max_objects:
            limit = self._settings.max_objects
            raise errors.forbidden(resource, key[1], f"exceeded quota: {limit} objects are there")
        self.stamp(obj)
        record = self._write(bucket, "ADDED", key, obj, None)
        if resource.bucket == "events":
            self._expire_events(bucket)
        return record

    def stamp(self, obj: JsonObject) -> None:
        """Give a new object its UID and time, unless it has them."""
        meta = metadata(obj)
        meta.setdefault("uid", str(uuid.uuid4()))
        meta.setdefault("creationTimestamp", format_time(self._clock.now()))

    def replace(self, resource: Resource, old: Record, obj: JsonObject) -> Record:
        """Write the next version of an object."""
        return self._write(self.bucket(resource), "MODIFIED", old.key, obj, old)

    def remove(self, resource: Resource, old: Record) -> Record:
        """Delete an object; watches see its last state at a version of its own."""
        obj = clone(old.object)
        return self._write(self.bucket(resource), "DELETED", old.key, obj, old)

    def _write(
        self, bucket: Bucket, kind: ChangeType, key: Key, obj: JsonObject, old: Record | None
    ) -> Record:
        self.version += 1
        metadata(obj)["resourceVersion"] = str(self.version)
        record = Record(key, self.version, obj)
        bucket.apply(Change(kind, record, old))
        if self._waiting:
            self._wake_waiting()
        return record

    async def reach(self, version: int) -> None:
        """Wait until the store is at a version; the caller sets the bound."""
        if self.version >= version:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((version, future))
        await future

    def _wake_waiting(self) -> None:
        for version, future in self._waiting:
            if version <= self.version and not future.done():
                future.set_result(None)
        self._waiting = [
            (version, future) for version, future in self._waiting if not future.done()
        ]

    def _expire_events(self, bucket: Bucket) -> None:
        while len(bucket) > self._settings.max_events:
            self.remove(EVENTS, bucket.oldest())

    def compact(self) -> None:
        """Forget all history: versions before this moment answer 410."""
        for bucket in self._buckets.values():
            bucket.compact(self.version)

    def end_watches(self, error: errors.ApiError | None = None) -> int:
        """End every watch; how many there were."""
        watches = [watch for bucket in self._buckets.values() for watch in bucket.watches]
        for watch in watches:
            watch.end(error)
        return len(watches)

    def create(self, resource: str, obj: JsonObject) -> JsonObject:
        """Put an object there as it is.

        Args:
            resource: its plural or id, as `pods` or `daemonsets.apps`.
            obj: with metadata.name; apiVersion and kind may be left out.

        Raises:
            ApiError: 409, there is one of that name.
        """
        found = find_resource(resource)
        typed = {"apiVersion": found.api_version, "kind": found.kind, **clone(obj)}
        return self._out(self.insert(found, typed))

    def get(self, resource: str, name: str, namespace: str = "") -> JsonObject:
        """A copy of an object.

        Raises:
            ApiError: 404.
        """
        return self._out(self._find(find_resource(resource), name, namespace))

    def list(self, resource: str, namespace: str | None = None) -> list[JsonObject]:
        """Copies of all objects, of one namespace if named, in order."""
        bucket = self.bucket(find_resource(resource))
        return [self._out(record) for record in bucket.records(namespace)]

    def update(self, resource: str, obj: JsonObject) -> JsonObject:
        """Replace an object as it is; its resourceVersion is not looked at.

        Raises:
            ApiError: 404.
        """
        found = find_resource(resource)
        namespace, name = key_of(obj)
        old = self._find(found, name, namespace)
        typed = {"apiVersion": found.api_version, "kind": found.kind, **clone(obj)}
        typed["metadata"].setdefault("uid", old.uid)
        return self._out(self.replace(found, old, typed))

    def delete(self, resource: str, name: str, namespace: str = "") -> JsonObject:
        """Remove an object at once, finalizers or not.

        Raises:
            ApiError: 404.
        """
        found = find_resource(resource)
        return self._out(self.remove(found, self._find(found, name, namespace)))

    def _find(self, resource: Resource, name: str, namespace: str) -> Record:
        record = self.bucket(resource).get((namespace, name))
        if record is None:
            raise errors.not_found(resource, name)
        return record

    @staticmethod
    def _out(record: Record) -> JsonObject:
        copy: JsonObject = clone(record.object)
        return copy


def key_of(obj: JsonObject) -> Key:
    """Namespace and name."""
    meta = metadata(obj)
    return meta.get("namespace") or "", meta["name"]
