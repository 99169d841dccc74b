"""What upstream's device-taint-eviction controller does with a sequence of changes, quirk by quirk.

A model of pkg/controller/devicetainteviction of Kubernetes 1.36 as far as its timers and counts go.
It looks at things anew where upstream does, and nowhere else. Each known quirk can be repaired on
its own. With none repaired the model answers as upstream does, with all of them repaired as
Bailiff does; so where the two differ it comes from the quirks whose repair leads from one answer to
the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec.structs import replace

from bailiff.decisions import ObjectReference
from bailiff.decisions.device_taints import RuleEffect
from bailiff.kinds import NO_EXECUTE, DeviceTaintRule, Pod, ResourceClaim, ResourceSlice
from tests.conformance.upstream_device_claims import (
    Eviction,
    Kinds,
    Pool,
    Repair,
    claim_eviction,
    claims_of,
    matches,
    merged,
    modified_devices,
    text,
)

Key = tuple[str, str]
K = TypeVar("K", bound=Kinds)
# A pod that is to go, and its UID.
_Ref = tuple[Key, str]


@dataclass
class Answer:
    """What one change led to: timers by pod, timers taken away, and Events that say so."""

    deletePodAt: dict[str, str] = field(default_factory=dict)  # noqa: N815 - the file's name for it
    cancelled: list[str] = field(default_factory=list)
    cancelEvents: list[str] = field(default_factory=list)  # noqa: N815 - the file's name for it


class UpstreamDevices:
    """The controller between two changes."""

    def __init__(self, repairs: Iterable[Repair] = ()) -> None:
        self._repairs = frozenset(repairs)
        self._objects: dict[tuple[type[Kinds], Key], Kinds] = {}
        self._pools: dict[tuple[str, str], Pool] = {}
        self._rules: dict[str, DeviceTaintRule] = {}
        self._allocated: dict[Key, tuple[ResourceClaim, Eviction | None]] = {}
        self._timers: dict[_Ref, Eviction] = {}
        self._answer = Answer()

    def change(self, new: Kinds | None, gone: Kinds | None = None) -> Answer:
        """Take one object in, or, if there is no new one, forget one."""
        self._answer = Answer()
        present = new if new is not None else gone
        assert present is not None
        name = type(present), (present.metadata.namespace, present.metadata.name)
        old = self._objects.pop(name, None)
        if new is not None:
            self._objects[name] = new
        if old is not None or new is not None:
            self._react(old, new)
        for (key, _), eviction in self._timers.items():
            self._answer.deletePodAt["/".join(key)] = text(eviction.when)
        self._answer.cancelled.sort()
        self._answer.cancelEvents.sort()
        return self._answer

    def claim_at(self, key: Key) -> str | None:
        """When a claim evicts."""
        _, eviction = self._allocated.get(key, (None, None))
        return None if eviction is None else text(eviction.when)

    def pod_eviction(self, pod: Pod) -> Eviction | None:
        """When and why a pod goes (podEvictionTime)."""
        if not pod.spec.node_name or (Repair.ENDED in self._repairs and pod.has_ended):
            return None
        claims = {key: claim for key, (claim, _) in self._allocated.items()}
        used = claims_of(pod, claims, extended=Repair.EXTENDED in self._repairs)
        evictions = [self._allocated[key][1] for key in used]
        return merged([one for one in evictions if one is not None])

    def effect(self, rule: DeviceTaintRule) -> RuleEffect:
        """What maybeUpdateRuleStatus counts."""
        if rule.spec.taint.effect == NO_EXECUTE:
            return RuleEffect(pods=self._pending(rule))
        simulated = UpstreamDevices(self._repairs)
        simulated._objects, simulated._pools = self._objects, self._present_pools()
        taint = replace(rule.spec.taint, effect=NO_EXECUTE)
        rules = {rule.metadata.name: replace(rule, spec=replace(rule.spec, taint=taint))}
        simulated._allocated = {
            key: (claim, claim_eviction(claim, self._present_pools(), rules, self._repairs))
            for key, (claim, _) in self._allocated.items()
        }
        return RuleEffect(
            sum(
                matches(rule, *pool, device.name)
                for pool, slices in self._present_pools().items()
                for one in slices.current
                for device in one.spec.devices
            ),
            sum(
                matches(rule, one.driver, one.pool, one.device)
                for claim, _ in self._allocated.values()
                if claim.status.allocation is not None
                for one in claim.status.allocation.devices.results
            ),
            simulated._pending(rule),
        )

    def _pending(self, rule: DeviceTaintRule) -> tuple[ObjectReference, ...]:
        pending = []
        for pod in self._of(Pod):
            eviction = None if pod.is_terminating else self.pod_eviction(pod)
            if eviction is not None and rule.metadata.uid in eviction.rule_uids:
                pending.append(_reference(pod))
        return tuple(pending)

    # The handlers.

    def _react(self, old: Kinds | None, new: Kinds | None) -> None:
        match new if new is not None else old:
            case Pod():
                self._pod_changed(old, new)  # type: ignore[arg-type]  # both are of one kind
            case ResourceClaim():
                self._claim_changed(old, new)  # type: ignore[arg-type]  # both are of one kind
            case ResourceSlice():
                self._slice_changed(old, new)  # type: ignore[arg-type]  # both are of one kind
            case DeviceTaintRule():
                self._rule_changed(old, new)  # type: ignore[arg-type]  # both are of one kind
        if Repair.LEVEL in self._repairs:
            self._look_at_everything()

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and (new is None or self._replaces(old, new)):
            self._cancel(_ref(old))
        if new is None:
            return
        if old is None or self._notices(old, new):
            self._handle_pod(new)

    def _replaces(self, old: Pod, new: Pod) -> bool:
        return Repair.UID in self._repairs and old.metadata.uid != new.metadata.uid

    def _notices(self, old: Pod, new: Pod) -> bool:
        if Repair.ENDED in self._repairs and old.has_ended != new.has_ended:
            return True
        return (old.spec.node_name, old.status.resource_claim_statuses) != (
            new.spec.node_name,
            new.status.resource_claim_statuses,
        )

    def _claim_changed(self, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
            self._claim_changed(old, None)
            self._claim_changed(None, new)
            return
        claim = new if new is not None else old
        assert claim is not None
        key = claim.metadata.namespace, claim.metadata.name
        _, before = self._allocated.pop(key, (None, None))
        allocated = new is not None and new.status.allocation is not None
        was = old is not None and old.status.allocation is not None
        if new is not None and allocated:
            self._allocated[key] = new, before if was else self._evaluate(new)
        if new is None or allocated or was:
            self._handle_pods_of(*_reserving(old, new))

    def _slice_changed(self, old: ResourceSlice | None, new: ResourceSlice | None) -> None:
        present = new if new is not None else old
        assert present is not None
        # Also where the old one was in another pool: there it stays for ever.
        pool_id = present.spec.driver, present.spec.pool.name
        pool = self._pools.setdefault(pool_id, Pool())
        before = pool.tainted()
        if old is not None:
            pool.slices.pop(old.metadata.name, None)
        if new is not None:
            pool.slices[new.metadata.name] = new
        changed = modified_devices(before, pool.tainted())
        for claim, _ in list(self._allocated.values()):
            assert claim.status.allocation is not None
            devices = claim.status.allocation.devices.results
            if any((d.driver, d.pool) == pool_id and d.device in changed for d in devices):
                self._evaluate_anew(claim)

    def _rule_changed(self, old: DeviceTaintRule | None, new: DeviceTaintRule | None) -> None:
        if old is not None and new is not None and _same_rule(old, new):
            return
        if old is not None:
            self._rules.pop(old.metadata.name, None)
        if new is not None and new.spec.taint.effect == NO_EXECUTE:
            self._rules[new.metadata.name] = new
        for claim, _ in list(self._allocated.values()):
            self._evaluate_anew(claim)

    def _evaluate(self, claim: ResourceClaim) -> Eviction | None:
        return claim_eviction(claim, self._present_pools(), self._rules, self._repairs)

    def _evaluate_anew(self, claim: ResourceClaim) -> None:
        key = claim.metadata.namespace, claim.metadata.name
        before, after = self._allocated[key][1], self._evaluate(claim)
        self._allocated[key] = claim, after
        if after is None or before is None or not after.same(before):
            self._handle_pods_of(claim)

    def _handle_pods_of(self, *claims: ResourceClaim) -> None:
        for claim in claims:
            for consumer in claim.status.reserved_for:
                pod = self._objects.get((Pod, (claim.metadata.namespace, consumer.name)))
                if (consumer.api_group, consumer.resource) == ("", "pods") and (
                    isinstance(pod, Pod) and pod.metadata.uid == consumer.uid
                ):
                    self._handle_pod(pod)

    def _handle_pod(self, pod: Pod) -> None:
        if Repair.LEVEL in self._repairs and not self._settled:
            return
        eviction = self.pod_eviction(pod)
        if eviction is not None:
            self._timers[_ref(pod)] = eviction
        elif self._cancel(_ref(pod)) and not (Repair.ENDED in self._repairs and pod.has_ended):
            self._answer.cancelEvents.append(pod.key)

    def _cancel(self, ref: _Ref) -> bool:
        if self._timers.pop(ref, None) is None:
            return False
        self._answer.cancelled.append("/".join(ref[0]))
        return True

    # Level-based: whatever changed, look at what is.

    _settled = False

    def _look_at_everything(self) -> None:
        self._allocated = {
            (claim.metadata.namespace, claim.metadata.name): (claim, self._evaluate(claim))
            for claim in self._of(ResourceClaim)
            if claim.status.allocation is not None
        }
        self._settled = True
        for pod in self._of(Pod):
            self._handle_pod(pod)
        self._settled = False

    def _present_pools(self) -> dict[tuple[str, str], Pool]:
        if Repair.LEVEL not in self._repairs:
            return self._pools
        pools: dict[tuple[str, str], Pool] = {}
        for one in self._of(ResourceSlice):
            pool = pools.setdefault((one.spec.driver, one.spec.pool.name), Pool())
            pool.slices[one.metadata.name] = one
        return pools

    def _of(self, kind: type[K]) -> list[K]:
        return [one for one in self._objects.values() if isinstance(one, kind)]


def _reserving(old: ResourceClaim | None, new: ResourceClaim | None) -> list[ResourceClaim]:
    """Whose consumers are looked at: the old ones' too where they changed."""
    both = [one for one in (old, new) if one is not None]
    same = len({one.status.reserved_for for one in both}) == 1
    return both[-1:] if same else both


def _same_rule(old: DeviceTaintRule, new: DeviceTaintRule) -> bool:
    return old.metadata.uid == new.metadata.uid and old.spec == new.spec


def _ref(pod: Pod) -> _Ref:
    return (pod.metadata.namespace, pod.metadata.name), pod.metadata.uid


def _reference(pod: Pod) -> ObjectReference:
    meta = pod.metadata
    return ObjectReference(namespace=meta.namespace, name=meta.name, uid=meta.uid)
