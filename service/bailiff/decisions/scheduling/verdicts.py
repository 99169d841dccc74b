"""What is said of nodes for one pod, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.instants import END_OF_TIME
from bailiff.kinds import Int64, Taint, Time
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


class Objection(Value, frozen=True):
    """Why kube-scheduler would not put the pod on a node.

    Attributes:
        rule: the plugin of kube-scheduler whose rule it is: `TaintToleration` or
            `NodeUnschedulable`.
        message: in kube-scheduler's own words.
        taint: the taint that is not tolerated; absent where it is none.
    """

    rule: str
    message: str
    taint: Taint | None = None


class Residency(Value, frozen=True):
    """Until when the pod could stay on a node, were it put there now.

    Attributes:
        for_ever: nothing that is known now would have it leave.
        until: when it would have to leave, the instant of the question where that is at once;
            absent where it may stay for ever.
        reason: stable code.
        message: the same for people.
        decided_by: the system that would have it leave, or `maintenance`; empty where it may stay.
    """

    for_ever: bool
    reason: str
    message: str
    until: Time | None = None
    decided_by: str = ""

    @property
    def end(self) -> datetime:
        """When it ends; the end of time where it does not."""
        return END_OF_TIME if self.until is None else self.until


class NodesVerdict(Value, frozen=True):
    """What is said of some nodes, which are alike for the pod.

    Attributes:
        nodes: their names, in alphabetical order.
        feasible: kube-scheduler's TaintToleration and NodeUnschedulable let the pod there.
        objections: why not, one for each taint that is not tolerated.
        raw_score: how many PreferNoSchedule taints of the node are not tolerated.
        normalized_score: from 0, the least liked of the feasible nodes, to 100; absent where the
            node is not feasible.
        residency: until when the pod could stay there.
    """

    nodes: tuple[str, ...]
    feasible: bool
    raw_score: Int64
    residency: Residency
    objections: tuple[Objection, ...] = ()
    normalized_score: Int64 | None = None

    @property
    def order(self) -> tuple[bool, int, int, bool, float, tuple[str, ...]]:
        """Sorts verdicts, the preferred first: by feasibility, score, residency, and by name."""
        stay = self.residency
        likes = self.normalized_score or 0
        left = END_OF_TIME - stay.end
        return (
            not self.feasible,
            -likes,
            self.raw_score,
            not stay.for_ever,
            left.total_seconds(),
            self.nodes[:1],
        )


def preferred_first(verdicts: Iterable[NodesVerdict]) -> tuple[NodesVerdict, ...]:
    """Those that are feasible first, then by score, then those where the pod stays longest."""
    return tuple(sorted(verdicts, key=lambda one: one.order))
