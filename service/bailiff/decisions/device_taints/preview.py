"""What would one more DeviceTaintRule do? Looked at as if its effect were NoExecute."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.cost import MAX_PODS, Cost, check_cost, check_number
from bailiff.decisions.decision import Decision, ObjectReference
from bailiff.decisions.device_taints.facts import DeviceTaintFacts
from bailiff.decisions.device_taints.objects import index_of
from bailiff.decisions.device_taints.status import rule_status
from bailiff.decisions.device_taints.weighing import weigh
from bailiff.decisions.joining import combine
from bailiff.decisions.lengths import length, weigh_decisions
from bailiff.decisions.question import Asked, Plan, Question, Size
from bailiff.decisions.questions import Pods
from bailiff.decisions.validity import DEVICE_EFFECTS, check_taint
from bailiff.kinds import NO_EXECUTE, Condition, DeviceTaintRule, DeviceTaintRuleStatus
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.device_taints.index import DeviceTaintIndex
    from bailiff.decisions.question import QuestionTerms


# Bytes of the rule's condition and of the counts.
_CONDITION = 800


class PreviewDeviceTaintRuleRequest(Asked, frozen=True, kw_only=True):
    """A DeviceTaintRule, in the cluster or not yet: what does it do, or would it?

    Attributes:
        rule: the rule. Whatever its effect is, it is looked at as if it were NoExecute; its taint
            must be one that the API server takes.
        pods: the pods it may reach, at most 20,000.
        device_taints: the devices, and the other rules of the cluster, of which one of the same
            name does not count.
    """

    rule: DeviceTaintRule
    pods: Pods = ()
    device_taints: DeviceTaintFacts = DeviceTaintFacts()


class PreviewDeviceTaintRuleResponse(Value, frozen=True):
    """What a DeviceTaintRule does or would do.

    Attributes:
        rule: whom it concerns.
        published_devices: how many devices it selects of those that slices publish now.
        allocated_devices: how many allocated devices it selects; one that is allocated twice counts
            twice.
        namespaces: in how many namespaces it evicts pods.
        decisions: the pods that it evicts, now or later, by namespace and name; each with its
            answer under all rules, so that another taint may evict it sooner.
        condition: `EvictionInProgress` as the controller would write it for the rule as it is, with
            no pod evicted yet.
    """

    rule: ObjectReference
    published_devices: int
    allocated_devices: int
    namespaces: int
    decisions: tuple[Decision, ...]
    condition: Condition

    def counted(self) -> tuple[Decision, ...]:
        """The answers for the pods that it evicts."""
        return self.decisions


def _weigh(
    facts: PreviewDeviceTaintRuleRequest, terms: QuestionTerms
) -> Plan[PreviewDeviceTaintRuleResponse]:
    check_number("$.pods", len(facts.pods), MAX_PODS)
    check_taint(facts.rule.spec.taint, "$.rule.spec.taint", DEVICE_EFFECTS)
    explain = terms.options.explain
    cost = weigh(
        facts.device_taints, facts.pods, explain=explain, tells_claims=False, also=(facts.rule,)
    )
    meta = facts.rule.metadata
    named = Cost(told=_CONDITION + length(meta.name, meta.uid), path="$.rule")
    found = check_cost((cost, named, weigh_decisions(facts.pods)))
    return Plan(found.steps, found.told, partial(_preview, facts, terms))


def _preview(
    facts: PreviewDeviceTaintRuleRequest, terms: QuestionTerms
) -> PreviewDeviceTaintRuleResponse:
    now, options = terms.now, terms.options
    rule = _as_evicting(facts.rule, now)
    index = _index_under(rule, facts)
    effect = index.effect_of(rule, options)
    fresh = replace(facts.rule, status=DeviceTaintRuleStatus())
    condition = rule_status(fresh, lambda: effect, 0, now).condition
    assert condition is not None  # noqa: S101 - a rule without conditions always gets one
    pods = (index.pods[one.namespace, one.name] for one in effect.pods)
    return PreviewDeviceTaintRuleResponse(
        rule=ObjectReference(name=rule.metadata.name, uid=rule.metadata.uid),
        published_devices=effect.published_devices,
        allocated_devices=effect.allocated_devices,
        namespaces=effect.namespaces,
        decisions=tuple(
            combine(pod, pod.spec.node_name, (index.decide(pod, now, options),), now)
            for pod in pods
        ),
        condition=condition,
    )


def _as_evicting(rule: DeviceTaintRule, now: datetime) -> DeviceTaintRule:
    """As the API server would have it with the effect NoExecute, were it written now.

    A taint gets its time when it comes, and a new one when its effect changes
    (pkg/registry/resource/devicetaintrule/strategy.go).
    """
    taint = rule.spec.taint
    stands = taint.effect == NO_EXECUTE and taint.time_added is not None
    evicting = replace(taint, effect=NO_EXECUTE, time_added=taint.time_added if stands else now)
    return replace(rule, spec=replace(rule.spec, taint=evicting))


def _index_under(rule: DeviceTaintRule, facts: PreviewDeviceTaintRuleRequest) -> DeviceTaintIndex:
    told = facts.device_taints
    others = (one for one in told.device_taint_rules if one.metadata.name != rule.metadata.name)
    index = index_of(replace(told, device_taint_rules=(*others, rule)))
    for pod in facts.pods:
        index.apply_pod(pod)
    return index


PREVIEW_DEVICE_TAINT_RULE = Question(
    name="previewDeviceTaintRule",
    path="previews/device-taint-rule",
    summary="What does this DeviceTaintRule do, or would it?",
    description=(
        "A rule that is in the cluster or not yet, looked at as if its effect were NoExecute: the "
        "devices that it selects, the pods that it evicts and when, and the condition that the "
        "controller would write. Changes nothing."
    ),
    facts=PreviewDeviceTaintRuleRequest,
    answer=PreviewDeviceTaintRuleResponse,
    weigh=_weigh,
    explains=False,
    size=Size.MANY,
)
