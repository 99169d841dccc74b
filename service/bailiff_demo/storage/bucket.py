"""The objects of one resource, the last changes to them, and readers of those changes.

Watches share the history instead of each having a queue: a slow reader costs no memory, cannot
hold up a writer, and is told 410 once its place has left the history.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from bailiff_demo import errors
from bailiff_demo.objects import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff_demo.objects import JsonObject

# Namespace (empty for none) and name: lists are in this order, as etcd's keys are.
Key: TypeAlias = tuple[str, str]
ChangeType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]


@dataclass(frozen=True, slots=True)
class Record:
    """One version of one object.

    Attributes:
        key: see Key.
        version: the store's version that wrote it.
        object: the object; never changed.
    """

    key: Key
    version: int
    object: JsonObject

    @property
    def uid(self) -> str:
        """The object's UID."""
        uid: str = self.object["metadata"]["uid"]
        return uid

    @property
    def labels(self) -> dict[str, str]:
        """The object's labels."""
        return labels_of(self.object)


@dataclass(frozen=True, slots=True)
class Change:
    """One write: what was there before, what is there now.

    Attributes:
        type: as watches name it.
        record: the new version; of a deletion the last state, at the deletion's version.
        previous: the version before; None for a creation.
    """

    type: ChangeType
    record: Record
    previous: Record | None

    @property
    def version(self) -> int:
        """The store's version after it."""
        return self.record.version


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
            self._trimmed = self._changes.popleft().version
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
        after = sum(change.version > version for change in self._changes)
        return self.end - after

    def changes(self, position: int, limit: int) -> list[Change]:
        """Up to `limit` changes from a position on.

        Raises:
            ApiError: 410, they are gone.
        """
        start = position - self._first
        if start < 0:
            raise errors.expired(
                f"too old resource version: the watch fell behind ({self._trimmed})"
            )
        return list(islice(self._changes, start, start + limit))

    def snapshot(self, version: int) -> dict[Key, Record]:
        """The records as they were at a version.

        Raises:
            ApiError: 410, that is too long ago.
        """
        after = self.end - self.position_after(version)
        records = dict(self._records)
        for change in islice(reversed(self._changes), after):
            if change.previous is None:
                records.pop(change.record.key, None)
            else:
                records[change.record.key] = change.previous
        return records


class Watch:
    """The changes to one bucket after a version, in order, none left out.

    Use it as a context manager, so that the bucket forgets it.

    Attributes:
        wake: set when there may be something to read.
        ended: somebody called end().
    """

    def __init__(self, bucket: Bucket, version: int, wake: asyncio.Event | None = None) -> None:
        """Begin.

        Args:
            bucket: what to watch.
            version: changes after this one are wanted.
            wake: for a reader of many watches: one for all.

        Raises:
            ApiError: 410, they are not all there any more.
        """
        self._bucket = bucket
        self._position = bucket.position_after(version)
        self.wake = wake or asyncio.Event()
        self.ended = False

    def __enter__(self) -> Watch:
        self._bucket.watches.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._bucket.watches.discard(self)

    @property
    def caught_up(self) -> bool:
        """Nothing is left to read."""
        return self._position == self._bucket.end

    def end(self) -> None:
        """Let the reader finish."""
        self.ended = True
        self.wake.set()

    def read(self, limit: int = 256) -> list[Change]:
        """What there is now, at most `limit` changes.

        Raises:
            ApiError: 410, the reader fell behind.
        """
        changes = self._bucket.changes(self._position, limit)
        self._position += len(changes)
        return changes

    async def wait(self) -> None:
        """Until there is something to read or the watch has been ended."""
        while self.caught_up and not self.ended:
            self.wake.clear()
            await self.wake.wait()
