"""The questions, asked of the core with this server's clock and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions import (
    ChangeSummary,
    Decision,
    DecisionChange,
    Facts,
    NodeFacts,
    TaintChangeFacts,
    decide,
    decide_change,
    decide_node,
    decide_without_node,
    summarize,
)
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.decisions import Options
    from bailiff.kinds import Pod
    from bailiff.rest.meters import Meters


class DecisionList(Value, frozen=True):
    """The answers for many pods of one node.

    Attributes:
        decisions: one for each pod, in the order of the pods asked about.
    """

    decisions: tuple[Decision, ...]


class TaintChangePreview(Value, frozen=True):
    """What a change of taints would do.

    Attributes:
        changes: the pods whose answer changes, in the order asked; the others are left out.
        summary: how many of them go where.
    """

    changes: tuple[DecisionChange, ...]
    summary: ChangeSummary


class Questions:
    """Each method answers one question; they differ in what they are told and in nothing else.

    All raise FactsError where the facts do not suffice or are too many.
    """

    def __init__(self, clock: Clock, defaults: Options, meters: Meters) -> None:
        """Prepare.

        Args:
            clock: the instant of facts that name none.
            defaults: the options of facts that bring none.
            meters: where answers are counted.
        """
        self._clock = clock
        self.defaults = defaults
        # Many answers at once come without trace unless the caller asks for it.
        self.brief = replace(defaults, explain=False)
        self._meters = meters

    def decide(self, facts: Facts) -> Decision:
        """One pod."""
        decision = decide(facts, self._clock.now(), self.defaults)
        self._meters.count_one(decision)
        return decision

    def without_node(self, pod: Pod) -> Decision:
        """One pod of a real cluster whose node is not there."""
        decision = decide_without_node(pod, self._clock.now())
        self._meters.count_one(decision)
        return decision

    def decide_node(self, facts: NodeFacts) -> DecisionList:
        """The pods of one node."""
        decisions = decide_node(facts, self._clock.now(), self.brief)
        self._meters.count(decisions)
        return DecisionList(decisions=decisions)

    def preview(self, facts: TaintChangeFacts) -> TaintChangePreview:
        """The pods whose answer a change of taints would change."""
        changes = decide_change(facts, self._clock.now(), self.brief)
        self._meters.count(change.after for change in changes)
        return TaintChangePreview(changes=changes, summary=summarize(changes))
