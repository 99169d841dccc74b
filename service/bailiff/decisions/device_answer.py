"""The answers about devices alone: for pods and claims, and for one more rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.answer import NO_TRACE, combine
from bailiff.decisions.decision import (
    ClaimDecision,
    Decision,
    DeviceDecisions,
    DeviceTaintRulePreview,
    ObjectReference,
    Verdict,
)
from bailiff.decisions.device_objects import index_of
from bailiff.decisions.device_taints import findings, rule_status
from bailiff.decisions.instants import in_utc
from bailiff.kinds import NO_EXECUTE, DeviceTaintRuleStatus

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.device_facts import DeviceFacts, DeviceTaintRuleFacts
    from bailiff.decisions.device_taints import DeviceTaintIndex
    from bailiff.decisions.facts import Options
    from bailiff.kinds import DeviceTaintRule, Pod, ResourceClaim


def decide_devices(
    facts: DeviceFacts, now: datetime, defaults: Options = NO_TRACE
) -> DeviceDecisions:
    """The answers for pods and claims, each in the order asked.

    Args:
        facts: what the caller knows.
        now: the clock's instant, used where the facts name none.
        defaults: used where the facts bring no options of their own; no trace.

    Raises:
        FactsError: nothing to answer for, or too much.
    """
    facts.check()
    now = in_utc(facts.now or now)
    options = facts.options.over(defaults)
    index = index_of(facts)
    return DeviceDecisions(
        decisions=tuple(_decide(index, pod, now, options) for pod in facts.pods),
        claims=tuple(_claim(index, one, now, options) for one in facts.resource_claims),
    )


def preview_rule(
    facts: DeviceTaintRuleFacts, now: datetime, defaults: Options = NO_TRACE
) -> DeviceTaintRulePreview:
    """What a DeviceTaintRule would do if its effect were NoExecute, beside the other rules.

    Args and errors as `decide_devices`.
    """
    facts.check()
    now = in_utc(facts.now or now)
    options = facts.options.over(defaults)
    rule = _as_evicting(facts.rule, now)
    index = _index_under(rule, facts)
    effect = index.effect_of(rule, options)
    fresh = replace(facts.rule, status=DeviceTaintRuleStatus())
    condition = rule_status(fresh, lambda: effect, 0, now).condition
    assert condition is not None  # noqa: S101 - a rule without conditions always gets one
    pods = (index.pods[one.namespace, one.name] for one in effect.pods)
    return DeviceTaintRulePreview(
        rule=ObjectReference(name=rule.metadata.name, uid=rule.metadata.uid),
        published_devices=effect.published_devices,
        allocated_devices=effect.allocated_devices,
        namespaces=effect.namespaces,
        decisions=tuple(_decide(index, pod, now, options) for pod in pods),
        condition=condition,
    )


def _decide(index: DeviceTaintIndex, pod: Pod, now: datetime, options: Options) -> Decision:
    return combine(pod, pod.spec.node_name, (index.decide(pod, now, options),), now)


def _claim(
    index: DeviceTaintIndex, claim: ResourceClaim, now: datetime, options: Options
) -> ClaimDecision:
    meta = claim.metadata
    found = index.claim((meta.namespace, meta.name))
    waits = found.evict_at is not None and found.evict_at > now
    evicts = Verdict.EVICT_AT if waits else Verdict.EVICT_NOW
    return ClaimDecision(
        claim=ObjectReference(namespace=meta.namespace, name=meta.name, uid=meta.uid),
        verdict=Verdict.KEEP if found.evict_at is None else evicts,
        evict_at=found.evict_at,
        holds_until=found.evict_at if waits else None,
        reasons=tuple(one.reason for one in found.reasons),
        trace=findings.steps((), (found,)) if options.explain else (),
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


def _index_under(rule: DeviceTaintRule, facts: DeviceTaintRuleFacts) -> DeviceTaintIndex:
    others = (one for one in facts.device_taint_rules if one.metadata.name != rule.metadata.name)
    index = index_of(replace(facts, device_taint_rules=(*others, rule)))
    for pod in facts.pods:
        index.apply_pod(pod)
    return index
