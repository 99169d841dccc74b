"""Policies: when an eviction that is due may begin. Pure; off by default."""

from bailiff.decisions.policies.blast import NO_BLAST, Blast, blast_excess
from bailiff.decisions.policies.breaker import (
    CLUSTER,
    BreakerLevel,
    BreakerState,
    describe_zone,
    is_failing,
    judge,
    judge_all,
    zone_of,
)
from bailiff.decisions.policies.hold import Cause, Hold
from bailiff.decisions.policies.limits import (
    NO_LIMIT,
    free_at,
    limit_hold,
    retune,
    slowed,
    spend,
)
from bailiff.decisions.policies.order import Rank, rank
from bailiff.decisions.policies.pause import PauseNotice, read_pause, write_pause
from bailiff.decisions.policies.publisher import Publisher
from bailiff.decisions.policies.reading import PolicyError, read, schema
from bailiff.decisions.policies.rules import UNKNOWN, Circumstances, Unknown, hold, may_hold
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
from bailiff.decisions.policies.weakening import fingerprint, weakenings

__all__ = [
    "CLUSTER",
    "NO_BLAST",
    "NO_LIMIT",
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
    "Publisher",
    "Rank",
    "Requirement",
    "Unknown",
    "Weekday",
    "Window",
    "blast_excess",
    "describe_zone",
    "fingerprint",
    "free_at",
    "hold",
    "is_failing",
    "judge",
    "judge_all",
    "limit_hold",
    "may_hold",
    "rank",
    "read",
    "read_pause",
    "retune",
    "schema",
    "selects",
    "slowed",
    "spend",
    "weakenings",
    "write_pause",
    "zone_of",
]
