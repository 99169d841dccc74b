"""What is said of a pod on a node under pressure, and what is written where it goes.

Source: evictPod in pkg/kubelet/eviction/eviction_manager.go.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from msgspec import structs
from msgspec.structs import replace

from bailiff.decisions.decision import (
    EvictionTerms,
    Finding,
    Subject,
    TraceStep,
    Verdict,
    keep,
)
from bailiff.decisions.pressure.messages import observed_text
from bailiff.decisions.pressure.ranking import Candidate
from bailiff.decisions.pressure.report import ThresholdReport
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.stalls import ALL_OF_THE_TIME
from bailiff.kinds import PodCondition

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bailiff.decisions.pressure.choosing import Victim
    from bailiff.kinds import Pod

SYSTEM = "pressure"
# The kubelet's word for evictions, in the status of the pod and in its Event.
EVICTED = "Evicted"

STORAGE_TERMS = EvictionTerms(
    controller="kubelet",
    event_reason=EVICTED,
    phase="Failed",
    status_reason=EVICTED,
    event_type="Warning",
    # No kubelet takes an eviction back: whoever looks for those must not find this one.
    cancellation_reason="EvictionCancelled",
)
TERMS = replace(
    STORAGE_TERMS,
    condition=PodCondition(type="DisruptionTarget", status="True", reason="TerminationByKubelet"),
)


class StorageEviction(Finding, frozen=True):
    """That the pod is over a limit of its own on the node's disk."""

    eviction: ClassVar[EvictionTerms] = STORAGE_TERMS

    @property
    def terms(self) -> EvictionTerms | None:
        """With what was found of this very pod in status and Event."""
        terms = super().terms
        if terms is None:
            return None
        told = self.message
        terms = replace(
            terms,
            status_message=told,
            event_message=told,
            event_annotations=self.event_annotations,
        )
        if terms.condition is None:
            return terms
        return replace(terms, condition=replace(terms.condition, message=told))


class PressureEviction(StorageEviction, frozen=True):
    """That the pod goes because the node is under pressure."""

    eviction: ClassVar[EvictionTerms] = TERMS


class StorageEvictionByStatus(StorageEviction, frozen=True):
    """The same where the status alone is written, as the kubelet does."""

    eviction: ClassVar[EvictionTerms] = replace(STORAGE_TERMS, keeps_pod=True)


class PressureEvictionByStatus(PressureEviction, frozen=True):
    """The same where the status alone is written, as the kubelet does."""

    eviction: ClassVar[EvictionTerms] = replace(TERMS, keeps_pod=True)


_SIGNALS = frozenset(signal.value for signal in Signal)
_BY_STATUS: Mapping[type[Finding], type[StorageEviction]] = {
    StorageEviction: StorageEvictionByStatus,
    PressureEviction: PressureEvictionByStatus,
}


class ThresholdSubject(Subject, frozen=True, tag="pressureThreshold"):
    """A threshold of the node, and how the node stands to it.

    Attributes:
        report: the threshold, what is available, and since when it is met.
    """

    report: ThresholdReport


class CandidateSubject(Subject, frozen=True, tag="pressureCandidate"):
    """The pod's place among those that may go.

    Attributes:
        place: from 1, the first to go.
        of: how many there are.
        candidate: by what it was ranked.
    """

    place: int
    of: int
    candidate: Candidate


def evicted(victim: Victim, now: datetime, trace: tuple[TraceStep, ...]) -> Finding:
    """That this pod goes, now."""
    kind = PressureEviction if victim.disrupts else StorageEviction
    return kind(
        system=SYSTEM,
        verdict=Verdict.EVICT_NOW,
        reason="NodePressure" if victim.disrupts else "StorageLimitExceeded",
        message=victim.told.message,
        cause=victim.cause,
        due_since=now,
        grace_period_seconds=victim.grace_period_seconds,
        event_annotations=victim.told.annotations,
        trace=trace,
    )


def spared(reason: str, message: str, trace: tuple[TraceStep, ...]) -> Finding:
    """That this pod stays in this round."""
    return keep(SYSTEM, reason, message, trace)


def by_status_alone(found: Finding) -> Finding:
    """The same eviction, whose pod object stays: upstream leaves it to pod garbage collection."""
    kind = _BY_STATUS.get(type(found))
    return found if kind is None else kind(**structs.asdict(found))


def went_by_rank(found: Finding) -> bool:
    """The pod goes for its node, and not for a limit of its own.

    By what it says, and not by its type: what is carried out may be joined with what other systems
    say of the pod.
    """
    return found.system == SYSTEM and found.cause in _SIGNALS


def evicted_at(pod: Pod) -> datetime | None:
    """When a pod was evicted by its node, in UTC; None: it was not.

    By its condition, whose message names what was low and may be any; one that has it and stays was
    refused. Of a pod that went for a limit of its own, which has none, by its deletion.
    """
    meta = pod.metadata
    if not pod.is_terminating and not pod.is_finished:
        return None
    for one in pod.status.conditions:
        if _is_announced_by(one):
            return one.last_transition_time
    ends, seconds = meta.deletion_timestamp, meta.deletion_grace_period_seconds or 0
    if pod.status.reason != EVICTED or ends is None:
        return None
    try:
        return ends - timedelta(seconds=seconds)
    except OverflowError:
        return None


def _is_announced_by(condition: PodCondition) -> bool:
    wanted = TERMS.condition
    return wanted is not None and replace(wanted, message=condition.message) == replace(
        condition, last_transition_time=None, observed_generation=0
    )


# What keeps a pod that is chosen from being hastened.
ENDS_ALREADY = keep(SYSTEM, "EndsAlready", "the pod is being deleted, and about to be gone")


def unmeasured(why: str) -> Finding:
    """That this pod stays since nothing is known of its node's pressure."""
    return keep(SYSTEM, "StatsUnknown", why)


def threshold_steps(reports: tuple[ThresholdReport, ...]) -> tuple[TraceStep, ...]:
    """Each threshold that is met, as a step that all pods of the round share."""
    return tuple(_threshold_step(one) for one in reports if one.met)


def _threshold_step(one: ThresholdReport) -> TraceStep:
    return TraceStep(
        rule="Threshold",
        outcome="Stale" if one.stale else "Met",
        message=f"{one.threshold.signal}: {_stands(one)}",
        subject=ThresholdSubject(report=one),
        deadline=one.grace_over_at,
    )


def _stands(one: ThresholdReport) -> str:
    """How the node stands to a threshold, in the units of the messages of evictions."""
    if one.available is None or one.capacity is None:
        return "it was not measured"
    if one.threshold.signal.is_stall:
        waited = (one.capacity - one.available) / ALL_OF_THE_TIME
        too_much = one.to_free / ALL_OF_THE_TIME
        return f"tasks waited {waited:.2%} of the time, {too_much:.2%} too much"
    left, of, to_free = (
        observed_text(one.threshold.signal.resource, amount)
        for amount in (one.available, one.capacity, one.to_free)
    )
    return f"{left} of {of} are left, {to_free} are to be freed"


def candidate_step(place: int, of: int, candidate: Candidate) -> TraceStep:
    """The pod's place, from 1."""
    by = "" if place == of else f", before the next by {candidate.decided_by}"
    return TraceStep(
        rule="Rank",
        outcome=candidate.decided_by,
        message=f"place {place} of {of}{by}",
        subject=CandidateSubject(place=place, of=of, candidate=candidate),
    )
