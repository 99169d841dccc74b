"""Eviction by node taints (pkg/controller/tainteviction, repaired as the docs tell).

Only NoExecute taints evict. For each of them the first matching toleration counts:

- none: evict now;
- without seconds: tolerated for ever;
- with seconds: tolerated until max(taint added, pod bound) + seconds; zero and less: evict now.

The pod's deadline is the earliest of its taints'. Upstream counts from the moment its controller
happens to look, and never moves a deadline; see docs/differences-from-upstream.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from bailiff.decisions.decision import Finding
from bailiff.decisions.instants import in_utc
from bailiff.decisions.node_taints import observations
from bailiff.decisions.node_taints.findings import AddedTaint, Tolerated, judge
from bailiff.decisions.node_taints.observations import Since, identity_of
from bailiff.decisions.node_taints.other_taints import steps_of_others
from bailiff.decisions.options import DEFAULT_OPTIONS, Options
from bailiff.decisions.system import Round
from bailiff.decisions.text import describe_taint
from bailiff.decisions.tolerations import first_tolerating
from bailiff.kinds import NO_EXECUTE, Node, Pod, Taint, Toleration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from bailiff.decisions.node_taints.facts import TaintObservation
    from bailiff.decisions.node_taints.observations import Identity


class _Judged(Struct, gc=False):
    """One list of tolerations on this node.

    Attributes:
        matched: what each taint means for it.
        finding: the answer for pods that were bound before all taints came; None: not asked yet.
        unbound: the answer for pods that are not bound; None: not asked yet.
    """

    matched: list[Tolerated]
    finding: Finding | None = None
    unbound: Finding | None = None


class NodeTaints(Round):
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
        self._now = now
        self._options = options
        if since is None and observations.is_told(node, first_observed):
            since = observations.since(node, first_observed, now)
        self._taints: list[AddedTaint] = []
        self._first_added = now
        for index, taint in enumerate(node.spec.taints):
            if taint.effect == NO_EXECUTE:
                added = _added(taint, index, since, now)
                self._taints.append(added)
                self._first_added = min(self._first_added, added.added_at)
        self._others = steps_of_others(node.spec.taints) if options.explain else ()
        self._lists: dict[tuple[Toleration, ...], _Judged] = {}
        # By id(list), of the first of all that are equal. `_lists` keeps it, so that no other can
        # take its id.
        self._identified: dict[int, _Judged] = {}

    def decide(self, pod: Pod, bound_at: datetime | None = None) -> Finding:
        """The answer for one pod.

        Args:
            pod: the pod; one without `spec.nodeName` is taken as bound now.
            bound_at: when it was bound; None reads it from the pod.
        """
        spec = pod.spec
        listed = spec.tolerations
        judged = self._identified.get(id(listed)) or self._lists.get(listed) or self._meet(listed)
        if not spec.node_name:
            if judged.unbound is None:
                judged.unbound = self._judge(judged.matched, self._now, is_bound=False)
            return judged.unbound
        if bound_at is None:
            bound_at = pod.bound_at
        if bound_at is not None and bound_at > self._first_added:
            return self._judge(judged.matched, bound_at)
        if judged.finding is None:
            judged.finding = self._judge(judged.matched, None)
        return judged.finding

    # As a round it is asked so, with no call in between: this is done for all pods of a cluster.
    of = decide

    def _meet(self, tolerations: tuple[Toleration, ...]) -> _Judged:
        """A list that equals none so far.

        Those of a question are all their own, and are not asked for again: only the first of all
        that are equal is kept.
        """
        judged = _Judged([self._tolerated(added, tolerations) for added in self._taints])
        self._lists[tolerations] = self._identified[id(tolerations)] = judged
        return judged

    def _tolerated(self, added: AddedTaint, tolerations: tuple[Toleration, ...]) -> Tolerated:
        used = first_tolerating(
            tolerations, added.taint, comparison_operators=self._options.comparison_operators
        )
        if used is None:
            return Tolerated(added=added, toleration=None, toleration_index=None, seconds=0)
        index, toleration = used
        seconds = toleration.toleration_seconds
        if seconds is not None and seconds < 0:
            seconds = 0
        return Tolerated(
            added=added, toleration=toleration, toleration_index=index, seconds=seconds
        )

    def _judge(
        self, matched: list[Tolerated], bound_at: datetime | None, *, is_bound: bool = True
    ) -> Finding:
        return judge(
            matched,
            bound_at,
            self._now,
            is_bound=is_bound,
            explain=self._options.explain,
            others=self._others,
        )


def _added(
    taint: Taint, index: int, since: Mapping[Identity, Since] | None, now: datetime
) -> AddedTaint:
    if taint.time_added is not None:
        told = Since(in_utc(taint.time_added), "timeAdded")
    elif since is None:
        told = observations.from_now(now)
    else:
        told = since[identity_of(taint)]
    return AddedTaint(
        taint=taint,
        index=index,
        name=describe_taint(taint),
        added_at=told.at,
        added_from=told.source,
        is_known=told.is_known,
    )
