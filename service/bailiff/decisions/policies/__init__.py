"""Policies: when an eviction that is due may begin. Pure; off by default."""

from bailiff.decisions.policies.blast import NO_BLAST, Blast, blast_excess
from bailiff.decisions.policies.breaker import (
    BreakerLevel,
    BreakerState,
    describe_zone,
    is_failing,
    judge,
    zone_of,
)
from bailiff.decisions.policies.hold import Cause, Hold
from bailiff.decisions.policies.order import rank
from bailiff.decisions.policies.pause import PauseNotice, read_pause, write_pause
from bailiff.decisions.policies.reading import PolicyError, read, schema
from bailiff.decisions.policies.rules import UNKNOWN, Circumstances, Unknown, hold
from bailiff.decisions.policies.selectors import selects
from bailiff.decisions.policies.settings import (
    NO_POLICIES,
    BlastRadius,
    Breaker,
    Breakers,
    DrainOrder,
    EvictionApi,
    Exclusion,
    LabelSelector,
    Limit,
    Limits,
    Operator,
    Pause,
    Policies,
    Requirement,
    Weekday,
    Window,
)

__all__ = [
    "NO_BLAST",
    "NO_POLICIES",
    "UNKNOWN",
    "Blast",
    "BlastRadius",
    "Breaker",
    "BreakerLevel",
    "BreakerState",
    "Breakers",
    "Cause",
    "Circumstances",
    "DrainOrder",
    "EvictionApi",
    "Exclusion",
    "Hold",
    "LabelSelector",
    "Limit",
    "Limits",
    "Operator",
    "Pause",
    "PauseNotice",
    "Policies",
    "PolicyError",
    "Requirement",
    "Unknown",
    "Weekday",
    "Window",
    "blast_excess",
    "describe_zone",
    "hold",
    "is_failing",
    "judge",
    "rank",
    "read",
    "read_pause",
    "schema",
    "selects",
    "write_pause",
    "zone_of",
]
