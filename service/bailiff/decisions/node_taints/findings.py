"""What is said of a pod for the taints of its node (pkg/controller/tainteviction)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from msgspec import Struct

from bailiff.decisions.decision import (
    EvictionTerms,
    Finding,
    Subject,
    TraceStep,
    Verdict,
    keep,
    keep_pod,
)
from bailiff.decisions.instants import END_OF_TIME, later
from bailiff.decisions.node_taints.built_in import BuiltInTaint, built_in_taint
from bailiff.decisions.text import describe_time, describe_toleration
from bailiff.kinds import PodCondition, Taint, Time, Toleration
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from bailiff.kinds import Pod

SYSTEM = "node-taints"
TERMS = EvictionTerms(
    controller="taint-eviction-controller",
    event_reason="TaintManagerEviction",
    condition=PodCondition(
        type="DisruptionTarget",
        status="True",
        reason="DeletionByTaintManager",
        message="Taint manager: deleting due to NoExecute taint",
    ),
)

_NO_TAINT = "the node has no NoExecute taint"


class NodeTaintEviction(Finding, frozen=True):
    """That a taint of its node evicts the pod, now or later."""

    eviction: ClassVar[EvictionTerms] = TERMS


class NodeTaintSubject(Subject, frozen=True, tag="nodeTaint"):
    """A taint of the pod's node, and what the pod's tolerations mean for it.

    Attributes:
        taint: the taint.
        taint_index: its place in `node.spec.taints`.
        toleration: of the pod's the first that matches.
        toleration_index: its place in `pod.spec.tolerations`.
        added_at: when the taint counts as added.
        added_from: where `added_at` comes from: timeAdded, firstObserved, managedFields (the last
            edit of the node's taints), or now where none is known.
        built_in: what Kubernetes means by it, where it is a taint of its own.
    """

    taint: Taint
    taint_index: int
    toleration: Toleration | None = None
    toleration_index: int | None = None
    added_at: Time | None = None
    added_from: str = ""
    built_in: BuiltInTaint | None = None


class AddedTaint(Value, frozen=True):
    """A NoExecute taint and when it counts as added."""

    taint: Taint
    index: int
    # As `key=value:Effect`.
    name: str
    added_at: datetime
    added_from: str
    # Something tells when it was added; else it counts from the instant of the question.
    is_known: bool


class Tolerated(Struct, gc=False):
    """What one taint means for one list of tolerations."""

    added: AddedTaint
    toleration: Toleration | None
    toleration_index: int | None
    # How long it is tolerated; None for ever, 0 not at all.
    seconds: int | None
    description: str = ""

    def describe(self) -> str:
        """In words; made once, for the finding and for its trace."""
        if not self.description:
            text = f"taint {self.added.name} is "
            if self.toleration is None:
                text += "not tolerated"
            else:
                text += f"tolerated by {describe_toleration(self.toleration)}"
            self.description = text
        return self.description

    def deadline(self, bound_at: datetime | None) -> datetime | None:
        """When it evicts, or would have; None: never, or it is to go and nothing tells since when.

        The last is what most pods meet that go at once, and to count costs more than to ask.
        """
        if self.seconds is None or (self.seconds == 0 and not self.added.is_known):
            return None
        return later(self.start(bound_at), self.seconds)

    def start(self, bound_at: datetime | None) -> datetime:
        """From when its time runs."""
        added_at = self.added.added_at
        return bound_at if bound_at is not None and bound_at > added_at else added_at


# With its deadline, which its step of the trace tells, too.
_Timed: TypeAlias = "tuple[Tolerated, datetime | None]"


class _Deadline(Struct, frozen=True, gc=False):
    """What evicts a pod later.

    Attributes:
        cause: the taint that evicts first.
        at: when.
        holds_until: until when `at` stays where it is; None: it moves with the question.
    """

    cause: Tolerated
    at: datetime
    holds_until: datetime | None


def judge(
    matched: list[Tolerated],
    bound_at: datetime | None,
    now: datetime,
    *,
    is_bound: bool,
    explain: bool,
    others: tuple[TraceStep, ...] = (),
) -> Finding:
    """The answer for a pod that tolerates its node's taints so.

    Args:
        matched: every taint, with what the pod's tolerations mean for it.
        bound_at: when the pod came to its node; None: before all taints.
        now: the instant to decide for.
        is_bound: False for a pod that has no node yet: it is asked about as if bound now.
        explain: a trace is asked for.
        others: the last steps of the trace, see other_taints.
    """
    timed = [(one, one.deadline(bound_at)) for one in matched]
    trace = _trace(timed) + others if explain else ()
    if not matched:
        return keep(SYSTEM, "NoTaint", _NO_TAINT, trace)
    for tolerated in matched:
        if tolerated.seconds == 0:
            return _evict_now(tolerated, None, _due_since(timed, now), trace)
    first = _first_to_end(timed, bound_at, now, is_bound=is_bound)
    if first is None:
        why = "every NoExecute taint is tolerated for ever"
        return keep(SYSTEM, "ToleratedForever", why, trace)
    if first.at <= now:
        return _evict_now(first.cause, first.at, first.at, trace)
    return _evict_at(first, trace)


def _first_to_end(
    timed: list[_Timed], bound_at: datetime | None, now: datetime, *, is_bound: bool
) -> _Deadline | None:
    """The taint that evicts first; None: all are tolerated for ever.

    Of two that evict together it is one whose deadline stays: asked later, that one is first.
    """
    first: _Deadline | None = None
    for one, at in timed:
        if at is None or (first is not None and at > first.at):
            continue
        holds_until = _holds_until(one, at, bound_at, now, is_bound=is_bound)
        if first is None or at < first.at or (holds_until and not first.holds_until):
            first = _Deadline(one, at, holds_until)
    return first


def _holds_until(
    one: Tolerated, at: datetime, bound_at: datetime | None, now: datetime, *, is_bound: bool
) -> datetime | None:
    """Until when its deadline stays where it is; None: it moves with the question.

    Time that runs from now runs from whatever instant it is asked for; one to come stays until it
    is there, and what lies at the end of time can move no further.
    """
    if (one.added.is_known and is_bound) or at == END_OF_TIME:
        return at
    start = one.start(bound_at)
    return start if start > now else None


def keep_without_node(pod: Pod) -> Finding:
    """What is said of a pod of a real cluster whose node does not exist there.

    A pod that is not bound has no node yet, and no taint evicts it. The pods of a node that was
    deleted are pod garbage collection's (pkg/controller/podgc), unless another system evicts them.
    """
    if not pod.spec.node_name:
        why = "the pod is bound to no node yet, no taint reaches it"
        return keep_pod(SYSTEM, "PodNotBound", why)
    why = f"node {pod.spec.node_name} does not exist, pod garbage collection deletes the pod"
    return keep_pod(SYSTEM, "NodeGone", why)


def _due_since(timed: list[_Timed], now: datetime) -> datetime | None:
    """Since when the first of its taints has the pod go, be it tolerated no longer or not at all.

    None where nothing tells when any of them was added, or it is to be only later.
    """
    past = [end for one, end in timed if one.added.is_known and end is not None and end <= now]
    return min(past) if past else None


def _evict_now(
    cause: Tolerated,
    deadline: datetime | None,
    since: datetime | None,
    trace: tuple[TraceStep, ...],
) -> NodeTaintEviction:
    reason = "TaintNotTolerated" if cause.toleration is None else "TolerationExpired"
    message = cause.describe()
    if deadline is not None:
        message += f", until {describe_time(deadline)}"
    return NodeTaintEviction(
        system=SYSTEM,
        verdict=Verdict.EVICT_NOW,
        reason=reason,
        message=message,
        evict_at=deadline,
        cause=cause.added.name,
        due_since=since,
        trace=trace,
    )


def _evict_at(first: _Deadline, trace: tuple[TraceStep, ...]) -> NodeTaintEviction:
    from_now = first.holds_until is None
    message = f"{first.cause.describe()}, until {describe_time(first.at)}"
    return NodeTaintEviction(
        system=SYSTEM,
        verdict=Verdict.EVICT_AT,
        reason="ToleratedUntil",
        message=f"{message}, counted from now" if from_now else message,
        evict_at=first.at,
        holds_until=first.holds_until,
        counted_from_now=from_now,
        cause=first.cause.added.name,
        trace=trace,
    )


def _trace(timed: list[_Timed]) -> tuple[TraceStep, ...]:
    if not timed:
        return (TraceStep(rule="NoExecuteTaint", outcome="NoTaint", message=_NO_TAINT),)
    return tuple([_step(one, at) for one, at in timed])


def _step(tolerated: Tolerated, deadline: datetime | None) -> TraceStep:
    added = tolerated.added
    seconds = tolerated.seconds
    if tolerated.toleration is None:
        outcome = "NotTolerated"
    elif seconds is None:
        outcome = "ToleratedForever"
    else:
        outcome = "ToleratedForSeconds" if seconds else "ToleratedForNoTime"
    return TraceStep(
        rule="NoExecuteTaint",
        outcome=outcome,
        message=tolerated.describe(),
        subject=NodeTaintSubject(
            taint=added.taint,
            taint_index=added.index,
            toleration=tolerated.toleration,
            toleration_index=tolerated.toleration_index,
            added_at=added.added_at,
            added_from=added.added_from,
            built_in=built_in_taint(added.taint),
        ),
        deadline=deadline if seconds else None,
    )
