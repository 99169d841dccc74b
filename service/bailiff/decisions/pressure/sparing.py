"""Why nobody goes in a round, in one word and for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bailiff.decisions.pressure.report import ThresholdReport
    from bailiff.decisions.pressure.round import RoundPlan


def why_nobody_goes(planned: RoundPlan, thresholds: Iterable[ThresholdReport]) -> tuple[str, str]:
    """Reason and message of a round without victims.

    Args:
        planned: the round.
        thresholds: how the node stands to each.
    """
    if planned.relieved:
        return "PressureRelieved", "what was freed on the node is enough"
    if planned.starved is None:
        return _why_nothing_is_acted_upon(planned, [one for one in thresholds if one.met])
    if planned.waits_for_reclaim:
        return "ReclaimFirst", "the node frees what it can before a pod goes"
    if planned.releasing:
        return "ReleaseUnderWay", "pods that are ending free what is missing"
    if planned.ends_first:
        return "EndsAlready", "the first by rank is being deleted, and about to be gone"
    return (
        "NobodyToEvict",
        "all pods are critical, were refused lately, or would free nothing",
    )


def _why_nothing_is_acted_upon(planned: RoundPlan, met: list[ThresholdReport]) -> tuple[str, str]:
    if not met:
        return "NoPressure", "no threshold is met"
    if planned.cools_down:
        return "CoolsDown", "a pod went for pressure less than the cool-down ago"
    evicting = [one for one in met if not one.threshold.dry_run]
    if not evicting:
        return "DryRun", "only thresholds are met that are dry runs, which evict nobody"
    waiting = [(one.grace_over_at, one) for one in evicting if not one.stale]
    over = [(at, one.threshold.signal) for at, one in waiting if at is not None]
    if not over:
        return "StatsNotNew", "nothing was measured since the last round"
    at, signal = min(over)
    return "GracePeriodNotOver", f"{_grace_period(signal, at)}, if it is met until then"


def _grace_period(signal: str, over_at: datetime) -> str:
    return f"the grace period of {signal} is over at {describe_time(over_at)}"
