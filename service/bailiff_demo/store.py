"""Objects, versions and history: what etcd and the watch cache are to kube-apiserver."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from bisect import bisect_left, insort
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from bailiff_demo import errors
from bailiff_demo.objects import JsonObject, clone, format_time
from bailiff_demo.resources import EVENTS, OWN_RESOURCES, Resource
from bailiff_demo.settings import DEFAULT_SETTINGS, DemoSettings
from bailiff_demo.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.clock import Clock

# Namespace (empty for none) and name: lists are in this order, as etcd's keys are.
Key: TypeAlias = tuple[str, str]
ChangeType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]


class Record(NamedTuple):
    """One version of one object, which is never changed; `version` is the store's that wrote it."""

    key: Key
    version: int
    object: JsonObject

    @property
    def uid(self) -> str:
        """The object's UID."""
        uid: str = self.object["metadata"]["uid"]
        return uid


class Change(NamedTuple):
    """One write.

    Attributes:
        type: as watches name it.
        record: the new version; of a deletion the last state, at the deletion's version.
        previous: the version before; None for a creation.
    """

    type: ChangeType
    record: Record
    previous: Record | None


class Bucket:
    """All objects of one resource and its last `history` changes.

    Attributes:
        watches: the open ones.
    """

    def __init__(self, history: int, version: int) -> None:
        self._records: dict[Key, Record] = {}
        self._keys: list[Key] = []
        self._changes: deque[Change] = deque()
        self._history = history
        # Position of the oldest change, and the newest version that is no longer remembered.
        self._first = 0
        self._trimmed = version - 1
        self.watches: set[Watch] = set()

    def __len__(self) -> int:
        return len(self._keys)

    def get(self, key: Key) -> Record | None:
        """The record, if there is one."""
        return self._records.get(key)

    def oldest(self) -> Record:
        """The record that was created first; there must be one."""
        return next(iter(self._records.values()))

    def records(self, namespace: str | None = None) -> Iterator[Record]:
        """All records in the order of their keys; of one namespace, if named."""
        return (self._records[key] for key in self.keys(namespace))

    def keys(self, namespace: str | None = None) -> list[Key]:
        """The keys in order."""
        if namespace is None:
            return self._keys
        start = bisect_left(self._keys, (namespace, ""))
        stop = bisect_left(self._keys, (namespace + "\0", ""))
        return self._keys[start:stop]

    def apply(self, change: Change) -> None:
        """Take over one write and wake the watches."""
        key = change.record.key
        if change.type == "DELETED":
            del self._records[key]
            self._keys.pop(bisect_left(self._keys, key))
        else:
            if key not in self._records:
                insort(self._keys, key)
            self._records[key] = change.record
        self._changes.append(change)
        self._trim(self._history)
        for watch in self.watches:
            watch.wake.set()

    def compact(self, version: int) -> None:
        """Forget all changes; whoever asks for one at or before `version` gets 410."""
        self._trim(0)
        self._trimmed = max(self._trimmed, version)

    def _trim(self, keep: int) -> None:
        while len(self._changes) > keep:
            self._trimmed = self._changes.popleft().record.version
            self._first += 1

    @property
    def end(self) -> int:
        """The position after the last change."""
        return self._first + len(self._changes)

    def position_after(self, version: int) -> int:
        """Where the changes after a version begin.

        Raises:
            ApiError: 410, they are not all there any more.
        """
        if version < self._trimmed:
            raise errors.expired(f"too old resource version: {version} ({self._trimmed})")
        return self.end - sum(change.record.version > version for change in self._changes)

    def changes(self, position: int, limit: int) -> list[Change]:
        """Up to `limit` changes from a position on.

        Raises:
            ApiError: 410, they are gone.
        """
        start = position - self._first
        if start < 0:
            raise errors.expired(f"too old resource version: fell behind {self._trimmed}")
        return list(islice(self._changes, start, start + limit))


class Store:
    """All objects of the cluster under one rising version.

    It knows no rules of Kubernetes: those are the registry's. Everything happens between two
    awaits, so that every method is atomic.
    """

    def __init__(self, clock: Clock, settings: DemoSettings = DEFAULT_SETTINGS) -> None:
        self._clock = clock
        self._settings = settings
        self.version = 1
        self._trying = False
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._buckets = {r.id: Bucket(settings.history, self.version) for r in OWN_RESOURCES}

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

    @contextlib.contextmanager
    def trying(self, *, dry_run: bool) -> Iterator[None]:
        """Within it nothing is kept, if it is a dry run: what is written is shown and forgotten."""
        self._trying = dry_run
        try:
            yield
        finally:
            self._trying = False

    def insert(self, resource: Resource, obj: JsonObject) -> Record:
        """Write a new object, which must have a name; missing UID and times are filled in.

        Raises:
            ApiError: 409, there is one of that name; 403, the cluster is full.
        """
        bucket, (_, name) = self.bucket(resource), key_of(obj)
        if bucket.get(key_of(obj)) is not None:
            raise errors.already_exists(resource, name)
        most = self._settings.max_objects
        if sum(map(len, self._buckets.values())) >= most:
            raise errors.forbidden(resource, name, f"exceeded quota: {most} objects are there")
        obj["metadata"].setdefault("uid", str(uuid.uuid4()))
        obj["metadata"].setdefault("creationTimestamp", format_time(self._clock.now()))
        record = self._write(bucket, "ADDED", obj, None)
        while resource is EVENTS and len(bucket) > self._settings.max_events:
            self.remove(EVENTS, bucket.oldest())
        return record

    def replace(self, resource: Resource, old: Record, obj: JsonObject) -> Record:
        """Write the next version of an object."""
        return self._write(self.bucket(resource), "MODIFIED", obj, old)

    def remove(self, resource: Resource, old: Record) -> Record:
        """Delete an object; watches see its last state at a version of its own."""
        return self._write(self.bucket(resource), "DELETED", clone(old.object), old)

    def _write(
        self, bucket: Bucket, kind: ChangeType, obj: JsonObject, old: Record | None
    ) -> Record:
        if self._trying:
            return Record(key_of(obj), self.version, obj)
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
