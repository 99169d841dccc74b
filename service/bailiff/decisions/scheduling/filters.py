"""Where kube-scheduler would put a pod, as far as taints say, and how much it would like it there.

Source: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go and
nodeunschedulable/node_unschedulable.go; the scores: helper/normalize_score.go beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from bailiff.decisions.scheduling.verdicts import Objection
from bailiff.decisions.tolerations import tolerates
from bailiff.kinds import NO_EXECUTE, Taint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bailiff.kinds import Toleration

TAINT_TOLERATION = "TaintToleration"
NODE_UNSCHEDULABLE = "NodeUnschedulable"
# Of the normalized scores (fwk.MaxNodeScore).
MAX_SCORE = 100
NO_SCHEDULE, PREFER_NO_SCHEDULE = "NoSchedule", "PreferNoSchedule"
_REPELS = frozenset({NO_SCHEDULE, NO_EXECUTE})
_UNSCHEDULABLE_TAINT = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)
_UNTOLERATED = "node(s) had untolerated taint(s)"
_UNSCHEDULABLE = Objection(rule=NODE_UNSCHEDULABLE, message="node(s) were unschedulable")


class Filtered(Struct, frozen=True, gc=False):
    """What kube-scheduler's two plugins say of one node for one list of tolerations.

    Attributes:
        objections: why the pod may not be put there; none: it may.
        raw_score: how many PreferNoSchedule taints are not tolerated.
    """

    objections: tuple[Objection, ...]
    raw_score: int

    @property
    def feasible(self) -> bool:
        """Whether the pod may be put there."""
        return not self.objections


def filter_node(
    taints: Sequence[Taint],
    tolerations: Sequence[Toleration],
    *,
    unschedulable: bool,
    comparison_operators: bool,
) -> Filtered:
    """What the plugins say, NodeUnschedulable first, as kube-scheduler asks them.

    Args:
        taints: of the node; an objection is raised to each that repels and is not tolerated,
            where kube-scheduler tells only that there is one.
        tolerations: of the pod.
        unschedulable: `spec.unschedulable` of the node.
        comparison_operators: the gate TaintTolerationComparisonOperators.
    """

    def is_tolerated(taint: Taint, by: Iterable[Toleration]) -> bool:
        return any(tolerates(one, taint, comparison_operators=comparison_operators) for one in by)

    objections: list[Objection] = []
    if unschedulable and not is_tolerated(_UNSCHEDULABLE_TAINT, tolerations):
        objections.append(_UNSCHEDULABLE)
    objections += [
        _objection(taint)
        for taint in taints
        if taint.effect in _REPELS and not is_tolerated(taint, tolerations)
    ]
    # What the scorer looks at (getAllTolerationPreferNoSchedule).
    counted = [one for one in tolerations if one.effect in ("", PREFER_NO_SCHEDULE)]
    disliked = [
        taint
        for taint in taints
        if taint.effect == PREFER_NO_SCHEDULE and not is_tolerated(taint, counted)
    ]
    return Filtered(tuple(objections), len(disliked))


def normalized(raw_score: int, highest: int) -> int:
    """A score from 0 to 100, the fewer taints the higher (DefaultNormalizeScore, reversed).

    Args:
        raw_score: of a feasible node.
        highest: of all feasible nodes.
    """
    return MAX_SCORE - MAX_SCORE * raw_score // highest if highest else MAX_SCORE


def _objection(taint: Taint) -> Objection:
    """Without the taint's time, which plays no part, and would tell nodes apart that are alike."""
    told = taint if taint.time_added is None else replace(taint, time_added=None)
    return Objection(rule=TAINT_TOLERATION, message=_UNTOLERATED, taint=told)
