"""Answers that are kept for a while, and no more of them than fit."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

V = TypeVar("V")

# Parts of the time for which a value is kept: how long before its end it is to be renewed, and how
# long that is not asked for again. So there are five attempts.
_RENEWED_BEFORE, _PAUSE = 1 / 4, 1 / 20


class _Entry(Generic[V]):
    """A value, until when it counts, from when on it is to be renewed, and whose it is."""

    __slots__ = ("due", "owner", "until", "value")

    def __init__(self, value: V, until: float, due: float, owner: str) -> None:
        self.value, self.until, self.due, self.owner = value, until, due, owner


class Kept(Generic[V]):
    """Values by key, each for the same time.

    Where it is full the oldest of whoever has most makes room: so nobody drives out what is kept
    for others by asking for much. Instants are elapsed seconds, which go on while the machine
    sleeps (see Clock): what was true before may not be now.
    """

    def __init__(self, seconds: float, most: int) -> None:
        """Nothing is kept yet.

        Args:
            seconds: for which a value is kept.
            most: values at a time, 1 and up.
        """
        self._seconds = seconds
        self._most = most
        self._entries: dict[Hashable, _Entry[V]] = {}
        # The keys of each owner, the oldest first.
        self._keys: dict[str, OrderedDict[Hashable, None]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, now: float) -> V | None:
        """The value that is kept; None where there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if now < entry.until:
            return entry.value
        self.drop(key)
        return None

    def is_due(self, key: Hashable, now: float) -> bool:
        """Whether a value is kept and is to be renewed; says so now and then until it lapses."""
        entry = self._entries.get(key)
        if entry is None or now < entry.due or now >= entry.until:
            return False
        entry.due = now + self._seconds * _PAUSE
        return True

    def put(self, key: Hashable, value: V, now: float, owner: str = "") -> None:
        """Keep it from now on, in place of any other of this key."""
        self.drop(key)
        if len(self._entries) >= self._most:
            heaviest = max(self._keys.values(), key=len)
            self.drop(next(iter(heaviest)))
        until = now + self._seconds
        self._entries[key] = _Entry(value, until, until - self._seconds * _RENEWED_BEFORE, owner)
        self._keys.setdefault(owner, OrderedDict())[key] = None

    def drop(self, key: Hashable) -> None:
        """Keep none of this key."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        keys = self._keys[entry.owner]
        del keys[key]
        if not keys:
            del self._keys[entry.owner]
