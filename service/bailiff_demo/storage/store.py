"""All objects of the cluster under one rising version."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from bailiff_demo import errors
from bailiff_demo.objects import JsonObject, clone, format_time
from bailiff_demo.resources import EVENTS, OWN_RESOURCES, Resource
from bailiff_demo.settings import DEFAULT_SETTINGS, DemoSettings
from bailiff_demo.storage.bucket import Bucket, Change, Record, Watch

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff_demo.storage.bucket import ChangeType, Key


class Store:
    """Versions, objects and changes. It knows no rules of Kubernetes: those are the registry's.

    Everything happens between two awaits, so that every method is atomic.
    """

    def __init__(self, clock: Clock, settings: DemoSettings = DEFAULT_SETTINGS) -> None:
        self._clock = clock
        self._settings = settings
        self.version = 1
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._buckets = {r.id: Bucket(settings.history, self.version) for r in OWN_RESOURCES}

    def __len__(self) -> int:
        return sum(len(bucket) for bucket in self._buckets.values())

    def bucket(self, resource: Resource) -> Bucket:
        """Where the resource's objects are."""
        return self._buckets[resource.id]

    def watch(
        self, resource: Resource, version: int | None = None, wake: asyncio.Event | None = None
    ) -> Watch:
        """Changes to a resource after a version; None from now on. See Watch.

        Raises:
            ApiError: 410, too old a version.
        """
        return Watch(self.bucket(resource), self.version if version is None else version, wake)

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
        record = self._write(bucket, "ADDED", obj, None)
        while resource is EVENTS and len(bucket) > self._settings.max_events:
            self.remove(EVENTS, bucket.oldest())
        return record

    def stamp(self, obj: JsonObject) -> None:
        """Give a new object its UID and time, unless it has them."""
        meta = obj["metadata"]
        meta.setdefault("uid", str(uuid.uuid4()))
        meta.setdefault("creationTimestamp", format_time(self._clock.now()))

    def replace(self, resource: Resource, old: Record, obj: JsonObject) -> Record:
        """Write the next version of an object."""
        return self._write(self.bucket(resource), "MODIFIED", obj, old)

    def remove(self, resource: Resource, old: Record) -> Record:
        """Delete an object; watches see its last state at a version of its own."""
        return self._write(self.bucket(resource), "DELETED", clone(old.object), old)

    def _write(
        self, bucket: Bucket, kind: ChangeType, obj: JsonObject, old: Record | None
    ) -> Record:
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        record = Record(key_of(obj), self.version, obj)
        bucket.apply(Change(kind, record, old))
        for version, future in self._waiting:
            if version <= self.version and not future.done():
                future.set_result(None)
        return record

    async def reach(self, version: int) -> None:
        """Wait until the store is at a version; the caller sets the bound."""
        if self.version >= version:
            return
        entry = version, asyncio.get_running_loop().create_future()
        self._waiting.append(entry)
        try:
            await entry[1]
        finally:
            self._waiting.remove(entry)

    def forget(self) -> None:
        """Forget all history and end all watches, as a compaction and a restart do."""
        for bucket in self._buckets.values():
            bucket.compact(self.version)
        self.end_watches()

    def end_watches(self) -> None:
        """End every watch in good order."""
        for bucket in self._buckets.values():
            for watch in bucket.watches:
                watch.end()


def key_of(obj: JsonObject) -> Key:
    """Namespace and name."""
    meta = obj["metadata"]
    return meta.get("namespace") or "", meta["name"]
