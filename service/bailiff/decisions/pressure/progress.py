"""What goes on from round to round: since when thresholds are met, and how long conditions hold.

Source: thresholdsFirstObservedAt, thresholdsMetGracePeriod, nodeConditionsLastObservedAt,
nodeConditionsObservedSince and mergeThresholds in pkg/kubelet/eviction/helpers.go. The kubelet
measures by a clock that cannot step; we are told instants, so an instant in the future counts as
now: what waits then waits its whole time, and nothing waits for a clock to come round again.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.pressure.signals import CONDITIONS
from bailiff.decisions.pressure.state import ConditionState, ThresholdState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from bailiff.decisions.pressure.state import PressureState
    from bailiff.decisions.pressure.thresholds import Identity, Threshold


def merged(now_met: Iterable[Threshold], still_met: Iterable[Threshold]) -> tuple[Threshold, ...]:
    """Both, each once; two that differ in their minimum reclaim alone are one."""
    found = {one.identity: one for one in still_met}
    return tuple((found | {one.identity: one for one in now_met}).values())


def carried_over(
    state: PressureState, thresholds: Iterable[Threshold]
) -> dict[Identity, ThresholdState]:
    """What was met in the last round of the thresholds that are set now, by their identity.

    Not of one that only told and tells no more, nor the other way round: nobody went for it, so
    nothing is to be followed up, and what evicts waits for a grace period of its own.
    """
    set_now = {one.identity: one.dry_run for one in thresholds}
    return {
        one.threshold.identity: one
        for one in state.thresholds
        if set_now.get(one.threshold.identity) is one.threshold.dry_run
    }


def first_observed(
    below: Iterable[Threshold], before: Mapping[Identity, ThresholdState], now: datetime
) -> tuple[ThresholdState, ...]:
    """Since when each has been met; one that was not in the last round is since now."""
    since = {which: one.first_observed_at for which, one in before.items()}
    return tuple(
        ThresholdState(threshold=one, first_observed_at=min(now, since.get(one.identity, now)))
        for one in below
    )


def after_grace(observed: Iterable[ThresholdState], now: datetime) -> tuple[ThresholdState, ...]:
    """The same, with a note on those whose grace period is over."""
    return tuple(
        replace(one, acted_upon=_nanoseconds(now - one.first_observed_at) >= _grace(one))
        for one in observed
    )


def conditions_seen(
    below: Iterable[Threshold],
    state: PressureState,
    transition_period_nanoseconds: int,
    now: datetime,
) -> tuple[ConditionState, ...]:
    """When there was last reason for each condition, and whether that is told still.

    Args:
        below: thresholds that are met, whatever their grace periods.
        state: of the last round.
        transition_period_nanoseconds: for so long after there was reason for it it is told.
        now: in UTC.
    """
    last = {one.type: min(now, one.last_observed_at) for one in state.conditions}
    last |= dict.fromkeys((one.signal.condition for one in below), now)
    return tuple(
        ConditionState(
            type=one,
            last_observed_at=last[one],
            held=_nanoseconds(now - last[one]) < transition_period_nanoseconds,
        )
        for one in CONDITIONS
        if one in last
    )


def last_eviction(state: PressureState, cool_down: int, now: datetime) -> datetime | None:
    """When somebody last went by rank, where that counts.

    Args:
        state: of the last round.
        cool_down: in nanoseconds; 0: there is none.
        now: in UTC.
    """
    last = state.last_eviction_at
    return None if last is None or not cool_down else min(now, last)


def cools_down(state: PressureState, nanoseconds: int, now: datetime) -> bool:
    """Somebody has gone by rank so short a time ago that nobody else goes yet.

    Args:
        state: of this round, so that it tells of nothing in the future.
        nanoseconds: for so long nobody goes; 0: there is no cool-down.
        now: in UTC.
    """
    last = state.last_eviction_at
    return last is not None and _nanoseconds(now - last) < nanoseconds


def _grace(one: ThresholdState) -> int:
    return one.threshold.grace_period_nanoseconds


def _nanoseconds(time: timedelta) -> int:
    return time // timedelta(microseconds=1) * 1000
