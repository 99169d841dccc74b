"""Why an eviction that is due does not begin yet."""

from __future__ import annotations

from enum import StrEnum

from bailiff.kinds import Time
from bailiff.kinds.meta import Value


class Cause(StrEnum):
    """The policy that holds an eviction back; the value is the metric label.

    The first ones look at the pod and the state of the cluster. RATE_LIMITED and
    CONCURRENCY_LIMITED concern only the moment. BUDGET is the API server's word (429), not ours.
    """

    PAUSED = "paused"
    EXCLUDED = "excluded"
    PROTECTED = "protected"
    FOREIGN_SLICE = "foreign_slice"
    BLAST_RADIUS = "blast_radius"
    OUTSIDE_WINDOW = "outside_window"
    BREAKER_OPEN = "breaker_open"
    GANG = "gang"
    OVER_TIME = "over_time"
    RATE_LIMITED = "rate_limited"
    CONCURRENCY_LIMITED = "concurrency_limited"
    BUDGET = "budget"

    # Of an enumeration it would be computed from the name, each time.
    __hash__ = str.__hash__


class Hold(Value, frozen=True):
    """An eviction waits.

    Attributes:
        cause: the policy.
        message: why, for people: who paused, which window opens when, which fraction failed.
        until: it may begin at this instant unless something changes; absent where only a change
            of the cluster or of the policies ends the wait.
        for_good: and no such change is to be waited for: it was meant so, or can never be.
    """

    cause: Cause
    message: str
    until: Time | None = None
    for_good: bool = False
