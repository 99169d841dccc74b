"""Answers that are kept for a while, and no more of them than fit."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

V = TypeVar("V")


class Kept(Generic[V]):
    """Values by key, each for the same time. Where it is full the oldest makes room.

    Instants are elapsed seconds, which go on while the machine sleeps (see Clock): what was true
    before may not be now.
    """

    def __init__(self, seconds: float, most: int) -> None:
        """Nothing is kept yet.

        Args:
            seconds: for which a value is kept.
            most: values at a time, 1 and up.
        """
        self._seconds = seconds
        self._most = most
        # The oldest first: all are kept for the same time.
        self._entries: OrderedDict[Hashable, tuple[float, V]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, now: float) -> V | None:
        """The value that is kept; None where there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if now < entry[0]:
            return entry[1]
        del self._entries[key]
        return None

    def put(self, key: Hashable, value: V, now: float) -> None:
        """Keep it from now on, in place of any other of this key."""
        self._entries.pop(key, None)
        if len(self._entries) >= self._most:
            self._entries.popitem(last=False)
        self._entries[key] = (now + self._seconds, value)

    def drop(self, key: Hashable) -> None:
        """Keep none of this key."""
        self._entries.pop(key, None)
