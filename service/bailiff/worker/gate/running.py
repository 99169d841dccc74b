"""What runs, and which limits it counts for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bailiff.worker.gate.meters import Key, Meters
    from bailiff.worker.timers.eviction import Eviction


class Running:
    """The evictions under way, by UID, with the keys that they began with."""

    def __init__(self, meters: Meters, keys: Callable[[Eviction], tuple[Key, ...]]) -> None:
        """Start with none.

        Args:
            meters: where they count.
            keys: the limits that concern an eviction now.
        """
        self._meters = meters
        self._keys_now = keys
        self._keys: dict[str, tuple[Key, ...]] = {}

    def begin(self, eviction: Eviction, now: float) -> tuple[Key, ...]:
        """One begins, with these keys."""
        keys = self._keys[eviction.uid] = self._keys_now(eviction)
        self._meters.start(keys, now)
        return keys

    def finish(self, uid: str) -> tuple[Key, ...] | None:
        """One has ended that began with these keys; None: it was not counted."""
        keys = self._keys.pop(uid, None)
        if keys is not None:
            self._meters.finish(keys)
        return keys

    def count_anew(self, running: Iterable[Eviction]) -> None:
        """The limits are others, and these run."""
        self._keys.clear()
        for eviction in running:
            keys = self._keys[eviction.uid] = self._keys_now(eviction)
            self._meters.runs(keys)
