"""The objects of one resource, and the last changes to them."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import msgspec

from bailiff.embedded import errors
from bailiff.embedded.objects import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.embedded.errors import ApiError
    from bailiff.embedded.objects import JsonObject

# Namespace (empty for none) and name: lists are in this order, as etcd's keys are.
Key: TypeAlias = tuple[str, str]
ChangeType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]

_encode = msgspec.json.Encoder().encode


class Record:
    """One version of one object.

    Attributes:
        key: see Key.
        version: the store's version that wrote it.
        object: the object; never changed.
    """

    __slots__ = ("_body", "key", "object", "version")

    def __init__(self, key: Key, version: int, obj: JsonObject) -> None:
        self.key = key
        self.version = version
        self.object = obj
        self._body: bytes | None = None

    @property
    def uid(self) -> str:
        """The object's UID."""
        uid: str = self.object["metadata"]["uid"]
        return uid

    @property
    def labels(self) -> dict[str, str]:
        """The object's labels."""
        return labels_of(self.object)

    @property
    def body(self) -> bytes:
        """Its JSON without apiVersion and kind, as list items are written; made once."""
        if self._body is None:
            untyped = {k: v for k, v in self.object.items() if k not in ("apiVersion", "kind")}
            self._body = _encode(untyped)
        return self._body


class Change:
    """One write: what was there before, what is there now.

    Attributes:
        type: as watches name it.
        record: the new version; of a deletion the last state, at the deletion's version.
        previous: the version before; None for a creation.
    """

    __slots__ = ("previous", "record", "type")

    def __init__(self, kind: ChangeType, record: Record, previous: Record | None) -> None:
        self.type = kind
        self.record = record
        self.previous = previous

    @property
    def version(self) -> int:
        """The store's version after it."""
        return self.record.version


class Reader(Protocol):
    """Who reads the changes of a bucket, each at its own pace."""

    def wake(self) -> None:
        """There is more to read."""

    def end(self, error: ApiError | None = None) -> None:
        """There will be no more; with an error the reader is told that."""


class Bucket:
    """All objects of one resource and its last `history` changes."""

    def __init__(self, history: int, version: int) -> None:
        self._records: dict[Key, Record] = {}
        self._keys: list[Key] = []
        self._changes: deque[Change] = deque()
        self._history = history
        self._first = 0
        self.trimmed = version - 1
        self.watches: set[Reader] = set()

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
            watch.wake()

    def compact(self, version: int) -> None:
        """Forget all changes; whoever asks for one at or before `version` gets 410."""
        self._trim(0)
        self.trimmed = max(self.trimmed, version)

    def _trim(self, keep: int) -> None:
        while len(self._changes) > keep:
            self.trimmed = self._changes.popleft().version
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
        if version < self.trimmed:
            message = f"too old resource version: {version} ({self.trimmed})"
            raise errors.expired(message)
        position = len(self._changes)
        while position and self._changes[position - 1].version > version:
            position -= 1
        return self._first + position

    def changes(self, position: int, limit: int) -> list[Change] | None:
        """Up to `limit` changes from a position on; None if they are gone."""
        start = position - self._first
        if start < 0:
            return None
        stop = min(start + limit, len(self._changes))
        return [self._changes[i] for i in range(start, stop)]

    def snapshot(self, version: int) -> dict[Key, Record]:
        """The records as they were at a version: the present with later changes undone.

        Raises:
            ApiError: 410, that is too long ago.
        """
        start = self.position_after(version) - self._first
        records = dict(self._records)
        for index in range(len(self._changes) - 1, start - 1, -1):
            change = self._changes[index]
            if change.previous is None:
                records.pop(change.record.key, None)
            else:
                records[change.record.key] = change.previous
        return records
