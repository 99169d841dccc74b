"""The question of the product: should this pod be evicted, and when?

Asks every system that the facts reach and answers with the earliest.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bailiff.decisions import device_taints, node_taints, observations
from bailiff.decisions.decision import (
    ChangeSummary,
    Decision,
    DecisionChange,
    EventNote,
    Finding,
    ObjectReference,
    Verdict,
)
from bailiff.decisions.device_objects import as_if_on, index_of
from bailiff.decisions.device_taints.pods import has_claims
from bailiff.decisions.facts import (
    DEFAULT_OPTIONS,
    Options,
    has_devices,
)
from bailiff.decisions.instants import in_utc
from bailiff.decisions.joining import earliest
from bailiff.decisions.node_taints import NodeTaints, keep_without_node
from bailiff.decisions.observations import Since
from bailiff.kinds import Node, NodeSpec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bailiff.decisions.facts import Facts, NodeFacts, TaintChangeFacts, TaintSelector
    from bailiff.decisions.observations import Identity
    from bailiff.kinds import Pod, PodCondition, Taint

# Ours: upstream gives up in silence.
DENIED_REASON = "EvictionDenied"
NO_TRACE = Options(explain=False)

_CONDITIONS = {
    node_taints.SYSTEM: node_taints.CONDITION,
    device_taints.SYSTEM: device_taints.CONDITION,
}
_EVENT_REASONS = {
    node_taints.SYSTEM: node_taints.EVENT_REASON,
    device_taints.SYSTEM: device_taints.EVENT_REASON,
}


def decide(
    facts: Facts,
    now: datetime,
    defaults: Options = DEFAULT_OPTIONS,
    unknown: Finding | None = None,
) -> Decision:
    """The answer for one pod.

    Args:
        facts: what the caller knows.
        now: the clock's instant, used where the facts name none.
        defaults: used where the facts bring no options of their own.
        unknown: said first of a pod with claims of devices, where those could not be looked at.

    Raises:
        FactsError: the facts reach no system, or are too many.
    """
    facts.check()
    now = in_utc(facts.now or now)
    options = facts.options.over(defaults)
    devices = _Devices(facts, now, options, unknown)
    if facts.node is None:
        return combine(facts.pod, facts.pod.spec.node_name, devices.findings(facts.pod), now)
    taints = NodeTaints(facts.node, now, facts.first_observed, options)
    found = taints.decide(facts.pod, facts.bound_at)
    pod = as_if_on(facts.node, facts.pod)
    return combine(facts.pod, facts.node.metadata.name, devices.beside(found, pod), now)


def decide_without_node(
    facts: Facts,
    now: datetime,
    defaults: Options = DEFAULT_OPTIONS,
    unknown: Finding | None = None,
) -> Decision:
    """The answer for a pod of a real cluster whose node does not exist there.

    A pod that is not bound has no node yet, and no taint evicts it. The pods of a node that was
    deleted are pod garbage collection's (pkg/controller/podgc), unless their devices evict them.
    Args as `decide`.

    Raises:
        FactsError: too many devices.
    """
    if has_devices(facts):
        facts.check()
    now = in_utc(facts.now or now)
    devices = _Devices(facts, now, facts.options.over(defaults), unknown)
    pod = facts.pod
    return combine(pod, pod.spec.node_name, devices.beside(keep_without_node(pod), pod), now)


def decide_node(
    facts: NodeFacts,
    now: datetime,
    defaults: Options = NO_TRACE,
    unknown: Finding | None = None,
) -> tuple[Decision, ...]:
    """The answers for many pods of one node, in their order.

    Args and errors as `decide`; no trace unless the options ask for it.
    """
    facts.check()
    now = in_utc(facts.now or now)
    options = facts.options.over(defaults)
    taints = NodeTaints(facts.node, now, facts.first_observed, options)
    node = facts.node.metadata.name
    devices = _Devices(facts, now, options, unknown)
    if not devices.count:
        return tuple(combine(pod, node, (taints.decide(pod),), now) for pod in facts.pods)
    return tuple(
        combine(pod, node, devices.beside(taints.decide(pod), as_if_on(facts.node, pod)), now)
        for pod in facts.pods
    )


def decide_change(
    facts: TaintChangeFacts, now: datetime, defaults: Options = NO_TRACE
) -> tuple[DecisionChange, ...]:
    """The pods whose verdict or deadline changes when the node's taints do, in their order.

    A taint that is removed and added in one is a new one, as for kubectl; one that is there and
    is added keeps the time since which it counts. Args and errors as `decide`; no trace unless the
    options ask for it.
    """
    facts.check()
    now = in_utc(facts.now or now)
    options = facts.options.over(defaults)
    before = NodeTaints(facts.node, now, facts.first_observed, options)
    changed = _changed(facts)
    after = NodeTaints(changed, now, options=options, since=_since_after(facts, changed, now))
    name = facts.node.metadata.name
    changes = []
    for pod in facts.pods:
        old, new = before.decide(pod), after.decide(pod)
        if (old.verdict, old.evict_at) != (new.verdict, new.evict_at):
            changes.append(
                DecisionChange(
                    pod=_reference(pod),
                    before=combine(pod, name, (old,), now),
                    after=combine(pod, name, (new,), now),
                )
            )
    return tuple(changes)


def summarize(changes: Iterable[DecisionChange]) -> ChangeSummary:
    """How many of the changed pods would then go at once, go later, and stay."""
    counts = Counter(change.after.verdict for change in changes)
    return ChangeSummary(
        evict_now=counts[Verdict.EVICT_NOW],
        evict_at=counts[Verdict.EVICT_AT],
        keep=counts[Verdict.KEEP],
    )


def combine(pod: Pod, node: str, findings: tuple[Finding, ...], now: datetime) -> Decision:
    """One decision out of what the systems found: the earliest eviction, or the first KEEP."""
    finding = earliest(findings)
    evicts = finding.verdict is not Verdict.KEEP
    return Decision(
        pod=_reference(pod),
        node=node,
        verdict=finding.verdict,
        evict_at=finding.evict_at,
        holds_until=finding.holds_until,
        decided_at=now,
        decided_by=finding.system if evicts else "",
        reason=finding.reason,
        message=finding.message,
        condition=condition_of(finding) if evicts else None,
        event=eviction_event(pod, finding) if evicts else None,
        findings=findings,
    )


def condition_of(finding: Finding) -> PodCondition:
    """The pod condition to write before deleting for a finding, as upstream's controller has it."""
    return _CONDITIONS[finding.system]


