"""Policies: when an eviction that is due may begin. Pure; off by default."""

from bailiff.decisions.policies.hold import Cause, Hold
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
    "NO_POLICIES",
    "BlastRadius",
    "Breaker",
    "Breakers",
    "Cause",
    "DrainOrder",
    "EvictionApi",
    "Exclusion",
    "Hold",
    "LabelSelector",
    "Limit",
    "Limits",
    "Operator",
    "Pause",
    "Policies",
    "Requirement",
    "Weekday",
    "Window",
]
