"""What a round says of the node: conditions, thresholds, ranking, victims, and the next state."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bailiff.decisions.decision import Annotation, EventNote, ObjectReference, reference_to
from bailiff.decisions.instants import later_by
from bailiff.decisions.pressure.conditions import changes, node_conditions
from bailiff.decisions.pressure.facts import FileSystemLayout
from bailiff.decisions.pressure.layout import ReclaimStep
from bailiff.decisions.pressure.observations import is_newer
from bailiff.decisions.pressure.ranking import Candidate
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.sparing import why_nobody_goes
from bailiff.decisions.pressure.state import PressureState
from bailiff.decisions.pressure.thresholds import Threshold
from bailiff.kinds.meta import INT64_MAX, Int64, Time, Value
from bailiff.kinds.node_status import NodeCondition
from bailiff.kinds.quantity import NANO

if TYPE_CHECKING:
    from bailiff.decisions.pressure.choosing import DryRun, Victim
    from bailiff.decisions.pressure.round import RoundPlan

THRESHOLD_MET = "EvictionThresholdMet"
DRY_RUN = "EvictionDryRun"
INVALID_DISK_CAPACITY = "InvalidDiskCapacity"


class ThresholdReport(Value, frozen=True):
    """How a node stands to one of its thresholds.

    Attributes:
        threshold: which.
        met: it is, or was and is not yet over by its minimum reclaim.
        available: left of the signal, in bytes, inodes or processes; absent: it was not measured.
        capacity: of the signal in all.
        to_free: so much has to be freed until it is over, the minimum reclaim included; 0: none.
        first_observed_at: since when it has been met without a break.
        grace_over_at: when its grace period ends.
        stale: it was not measured since the last round, so that nobody goes for it in this one.
    """

    threshold: Threshold
    met: bool = False
    available: Int64 | None = None
    capacity: Int64 | None = None
    to_free: Int64 = 0
    first_observed_at: Time | None = None
    grace_over_at: Time | None = None
    stale: bool = False


class PressureVictim(Value, frozen=True):
    """A pod that goes in this round.

    Attributes:
        pod: whom it concerns.
        cause: the signal that is low, or the limit of its own that it is over:
            `emptydirfs.limit`, `ephemeralpodfs.limit` or `ephemeralcontainerfs.limit`.
        grace_period_seconds: that it is given, at least 1.
        message: what is written with the eviction.
        annotations: of its Event, for programs.
    """

    pod: ObjectReference
    cause: str
    grace_period_seconds: Int64
    message: str
    annotations: tuple[Annotation, ...] = ()


class PressureDryRun(Value, frozen=True):
    """What would be, were a threshold not one that only tells.

    Attributes:
        threshold: that is met, its grace period over.
        victims: who would go; empty: nobody may.
    """

    threshold: Threshold
    victims: tuple[PressureVictim, ...] = ()


class PressureReport(Value, frozen=True):
    """What a round says of the node.

    Attributes:
        conditions: `MemoryPressure`, `DiskPressure` and `PIDPressure`.
        thresholds: all that count, those of containerfs included, which are derived.
        starved: the signal that is acted upon; absent: none is.
        reclaim: what is to be freed on the node before a pod goes, in this order.
        relieved: that was done, and no threshold is met any more.
        candidates: the pods by rank for the starved signal, the first to go first.
        victims: who goes: one pod by rank, as many as the release target takes, or all that are
            over a limit of their own.
        events: about the node.
        layout: of the file systems, as it was told or taken from the summary.
        layout_derived: nobody has told it.
        next: the state to hand in with the next round.
        releasing: with a release target, what pods that are ending free of the starved signal.
        cools_down: nobody goes by rank, since somebody went less than the cool-down ago.
        dry_runs: what thresholds that only tell would have come to.
        reason: why nobody goes, in one word, as a finding of a pod on the node has it; absent:
            somebody does.
        message: the same for people.
    """

    conditions: tuple[NodeCondition, ...]
    thresholds: tuple[ThresholdReport, ...]
    next: PressureState
    starved: Signal | None = None
    reclaim: tuple[ReclaimStep, ...] = ()
    relieved: bool = False
    candidates: tuple[Candidate, ...] = ()
    victims: tuple[PressureVictim, ...] = ()
    events: tuple[EventNote, ...] = ()
    layout: FileSystemLayout = FileSystemLayout()
    layout_derived: bool = False
    releasing: Int64 = 0
    cools_down: bool = False
    dry_runs: tuple[PressureDryRun, ...] = ()
    reason: str = ""
    message: str = ""


def report_on(
    plan: RoundPlan, before: PressureState, node: str, layout: FileSystemLayout, *, derived: bool
) -> PressureReport:
    """A round in a form that can be handed on.

    Args:
        plan: of the round.
        before: the state that it began with.
        node: its name.
        layout: that it went by.
        derived: nobody has told the layout.
    """
    thresholds = _thresholds(plan, before)
    reason, message = ("", "") if plan.victims else why_nobody_goes(plan, thresholds)
    return PressureReport(
        conditions=node_conditions(plan.conditions),
        thresholds=thresholds,
        next=plan.state,
        starved=None if plan.starved is None else plan.starved.signal,
        reclaim=plan.reclaim,
        relieved=plan.relieved,
        candidates=() if plan.ranking is None else plan.ranking.candidates,
        victims=tuple(_victim(one) for one in plan.victims),
        events=_events(plan, before, node),
        layout=layout,
        layout_derived=derived,
        releasing=plan.releasing,
        cools_down=plan.cools_down,
        dry_runs=tuple(_dry_run(one) for one in plan.dry_runs),
        reason=reason,
        message=message,
    )


def _thresholds(plan: RoundPlan, before: PressureState) -> tuple[ThresholdReport, ...]:
    observed = {one.threshold.identity: one for one in plan.state.thresholds}
    last = before.last_times
    found = []
    for one in plan.thresholds:
        seen, since = plan.observations.get(one.signal), observed.get(one.identity)
        if seen is None:
            found.append(ThresholdReport(threshold=one))
            continue
        over = -(-one.amount(seen.capacity, reclaimed=True) // NANO) - seen.available
        at = None if since is None else since.first_observed_at
        grace = timedelta(microseconds=one.grace_period_nanoseconds // 1000)
        found.append(
            ThresholdReport(
                threshold=one,
                met=since is not None,
                available=seen.available,
                capacity=seen.capacity,
                # Of a capacity that no int64 holds a part may be less than nothing.
                to_free=max(0, min(over, INT64_MAX)) if since is not None else 0,
                first_observed_at=at,
                grace_over_at=None if at is None else later_by(at, grace),
                stale=not is_newer(seen, last),
            )
        )
    return tuple(found)


def _victim(victim: Victim) -> PressureVictim:
    return PressureVictim(
        pod=reference_to(victim.pod),
        cause=victim.cause,
        grace_period_seconds=victim.grace_period_seconds,
        message=victim.told.message,
        annotations=victim.told.annotations,
    )


def _dry_run(one: DryRun) -> PressureDryRun:
    victims = tuple(_victim(each) for each in one.victims)
    return PressureDryRun(threshold=one.threshold, victims=victims)


def _would_evict(one: DryRun) -> str:
    who = ", ".join(each.pod.key for each in one.victims) or "nobody, for no pod may go"
    kind = "hard" if one.threshold.is_hard else "soft"
    return f"{kind} {one.threshold.signal} would evict {who}"


def _events(plan: RoundPlan, before: PressureState, node: str) -> tuple[EventNote, ...]:
    told = list(changes(plan.conditions, before.held, node))
    images = plan.observations.get(Signal.IMAGEFS_AVAILABLE)
    if images is not None and images.capacity == 0:
        # A percentage of nothing is never met: somebody has to look at that disk.
        why = "invalid capacity 0 on image filesystem"
        told.append(EventNote(type="Warning", reason=INVALID_DISK_CAPACITY, message=why))
    if plan.starved is not None:
        why = f"Attempting to reclaim {plan.starved.signal.resource}"
        told.append(EventNote(type="Warning", reason=THRESHOLD_MET, message=why))
    if plan.dry_runs:
        why = f"Thresholds that only tell are met: {'; '.join(map(_would_evict, plan.dry_runs))}"
        told.append(EventNote(type="Normal", reason=DRY_RUN, message=why))
    return tuple(told)
