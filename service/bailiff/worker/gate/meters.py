"""What runs, and what has begun of late, for each key that may have a limit; monotonic time."""

from __future__ import annotations

import math
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bailiff.decisions.policies import (
    NO_LIMIT,
    Limit,
    Limits,
    free_at,
    limit_hold,
    retune,
    slowed,
    spend,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.decisions.policies import BreakerState, Hold

# Buckets that are full are swept out when there are more of them than this, and twice as many as
# the last sweep left: so many that nobody notices their memory, so few that it takes no time.
_SWEEP_ABOVE = 1024


class Scope(StrEnum):
    """What a limit counts; the value is how it is called in messages."""

    TOTAL = "in total"
    NODE = "node"
    NAMESPACE = "namespace"
    ZONE = "zone"
    SLICE_PUBLISHER = "the slices of"
    SLICE_DRIVER = "all slices of"

    # Of an enumeration it would be computed from the name, each time.
    __hash__ = str.__hash__


class Key(NamedTuple):
    """One thing that may have a limit, as the node of this name."""

    scope: Scope
    name: str = ""

    def __str__(self) -> str:
        if self.scope is Scope.TOTAL:
            return self.scope
        return f"for {self.scope} {self.name}".rstrip()


TOTAL = Key(Scope.TOTAL)
Keys: TypeAlias = tuple[Key, ...]


class Meters:
    """All that runs counts, so that a limit that comes later finds it counted."""

    def __init__(self) -> None:
        self._limits: dict[Scope, Limit] = {}
        # In place of those, where breakers slow down.
        self._slow: dict[Key, Limit] = {}
        self._running: Counter[Key] = Counter()
        # When buckets are full; not of all that are.
        self._full_at: dict[Key, float] = {}
        self._sweep_above = _SWEEP_ABOVE

    def __len__(self) -> int:
        """How many keys are kept."""
        return len(self._running.keys() | self._full_at.keys())

    def set_limits(self, limits: Limits, breakers: Mapping[Key, BreakerState], now: float) -> None:
        """Go on with other limits; what runs and what was spent still counts.

        Args:
            limits: see there.
            breakers: what those that slow down say, by what it concerns.
            now: the monotonic instant.
        """
        by_scope = {
            Scope.TOTAL: limits.total,
            Scope.NODE: limits.per_node,
            Scope.NAMESPACE: limits.per_namespace,
            Scope.ZONE: limits.per_zone,
            Scope.SLICE_PUBLISHER: limits.per_slice_publisher,
            Scope.SLICE_DRIVER: limits.per_slice_driver,
        }
        self._limits = {scope: limit for scope, limit in by_scope.items() if limit is not None}
        self._slow = {key: slowed(self._usual(key), state) for key, state in breakers.items()}
        for key, full_at in self._full_at.items():
            self._full_at[key] = retune(self.limit(key) or NO_LIMIT, full_at, now)

    def limit(self, key: Key) -> Limit | None:
        """What is allowed now; None: everything."""
        return self._slow.get(key) or self._limits.get(key.scope)

    def free_at(self, key: Key) -> float:
        """From when on one more may begin; infinity: when one that runs has ended."""
        limit = self.limit(key)
        if limit is None:
            return -math.inf
        return free_at(limit, self._running.get(key, 0), self._full_at.get(key, -math.inf))

    def hold(self, key: Key) -> Hold:
        """Why one more may not begin, for people; the caller has seen that it may not."""
        limit = self.limit(key) or NO_LIMIT
        return limit_hold(limit, self.free_at(key), str(key), self._usual(key))

    def start(self, keys: Keys, now: float) -> None:
        """One with these keys begins."""
        for key in keys:
            self._running[key] += 1
            limit = self.limit(key)
            if limit is not None:
                self._full_at[key] = spend(limit, self._full_at.get(key, -math.inf), now)
        if len(self._full_at) > self._sweep_above:
            self._full_at = {key: at for key, at in self._full_at.items() if at > now}
            self._sweep_above = max(_SWEEP_ABOVE, 2 * len(self._full_at))

    def finish(self, keys: Keys) -> None:
        """One that began with these keys has ended."""
        for key in keys:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]

    def _usual(self, key: Key) -> Limit:
        return self._limits.get(key.scope, NO_LIMIT)
