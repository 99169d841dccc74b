"""Eviction by node taints (pkg/controller/tainteviction, repaired as the docs tell).

Only NoExecute taints evict. For each of them the first matching toleration counts:

- none: evict now;
- without seconds: tolerated for ever;
- with seconds: tolerated until max(taint added, pod bound) + seconds; zero and less: evict now.

The pod's deadline is the earliest of its taints'. Upstream counts from the moment its controller
happens to look, and never moves a deadline; see docs/differences-from-upstream.md.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from bailiff.decisions.decision import (
    EvictionTerms,
    Finding,
    Subject,
    TraceStep,
    Verdict,
    keep,
    keep_ended,
    keep_pod,
)
from bailiff.decisions.instants import in_utc, later
from bailiff.decisions.node_taints import observations
from bailiff.decisions.node_taints.observations import identity_of
from bailiff.decisions.options import DEFAULT_OPTIONS, Options
from bailiff.decisions.text import describe_taint, describe_time, describe_toleration
from bailiff.decisions.tolerations import first_tolerating
from bailiff.kinds import NO_EXECUTE, Node, Pod, PodCondition, Taint, Time, Toleration
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bailiff.decisions.node_taints.facts import TaintObservation
    from bailiff.decisions.node_taints.observations import Identity, Since

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
    """

    taint: Taint
    taint_index: int
    toleration: Toleration | None = None
    toleration_index: int | None = None
    added_at: Time | None = None
    added_from: str = ""


class _AddedTaint(Value, frozen=True):
    """A NoExecute taint and when it counts as added."""

    taint: Taint
    index: int
    # As `key=value:Effect`.
    name: str
    added_at: datetime
    added_from: str

    @property
    def is_known(self) -> bool:
        """Something tells when it was added; else it counts from the instant of the question."""
        return self.added_from != "now"


class _Tolerated(Struct, gc=False):
    """What one taint means for one list of tolerations."""

    added: _AddedTaint
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
        """When it evicts; None never. Of no meaning where `seconds` is 0."""
        if self.seconds is None:
            return None
        start = self.added.added_at
        if bound_at is not None and bound_at > start:
            start = bound_at
        return later(start, self.seconds)


class _Judged(Struct, gc=False):
    """One list of tolerations on this node.

    Attributes:
        matched: what each taint means for it.
        finding: the answer for pods that were bound before all taints came; None: not asked yet.
    """

    matched: list[_Tolerated]
    finding: Finding | None = None