def eviction_event(pod: Pod, finding: Finding) -> EventNote:
    """Upstream's reason and words, and after them the cause."""
    message = f"Marking for deletion Pod {pod.key}: {finding.message}"
    return EventNote(type="Normal", reason=_EVENT_REASONS[finding.system], message=message)


def cancellation_event(pod: Pod, why: str, system: str = node_taints.SYSTEM) -> EventNote:
    """The Event for an eviction that was announced for a system and will not happen."""
    message = f"Cancelling deletion of Pod {pod.key}: {why}"
    return EventNote(type="Normal", reason=_EVENT_REASONS[system], message=message)


def denial_event(pod: Pod, why: str) -> EventNote:
    """The Event for an eviction that the cluster refuses, so that a person learns of it."""
    message = f"Cannot evict Pod {pod.key}, trying again: {why}"
    return EventNote(type="Warning", reason=DENIED_REASON, message=message)


class _Devices:
    """What the devices of pods mean for them, as far as the facts tell.

    Attributes:
        count: they may mean something.
    """

    def __init__(
        self, facts: Facts | NodeFacts, now: datetime, options: Options, unknown: Finding | None
    ) -> None:
        self._index = index_of(facts) if has_devices(facts) else None
        self._now = now
        self._options = options
        self._unknown = unknown
        self.count = self._index is not None or unknown is not None

    def beside(self, finding: Finding, pod: Pod) -> tuple[Finding, ...]:
        """Another system's finding, and after it what the devices mean.

        What is not known stands first, so that a pod does not seem to stay for sure.
        """
        if self._unknown is not None and has_claims(pod):
            return self._unknown, finding
        return finding, *self.findings(pod)

    def findings(self, pod: Pod) -> tuple[Finding, ...]:
        """What the devices mean; nothing where the facts do not reach them."""
        if self._index is None:
            return ()
        return (self._index.decide(pod, self._now, self._options),)


def _reference(pod: Pod) -> ObjectReference:
    meta = pod.metadata
    return ObjectReference(namespace=meta.namespace, name=meta.name, uid=meta.uid)


def _changed(facts: TaintChangeFacts) -> Node:
    """The node after the change: a taint is replaced by one of the same key and effect."""
    added = {(taint.key, taint.effect): taint for taint in facts.add_taints}
    kept = tuple(
        taint
        for taint in facts.node.spec.taints
        if (taint.key, taint.effect) not in added and not _removed(facts, taint)
    )
    spec = NodeSpec(taints=kept + tuple(added.values()))
    return Node(metadata=facts.node.metadata, spec=spec)


def _since_after(facts: TaintChangeFacts, changed: Node, now: datetime) -> dict[Identity, Since]:
    """Since when the taints count after the change: those that it brings, from now."""
    before = observations.since(facts.node, facts.first_observed, now)
    taints = facts.node.spec.taints
    gone = {observations.identity_of(taint) for taint in taints if _removed(facts, taint)}
    fresh = Since(now, "now")
    return {
        one: fresh if one in gone else before.get(one, fresh)
        for one in observations.untimed(changed)
    }


def _removed(facts: TaintChangeFacts, taint: Taint) -> bool:
    return any(_selects(selector, taint) for selector in facts.remove_taints)


def _selects(selector: TaintSelector, taint: Taint) -> bool:
    return selector.key == taint.key and selector.effect in ("", taint.effect)
