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
from typing import TYPE_CHECKING

from msgspec import Struct

from bailiff.decisions import observations
from bailiff.decisions.decision import Finding, TraceStep, Verdict
from bailiff.decisions.facts import DEFAULT_OPTIONS, Options
from bailiff.decisions.instants import in_utc, later
from bailiff.decisions.observations import identity_of
from bailiff.decisions.text import describe_taint, describe_time, describe_toleration
from bailiff.decisions.tolerations import first_tolerating
from bailiff.kinds import NO_EXECUTE, Node, Pod, PodCondition, Taint, Toleration
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bailiff.decisions.facts import TaintObservation
    from bailiff.decisions.observations import Identity, Since

SYSTEM = "node-taints"
CONTROLLER_NAME = "taint-eviction-controller"
EVENT_REASON = "TaintManagerEviction"
CONDITION = PodCondition(
    type="DisruptionTarget",
    status="True",
    reason="DeletionByTaintManager",
    message="Taint manager: deleting due to NoExecute taint",
)

# Outcomes of a step for taints that evict.
NOT_TOLERATED = "NotTolerated"
FOR_NO_TIME = "ToleratedForNoTime"
FOR_SECONDS = "ToleratedForSeconds"


class _AddedTaint(Value, frozen=True):
    """A NoExecute taint and when it counts as added."""

    taint: Taint
    index: int
    added_at: datetime
    added_from: str


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
            text = f"taint {describe_taint(self.added.taint)} is "
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
            return _keep("PodOnOtherNode", f"the pod runs on node {spec.node_name}")
        if not self._evict_ended_pods and pod.has_ended:
            return _ended(pod)
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
            return _keep("NoTaint", "the node has no NoExecute taint", trace)
        cause, deadline = None, None
        for tolerated in matched:
            if tolerated.seconds == 0:
                return _evict_now(tolerated, None, trace)
            end = tolerated.deadline(bound_at)
            if end is not None and (deadline is None or end < deadline):
                cause, deadline = tolerated, end
        if cause is None or deadline is None:
            return _keep("ToleratedForever", "every NoExecute taint is tolerated for ever", trace)
        if deadline <= self._now:
            return _evict_now(cause, deadline, trace)
        return _evict_at(cause, deadline, trace)


def _ended(pod: Pod) -> Finding:
    if pod.is_terminating:
        return _keep("PodTerminating", "the pod is being deleted already")
    return _keep("PodFinished", f"the pod has ended: {pod.status.phase}")


def keep_without_node(pod: Pod) -> Finding:
    """What is said of a pod whose node does not exist; see decide_without_node."""
    if not pod.spec.node_name:
        return _keep("PodNotBound", "the pod is bound to no node yet, no taint reaches it")
    why = f"node {pod.spec.node_name} does not exist, pod garbage collection deletes the pod"
    return _keep("NodeGone", why)


def _added(
    taint: Taint, index: int, since: Mapping[Identity, Since] | None, now: datetime
) -> _AddedTaint:
    if taint.time_added is not None:
        at, source = in_utc(taint.time_added), "timeAdded"
    elif since is None:
        at, source = in_utc(now), "now"
    else:
        at, source = since[identity_of(taint)]
    return _AddedTaint(taint=taint, index=index, added_at=at, added_from=source)


def _keep(reason: str, message: str, trace: tuple[TraceStep, ...] | None = None) -> Finding:
    if trace is None:
        trace = (TraceStep(rule="Pod", outcome=reason, message=message),)
    return Finding(system=SYSTEM, verdict=Verdict.KEEP, reason=reason, message=message, trace=trace)


def _evict_now(
    cause: _Tolerated, deadline: datetime | None, trace: tuple[TraceStep, ...]
) -> Finding:
    reason = "TaintNotTolerated" if cause.toleration is None else "TolerationExpired"
    message = cause.describe()
    if deadline is not None:
        message += f", until {describe_time(deadline)}"
    return Finding(
        system=SYSTEM,
        verdict=Verdict.EVICT_NOW,
        reason=reason,
        message=message,
        evict_at=deadline,
        trace=trace,
    )


def _evict_at(cause: _Tolerated, deadline: datetime, trace: tuple[TraceStep, ...]) -> Finding:
    return Finding(
        system=SYSTEM,
        verdict=Verdict.EVICT_AT,
        reason="ToleratedUntil",
        message=f"{cause.describe()}, until {describe_time(deadline)}",
        evict_at=deadline,
        holds_until=deadline,
        trace=trace,
    )


def _trace(matched: list[_Tolerated], bound_at: datetime | None) -> tuple[TraceStep, ...]:
    if not matched:
        message = "the node has no NoExecute taint"
        return (TraceStep(rule="NoExecuteTaint", outcome="NoTaint", message=message),)
    return tuple(_step(tolerated, bound_at) for tolerated in matched)


def _step(tolerated: _Tolerated, bound_at: datetime | None) -> TraceStep:
    added = tolerated.added
    seconds = tolerated.seconds
    if tolerated.toleration is None:
        outcome = NOT_TOLERATED
    elif seconds is None:
        outcome = "ToleratedForever"
    else:
        outcome = FOR_SECONDS if seconds else FOR_NO_TIME
    return TraceStep(
        rule="NoExecuteTaint",
        outcome=outcome,
        message=tolerated.describe(),
        taint=added.taint,
        taint_index=added.index,
        toleration=tolerated.toleration,
        toleration_index=tolerated.toleration_index,
        added_at=added.added_at,
        added_from=added.added_from,
        deadline=tolerated.deadline(bound_at) if seconds else None,
    )
