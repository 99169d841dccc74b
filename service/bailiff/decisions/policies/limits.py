"""How fast evictions may begin and how many may run, by one limit; instants are monotonic seconds.

Rates are a token bucket, kept as the one instant at which it is full (the generic cell rate
algorithm, ITU-T I.371): in any span of t seconds no more than burst + perSecond * t begin.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.policies.hold import Cause, Hold
from bailiff.decisions.policies.settings import Limit

if TYPE_CHECKING:
    from bailiff.decisions.policies.breaker import BreakerState

NO_LIMIT = Limit()


def free_at(limit: Limit, running: int, full_at: float) -> float:
    """From when on one more may begin; infinity: when one that runs has ended.

    Args:
        limit: what is allowed.
        running: evictions under way.
        full_at: when the bucket is full; minus infinity if it has always been.
    """
    if limit.concurrency is not None and running >= limit.concurrency:
        return math.inf
    if limit.per_second is None:
        return -math.inf
    return full_at - (limit.burst - 1) / limit.per_second


def spend(limit: Limit, full_at: float, now: float) -> float:
    """When the bucket is full after one has begun; the caller has seen that it may."""
    return -math.inf if limit.per_second is None else max(full_at, now) + 1 / limit.per_second


def retune(limit: Limit, full_at: float, now: float) -> float:
    """When the bucket is full by another limit than before: what has been spent stays spent.

    However slow the old rate was, it is full again within the time of the new one.
    """
    if limit.per_second is None:
        return -math.inf
    return min(full_at, now + limit.burst / limit.per_second)


def slowed(limit: Limit, state: BreakerState) -> Limit:
    """The limit while a breaker slows down: no faster than either says, and evenly spaced."""
    if state.slow_per_second is None:
        return limit
    rates = (state.slow_per_second, limit.per_second)
    return replace(limit, per_second=min(rate for rate in rates if rate is not None), burst=1)


def limit_hold(limit: Limit, at: float, what: str, usual: Limit) -> Hold:
    """Why one more may not begin before an instant that `free_at` has told.

    Args:
        limit: in force.
        at: see there.
        what: it is a limit of, as `for node n1`.
        usual: the limit where no breaker slows it down.
    """
    if at == math.inf:
        message = f"no more than {limit.concurrency} at a time {what}"
        return Hold(cause=Cause.CONCURRENCY_LIMITED, message=message)
    why = "" if limit.per_second == usual.per_second else ", slowed down by its breaker"
    message = f"no more than {limit.per_second:g} a second {what}{why}"
    return Hold(cause=Cause.RATE_LIMITED, message=message)
