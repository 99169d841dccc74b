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
    from collections.abc import Iterable

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


class Tolerating:
    """A list of tolerations, by the keys of the taints that they may tolerate."""

    __slots__ = ("_by_key", "_comparing", "_of_any")

    def __init__(self, tolerations: Iterable[Toleration], *, comparison_operators: bool) -> None:
        """Prepare.

        Args:
            tolerations: of a pod.
            comparison_operators: the gate TaintTolerationComparisonOperators.
        """
        self._comparing = comparison_operators
        self._of_any: list[Toleration] = []
        self._by_key: dict[str, list[Toleration]] = {}
        for one in tolerations:
            if one.key:
                self._by_key.setdefault(one.key, []).append(one)
            else:
                self._of_any.append(one)

    def tolerates(self, taint: Taint) -> bool:
        """Whether one of them does, see `bailiff.decisions.tolerations.tolerates`."""
        for some in (self._by_key.get(taint.key), self._of_any):
            for one in some or ():
                if tolerates(one, taint, comparison_operators=self._comparing):
                    return True
        return False


def filter_node(taints: Iterable[Taint], by: Tolerating, *, unschedulable: bool) -> Filtered:
    """What the plugins say, NodeUnschedulable first, as kube-scheduler asks them.

    Args:
        taints: of the node; an objection is raised to each that repels and is not tolerated,
            where kube-scheduler tells only that there is one.
        by: the tolerations of the pod. Those that the scorer looks at alone, of the effect
            PreferNoSchedule or of none, are those that may tolerate what it counts.
        unschedulable: `spec.unschedulable` of the node.
    """
    objections: list[Objection] = []
    disliked = 0
    if unschedulable and not by.tolerates(_UNSCHEDULABLE_TAINT):
        objections.append(_UNSCHEDULABLE)
    for taint in taints:
        if taint.effect == PREFER_NO_SCHEDULE:
            disliked += not by.tolerates(taint)
        elif taint.effect in _REPELS and not by.tolerates(taint):
            objections.append(_objection(taint))
    return Filtered(tuple(objections), disliked)


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
