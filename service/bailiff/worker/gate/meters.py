"""How fast evictions may begin, and how many may be under way, per key; monotonic time."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.policies import Cause, Hold, Limit, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

# Meters that rest are swept out when there are more of them than this, and twice as many as the
# last sweep left: so many that nobody notices their memory, so few that a sweep takes no time.
_SWEEP_ABOVE = 1024

_NO_LIMIT = Limit()


class Scope(StrEnum):
    """What a limit counts; the value is how it is called in messages."""

    TOTAL = "in total"
    NODE = "node"
    NAMESPACE = "namespace"
    ZONE = "zone"


class Key(NamedTuple):
    """One thing that has limits, as the node of this name."""

    scope: Scope
    name: str = ""

    def __str__(self) -> str:
        if self.scope is Scope.TOTAL:
            return self.scope
        return f"for {self.scope} {self.name}".rstrip()


TOTAL = Key(Scope.TOTAL)


class Pace:
    """A token bucket, kept as one instant (the generic cell rate algorithm, ITU-T I.371).

    In any span of t seconds no more than burst + per_second * t are let through.
    """

    __slots__ = ("_interval", "_slack", "full_at", "per_second")

    def __init__(self, per_second: float, burst: int = 1, full_at: float = -math.inf) -> None:
        """Begin full.

        Args:
            per_second: tokens that come in a second.
            burst: tokens that the bucket holds.
            full_at: the monotonic instant at which it will be full.
        """
        self.per_second = per_second
        self._interval = 1.0 / per_second
        self._slack = (burst - 1) * self._interval
        self.full_at = full_at

    def free_at(self) -> float:
        """The monotonic instant from which on there is a token."""
        return self.full_at - self._slack

    def spend(self, now: float) -> None:
        """Take a token; the caller has seen that there is one."""
        self.full_at = max(self.full_at, now) + self._interval

    def retuned(self, per_second: float, burst: int, now: float) -> Pace:
        """The same bucket with another rate and size: what has been spent stays spent.

        However slow the old rate was, the new bucket is full again within its own time.
        """
        latest = now + burst / per_second
        return Pace(per_second, burst, min(self.full_at, latest))


def _retuned(pace: Pace | None, per_second: float | None, burst: int, now: float) -> Pace | None:
    if per_second is None:
        return None
    return (pace or Pace(per_second, burst)).retuned(per_second, burst, now)


class Meter:
    """The state of one key's limit.

    Attributes:
        limit: what is allowed.
        running: evictions under way.
    """

    __slots__ = ("_pace", "_slow", "limit", "running")

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.running = 0
        self._pace = None if limit.per_second is None else Pace(limit.per_second, limit.burst)
        self._slow: Pace | None = None

    def free_at(self, now: float) -> float:
        """From when on one more may begin; infinity: when one that runs has ended."""
        most = self.limit.concurrency
        if most is not None and self.running >= most:
            return math.inf
        return max((pace.free_at() for pace in (self._pace, self._slow) if pace), default=now)

    def start(self, now: float) -> None:
        """One begins."""
        self.running += 1
        for pace in (self._pace, self._slow):
            if pace is not None:
                pace.spend(now)

    def finish(self) -> None:
        """One has ended."""
        self.running -= 1

    def set_limit(self, limit: Limit, now: float) -> None:
        """Go on with another limit; what runs and what was spent still counts."""
        self.limit = limit
        self._pace = _retuned(self._pace, limit.per_second, limit.burst, now)

    def slow_down(self, per_second: float | None, now: float) -> None:
        """Begin no more than so many a second besides; None: as many as the limit allows."""
        self._slow = _retuned(self._slow, per_second, 1, now)

    def is_at_rest(self, now: float) -> bool:
        """Whether a new meter would be the same."""
        full = self._pace is None or self._pace.full_at <= now
        return self.running == 0 and self._slow is None and full

    def hold(self, key: Key, now: float) -> Hold:
        """Why one more may not begin, for people."""
        if self.free_at(now) == math.inf:
            most = f"no more than {self.limit.concurrency} at a time {key}"
            return Hold(cause=Cause.CONCURRENCY_LIMITED, message=most)
        if self._slow is not None and self._slow.free_at() > now:
            rate = f"{self._slow.per_second:g} a second {key}, slowed down by its breaker"
        else:
            rate = f"{self.limit.per_second:g} a second {key}"
        return Hold(cause=Cause.RATE_LIMITED, message=f"no more than {rate}")


class Meters:
    """The meters of all keys that are in use; one that rests is forgotten."""

    def __init__(self) -> None:
        self._limits = _by_scope(Limits(), zones=False)
        self._slow: dict[Key, float] = {}
        self._meters: dict[Key, Meter] = {}
        self._sweep_above = _SWEEP_ABOVE

    def __len__(self) -> int:
        return len(self._meters)

    def set_limits(self, limits: Limits, *, zones: bool, now: float) -> None:
        """Go on with other limits; then `count_anew`, since others may be counted now.

        Args:
            limits: see there.
            zones: whether zones are counted even without a limit, because breakers may slow them.
            now: the monotonic instant.
        """
        self._limits = _by_scope(limits, zones=zones)
        self._meters = {
            key: meter for key, meter in self._meters.items() if key.scope in self._limits
        }
        for key, meter in self._meters.items():
            meter.set_limit(self._limits[key.scope], now)

    def count_anew(self, running: Iterable[tuple[Key, ...]]) -> None:
        """These are under way, each with its keys, and no others."""
        for meter in self._meters.values():
            meter.running = 0
        for keys in running:
            for key in (TOTAL, *keys):
                self.of(key).running += 1

    def keys(self, node: str, namespace: str, zone: str) -> tuple[Key, ...]:
        """The limits that concern a pod of this place, but for TOTAL, which concerns all."""
        names = ((Scope.NODE, node), (Scope.NAMESPACE, namespace), (Scope.ZONE, zone))
        return tuple([Key(scope, name) for scope, name in names if scope in self._limits])

    def of(self, key: Key) -> Meter:
        """The meter of a key."""
        meter = self._meters.get(key)
        if meter is None:
            meter = self._meters[key] = Meter(self._limits[key.scope])
            if key in self._slow:
                meter.slow_down(self._slow[key], 0.0)
        return meter

    def start(self, keys: tuple[Key, ...], now: float) -> None:
        """One with these keys begins."""
        for key in (TOTAL, *keys):
            self.of(key).start(now)
        if len(self._meters) > self._sweep_above:
            self._sweep(now)

    def finish(self, keys: tuple[Key, ...]) -> None:
        """One that began with these keys has ended."""
        for key in (TOTAL, *keys):
            self.of(key).finish()

    def slow_down(self, key: Key, per_second: float | None, now: float) -> None:
        """Let a breaker slow a key down, or with None no longer."""
        if per_second is None:
            self._slow.pop(key, None)
        else:
            self._slow[key] = per_second
        if key.scope in self._limits:
            self.of(key).slow_down(per_second, now)

    def _sweep(self, now: float) -> None:
        self._meters = {
            key: meter for key, meter in self._meters.items() if not meter.is_at_rest(now)
        }
        self._sweep_above = max(_SWEEP_ABOVE, 2 * len(self._meters))


def _by_scope(limits: Limits, *, zones: bool) -> dict[Scope, Limit]:
    named = {
        Scope.TOTAL: limits.total or _NO_LIMIT,
        Scope.NODE: limits.per_node,
        Scope.NAMESPACE: limits.per_namespace,
        Scope.ZONE: limits.per_zone or (_NO_LIMIT if zones else None),
    }
    return {scope: limit for scope, limit in named.items() if limit is not None}
