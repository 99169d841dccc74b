"""What upstream's device-taint-eviction controller makes of pools, claims and pods as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum

from bailiff.kinds import (
    NO_EXECUTE,
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintRule,
    Pod,
    ResourceClaim,
    ResourceSlice,
)

Kinds = Pod | ResourceClaim | ResourceSlice | DeviceTaintRule
Key = tuple[str, str]
PoolKey = tuple[str, str]

SECOND = 10**9
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Bailiff's last deadline, 9999-12-31T23:59:59Z.
LAST = 253402300799 * SECOND


class Repair(Enum):
    """A quirk by the name that docs/differences-from-upstream.md gives its repair."""

    OVERFLOW = "toleration-seconds-overflow"
    ENDED = "ended-pods"
    EXTENDED = "extended-resource-claims"
    LEVEL = "level-based"
    UID = "uid-guard"


@dataclass(frozen=True)
class Reason:
    """A taint of a rule, or of a device in a slice."""

    order: tuple[int, str, str, str, int]
    text: str
    # The very object: upstream compares pointers.
    origin: ResourceSlice | DeviceTaintRule


@dataclass
class Eviction:
    """When, in nanoseconds since 1970, and why."""

    when: int
    reasons: list[Reason]

    def same(self, other: Eviction) -> bool:
        """Whether upstream sees no difference."""
        pairs = zip(self.reasons, other.reasons, strict=False)
        return (
            self.when == other.when
            and len(self.reasons) == len(other.reasons)
            and all(a.origin is b.origin and a.order == b.order for a, b in pairs)
        )

    @property
    def rule_uids(self) -> set[str]:
        rules = (one.origin for one in self.reasons if isinstance(one.origin, DeviceTaintRule))
        return {rule.metadata.uid for rule in rules}


@dataclass
class Pool:
    """The slices of one pool, by name."""

    slices: dict[str, ResourceSlice] = field(default_factory=dict)

    @property
    def current(self) -> list[ResourceSlice]:
        newest = max((one.spec.pool.generation for one in self.slices.values()), default=0)
        return [one for one in self.slices.values() if one.spec.pool.generation == newest]

    def tainted(self) -> list[tuple[str, DeviceTaint]]:
        """Each NoExecute taint with its device, by name of device."""
        found = [
            (device.name, taint)
            for one in self.current
            for device in one.spec.devices
            for taint in device.taints
            if taint.effect == NO_EXECUTE
        ]
        return sorted(found, key=lambda pair: pair[0])


def modified_devices(
    old: list[tuple[str, DeviceTaint]], new: list[tuple[str, DeviceTaint]]
) -> set[str]:
    """The devices that upstream looks at again: those that changed, and some that did not."""
    found = set()
    old, new = [*old], [*new]
    while old or new:
        while old and new and old[0][0] == new[0][0]:
            (name, before), (_, after) = old.pop(0), new.pop(0)
            if before != after:
                found.add(name)
        while old and not (new and old[0][0] == new[0][0]):
            found.add(old.pop(0)[0])
        if new and not (old and old[0][0] == new[0][0]):
            found.add(new.pop(0)[0])
    return found


def matches(rule: DeviceTaintRule, driver: str, pool: str, device: str) -> bool:
    """Whether a rule selects a device."""
    selector = rule.spec.device_selector
    if selector is None:
        return False
    wanted = (selector.driver, driver), (selector.pool, pool), (selector.device, device)
    return all(want is None or want == have for want, have in wanted)


def claim_eviction(
    claim: ResourceClaim,
    pools: Mapping[PoolKey, Pool],
    rules: Mapping[str, DeviceTaintRule],
    repairs: frozenset[Repair],
) -> Eviction | None:
    """When a claim evicts (claimEvictionTime)."""
    assert claim.status.allocation is not None
    when: int | None = None
    reasons: dict[tuple[int, str, str, str, int], Reason] = {}
    for result in claim.status.allocation.devices.results:
        for reason, taint in _taints(result, pools, rules):
            span = _tolerated(result, taint, repairs)
            if span is None:
                continue
            reasons[reason.order] = reason
            if taint.time_added is not None:
                due = min(_instant(taint.time_added) + span, LAST)
                when = due if when is None else min(when, due)
    if when is None:
        return None
    return Eviction(when, [reasons[order] for order in sorted(reasons)])


def merged(evictions: list[Eviction]) -> Eviction | None:
    """What several claims mean for one pod."""
    if not evictions:
        return None
    reasons = {one.order: one for eviction in evictions for one in eviction.reasons}
    when = min(one.when for one in evictions)
    return Eviction(when, [reasons[order] for order in sorted(reasons)])


def claims_of(pod: Pod, allocated: Mapping[Key, ResourceClaim], *, extended: bool) -> list[Key]:
    """The allocated claims that a pod uses; those of extended resources if repaired."""
    used = []
    for name, generated in _names(pod, extended=extended):
        key = pod.metadata.namespace, name
        claim = allocated.get(key)
        if claim is None or (generated and not _controlled(claim, pod)):
            continue
        if any(one.uid == pod.metadata.uid for one in claim.status.reserved_for):
            used.append(key)
    return used


def text(instant: int) -> str:
    """Floored to seconds, as the files have it."""
    at = EPOCH + timedelta(seconds=instant // SECOND)
    return f"{at.isoformat().removesuffix('+00:00')}Z"


def _taints(
    result: DeviceRequestAllocationResult,
    pools: Mapping[PoolKey, Pool],
    rules: Mapping[str, DeviceTaintRule],
) -> Iterable[tuple[Reason, DeviceTaint]]:
    place = result.driver, result.pool, result.device
    for one in pools.get((result.driver, result.pool), Pool()).current:
        for device in one.spec.devices:
            for index, taint in enumerate(device.taints):
                if device.name == result.device and taint.effect == NO_EXECUTE:
                    told = f"{'/'.join(place)} taint #{index}"
                    shown = f"ResourceSlice /{one.metadata.name}:{one.metadata.uid} {told}"
                    yield Reason((1, *place, index), shown, one), taint
    for name, rule in rules.items():
        if matches(rule, *place):
            shown = f"DeviceTaintRule /{name}:{rule.metadata.uid}"
            yield Reason((0, name, "", "", 0), shown, rule), rule.spec.taint


def _tolerated(
    result: DeviceRequestAllocationResult, taint: DeviceTaint, repairs: frozenset[Repair]
) -> int | None:
    """Nanoseconds; None for ever, 0 not at all."""
    least: int | None = None
    for one in result.tolerations:
        if one.effect != NO_EXECUTE or one.key not in ("", taint.key):
            continue
        equal = one.operator in ("", "Equal") and one.value == taint.value
        if not equal and one.operator != "Exists":
            continue
        if one.toleration_seconds is None:
            return None
        seconds = max(0, one.toleration_seconds)
        least = seconds if least is None else min(least, seconds)
    span = (least or 0) * SECOND
    return span if Repair.OVERFLOW in repairs else (span + 2**63) % 2**64 - 2**63


def _names(pod: Pod, *, extended: bool) -> Iterable[tuple[str, bool]]:
    made = {}
    for status in reversed(pod.status.resource_claim_statuses):
        made[status.name] = status.resource_claim_name
    for one in pod.spec.resource_claims:
        if one.resource_claim_name is not None:
            yield one.resource_claim_name, False
        elif one.resource_claim_template_name is not None:
            name = made.get(one.name)
            if name is not None:
                yield name, True
    other = pod.status.extended_resource_claim_status
    if extended and other is not None:
        yield other.resource_claim_name, False


def _controlled(claim: ResourceClaim, pod: Pod) -> bool:
    owners = [one.uid for one in claim.metadata.owner_references if one.controller]
    return owners[:1] == [pod.metadata.uid]


def _instant(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1) * 1000
