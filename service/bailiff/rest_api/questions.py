"""The questions, asked of the core with this server's clock and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions import (
    ChangeSummary,
    Decision,
    DecisionChange,
    DeviceDecisions,
    DeviceFacts,
    DeviceTaintRuleFacts,
    DeviceTaintRulePreview,
    Facts,
    NodeFacts,
    NodeTaintBatchFacts,
    NodeTaintFacts,
    TaintChangeFacts,
    decide,
    decide_change,
    decide_devices,
    decide_node,
    decide_without_node,
    preview_rule,
    summarize,
)
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.decisions import Finding, Options
    from bailiff.rest_api.metrics import Metrics


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

    def __init__(self, clock: Clock, defaults: Options, metrics: Metrics) -> None:
        """Prepare.

        Args:
            clock: the instant of facts that name none.
            defaults: the options of facts that bring none.
            metrics: where answers are counted.
        """
        self._clock = clock
        self.defaults = defaults
        # Many answers at once come without trace unless the caller asks for it.
        self.brief = replace(defaults, explain=False)
        self._metrics = metrics

    def decide(self, facts: Facts, unknown: Finding | None = None) -> Decision:
        """One pod; `unknown` is said of one with claims whose devices could not be looked at."""
        decision = decide(facts, self._clock.now(), self.defaults, unknown)
        self._metrics.count_one(decision)
        return decision

    def decide_node_taints(self, facts: NodeTaintFacts) -> Decision:
        """One pod, by its node's taints alone."""
        return self.decide(facts.widened())

    def without_node(self, facts: Facts, unknown: Finding | None = None) -> Decision:
        """One pod of a real cluster whose node is not there; `unknown` as for `decide`."""
        decision = decide_without_node(facts, self._clock.now(), self.defaults, unknown)
        self._metrics.count_one(decision)
        return decision

    def decide_node(self, facts: NodeFacts, unknown: Finding | None = None) -> DecisionList:
        """The pods of one node; `unknown` as for `decide`."""
        decisions = decide_node(facts, self._clock.now(), self.brief, unknown)
        self._metrics.count(decisions)
        return DecisionList(decisions=decisions)

    def decide_node_taints_batch(self, facts: NodeTaintBatchFacts) -> DecisionList:
        """The pods of one node, by its taints alone."""
        return self.decide_node(facts.widened())

    def decide_devices(self, facts: DeviceFacts) -> DeviceDecisions:
        """Pods and claims, by the taints of devices alone."""
        answer = decide_devices(facts, self._clock.now(), self.brief)
        self._metrics.count(answer.decisions)
        return answer

    def preview_rule(self, facts: DeviceTaintRuleFacts) -> DeviceTaintRulePreview:
        """What a DeviceTaintRule does or would do."""
        answer = preview_rule(facts, self._clock.now(), self.brief)
        self._metrics.count(answer.decisions)
        return answer

    def preview(self, facts: TaintChangeFacts) -> TaintChangePreview:
        """The pods whose answer a change of taints would change."""
        changes = decide_change(facts, self._clock.now(), self.brief)
        self._metrics.count(change.after for change in changes)
        return TaintChangePreview(changes=changes, summary=summarize(changes))