class NodeTaints:
    """The taints of one node at one instant, ready to be asked about many pods.

    Pods of one cluster share a handful of toleration lists, so the matching is done once per
    list; and pods that were bound before the taints came share the whole finding. A mirror
    interns its lists, so a list is looked up by identity first: hashing one costs more than all
    the rest of a decision.
    """

    def __init__(
        self,
        node: Node,
        now: datetime,
        first_observed: Iterable[TaintObservation] = (),
        options: Options = DEFAULT_OPTIONS,
        since: Mapping[Identity, Since] | None = None,
    ) -> None:
        """Prepare.

        Args:
            node: the node.
            now: the instant to decide for, with time zone.
            first_observed: when taints without timeAdded were first seen; counts before what
                the node tells, see observations.since.
            options: see there.
            since: of all taints without timeAdded, where it is known instead.
        """
        self._node = node.metadata.name
        self._now = now
        self._options = options
        self._evict_ended_pods = options.evict_ended_pods
        if since is None and observations.is_told(node, first_observed):
            since = observations.since(node, first_observed, now)
        self._taints = [
            _added(taint, index, since, now)
            for index, taint in enumerate(node.spec.taints)
            if taint.effect == NO_EXECUTE
        ]
        self._first_added = min([t.added_at for t in self._taints], default=now)
        self._lists: dict[tuple[Toleration, ...], _Judged] = {}
        # By id(list). The list is kept beside it, so that no other can take its id.
        self._identified: dict[int, tuple[_Judged, tuple[Toleration, ...]]] = {}

    def decide(self, pod: Pod, bound_at: datetime | None = None) -> Finding:
        """The answer for one pod.

        Args:
            pod: the pod; one without `spec.nodeName` is taken as bound now.
            bound_at: when it was bound; None reads it from the pod.
        """
        spec = pod.spec
        if spec.node_name and spec.node_name != self._node:
            why = f"the pod runs on node {spec.node_name}"
            return keep_pod(SYSTEM, "PodOnOtherNode", why)
        if not self._evict_ended_pods and pod.has_ended:
            return keep_ended(SYSTEM, pod)
        if not spec.node_name:
            bound_at = self._now
        elif bound_at is None:
            bound_at = pod.bound_at
        identified = self._identified.get(id(spec.tolerations))
        judged = identified[0] if identified else self._meet(spec.tolerations)
        if bound_at is not None and bound_at > self._first_added:
            return self._judge(judged.matched, bound_at)
        if judged.finding is None:
            judged.finding = self._judge(judged.matched, None)
        return judged.finding

    def _meet(self, tolerations: tuple[Toleration, ...]) -> _Judged:
        """A list that has not been seen yet, though an equal one may have been."""
        judged = self._lists.get(tolerations)
        if judged is None:
            judged = _Judged([self._tolerated(added, tolerations) for added in self._taints])
            self._lists[tolerations] = judged
        self._identified[id(tolerations)] = judged, tolerations
        return judged

    def _tolerated(self, added: _AddedTaint, tolerations: tuple[Toleration, ...]) -> _Tolerated:
        used = first_tolerating(
            tolerations, added.taint, comparison_operators=self._options.comparison_operators
        )
        if used is None:
            return _Tolerated(added=added, toleration=None, toleration_index=None, seconds=0)
        index, toleration = used
        seconds = toleration.toleration_seconds
        if seconds is not None and seconds < 0:
            seconds = 0
        return _Tolerated(
            added=added, toleration=toleration, toleration_index=index, seconds=seconds
        )

    def _judge(self, matched: list[_Tolerated], bound_at: datetime | None) -> Finding:
        trace = _trace(matched, bound_at) if self._options.explain else ()
        if not matched:
            return keep(SYSTEM, "NoTaint", _NO_TAINT, trace)
        cause, deadline = None, None
        for tolerated in matched:
            if tolerated.seconds == 0:
                return _evict_now(tolerated, None, _due_since(matched, bound_at), trace)
            end = tolerated.deadline(bound_at)
            if end is not None and (deadline is None or end < deadline):
                cause, deadline = tolerated, end
        if cause is None or deadline is None:
            why = "every NoExecute taint is tolerated for ever"
            return keep(SYSTEM, "ToleratedForever", why, trace)
        if deadline <= self._now:
            return _evict_now(cause, deadline, deadline, trace)
        # An unbound pod is taken as bound now, so its time counts from now as well.
        from_now = not cause.added.is_known or bound_at is self._now
        return _evict_at(cause, deadline, trace, from_now=from_now)


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


def _added(
    taint: Taint, index: int, since: Mapping[Identity, Since] | None, now: datetime
) -> _AddedTaint:
    if taint.time_added is not None:
        at, source = in_utc(taint.time_added), "timeAdded"
    elif since is None:
        at, source = in_utc(now), "now"
    else:
        at, source = since[identity_of(taint)]
    name = describe_taint(taint)
    return _AddedTaint(taint=taint, index=index, name=name, added_at=at, added_from=source)


def _due_since(matched: list[_Tolerated], bound_at: datetime | None) -> datetime | None:
    """Since when a pod is due that does not tolerate a taint at all: a deadline of no seconds.

    None where nothing tells when the taint was added.
    """
    added = min(t.added.added_at for t in matched if t.seconds == 0)
    known = any(t.added.is_known for t in matched if t.seconds == 0)
    if not known:
        return None
    return max(added, bound_at or added)


def _evict_now(
    cause: _Tolerated,
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


def _evict_at(
    cause: _Tolerated, deadline: datetime, trace: tuple[TraceStep, ...], *, from_now: bool
) -> NodeTaintEviction:
    message = f"{cause.describe()}, until {describe_time(deadline)}"
    return NodeTaintEviction(
        system=SYSTEM,
        verdict=Verdict.EVICT_AT,
        reason="ToleratedUntil",
        message=f"{message}, counted from now" if from_now else message,
        evict_at=deadline,
        holds_until=None if from_now else deadline,
        counted_from_now=from_now,
        cause=cause.added.name,
        trace=trace,
    )


def _trace(matched: list[_Tolerated], bound_at: datetime | None) -> tuple[TraceStep, ...]:
    if not matched:
        return (TraceStep(rule="NoExecuteTaint", outcome="NoTaint", message=_NO_TAINT),)
    return tuple(_step(tolerated, bound_at) for tolerated in matched)


def _step(tolerated: _Tolerated, bound_at: datetime | None) -> TraceStep:
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
        ),
        deadline=tolerated.deadline(bound_at) if seconds else None,
    )
