"""What is said of a pod on a lost node, and what is written where it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from bailiff.decisions.decision import EvictionTerms, Finding, Subject, TraceStep, Verdict, keep
from bailiff.decisions.node_loss.settings import LostReason
from bailiff.decisions.node_loss.standing import Standing
from bailiff.decisions.node_loss.words import CONTROLLER, EVICTION_REASON, MARKING, UNRESPONSIVE

if TYPE_CHECKING:
    from datetime import datetime

SYSTEM = "node-loss"
# What evicts; the same for all pods of all lost nodes.
CAUSE = "NodeLost"
# Of pods that the taints of their node evict.
LEFT_TO_TAINTS = "LeftToTaints"
# What keeps the pods of a lost node that are being deleted from being forced, too.
DOUBTED = "Contradiction"
# Of a pod that was deleted, does not go, and that nobody may force.
STUCK = "Stuck"
_TERMS = EvictionTerms(
    controller=CONTROLLER,
    event_reason=EVICTION_REASON,
    event_message=MARKING,
    status_reason=LostReason.NODE_LOST.value,
    status_message=UNRESPONSIVE,
    # Upstream takes none of these back: whoever looks for one must not find another word for it.
    cancellation_reason="EvictionCancelled",
)


class NodeLossEviction(Finding, frozen=True):
    """That the pod goes with its node, with the reason in its status that the code has."""

    eviction: ClassVar[EvictionTerms] = _TERMS


class NodeUnreachableEviction(Finding, frozen=True):
    """The same with the reason that the documents have."""

    eviction: ClassVar[EvictionTerms] = replace(
        _TERMS, status_reason=LostReason.NODE_UNREACHABLE.value
    )


_EVICTIONS: dict[LostReason, type[Finding]] = {
    LostReason.NODE_LOST: NodeLossEviction,
    LostReason.NODE_UNREACHABLE: NodeUnreachableEviction,
}


class LostNodeSubject(Subject, frozen=True, tag="lostNode"):
    """The node, and how it stands.

    Attributes:
        standing: since when it is lost, and when its pods may go.
    """

    standing: Standing


# Of pods on a node that is not lost; shared, since there are so many of them.
READY = keep(SYSTEM, "NodeReady", "the node is ready, or its kubelet lives")


def unheard(why: str) -> Finding:
    """That a pod stays, as far as is known: nobody can tell whether its node lives."""
    return keep(SYSTEM, "LeaseNotRead", why)


def goes(
    reason: LostReason,
    standing: Standing,
    message: str,
    now: datetime,
    trace: tuple[TraceStep, ...],
) -> Finding:
    """That a pod goes once the node's time is over, which may be now.

    Args:
        reason: for its status.
        standing: of the node, which is lost.
        message: why, for people.
        now: in UTC.
        trace: the rules looked at.
    """
    deadline = standing.deadline
    over = deadline is None or deadline <= now
    return _EVICTIONS[reason](
        system=SYSTEM,
        verdict=Verdict.EVICT_NOW if over else Verdict.EVICT_AT,
        reason=CAUSE,
        message=message,
        evict_at=deadline,
        holds_until=None if over else standing.holds_until,
        counted_from_now=standing.counted_from_now,
        cause=CAUSE,
        due_since=deadline if over else None,
        trace=trace,
    )


def forced(
    reason: LostReason,
    standing: Standing,
    message: str,
    now: datetime,
    trace: tuple[TraceStep, ...],
) -> Finding:
    """That a pod is deleted at once, since nothing runs any more on the machine.

    Args:
        reason: for its status.
        standing: of the node, which is lost.
        message: why, for people.
        now: in UTC.
        trace: the rules looked at.
    """
    deadline = standing.deadline
    return _EVICTIONS[reason](
        system=SYSTEM,
        verdict=Verdict.EVICT_NOW,
        reason="NodeOff",
        message=message,
        cause=CAUSE,
        # One that is being deleted already goes before the node's time is over.
        due_since=now if deadline is None or deadline > now else deadline,
        grace_period_seconds=0,
        trace=trace,
    )


def stays(
    reason: str, message: str, trace: tuple[TraceStep, ...], until: datetime | None = None
) -> Finding:
    """That a pod stays; `until`: when that may change though no object does."""
    found = keep(SYSTEM, reason, message, trace)
    return found if until is None else replace(found, holds_until=until)
