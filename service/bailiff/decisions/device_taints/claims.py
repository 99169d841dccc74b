"""When a claim evicts the pods that use it (pkg/controller/devicetainteviction).

Each allocated device meets the NoExecute taints that its slice publishes and those of the rules
that select it. A taint that is tolerated for ever is skipped. Each other one is a reason, due when
it was added plus the seconds it is tolerated. The claim evicts when the first of them is due; if it
is not known of any when it was added, the claim does not evict yet.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from bailiff.decisions.decision import ObjectReference
from bailiff.decisions.device_taints.pools import DeviceId
from bailiff.decisions.device_taints.tolerations import Tolerated, tolerated
from bailiff.decisions.instants import in_utc, later
from bailiff.kinds import DeviceTaint
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.decisions.device_taints.pools import Pools
    from bailiff.decisions.device_taints.rules import Rules
    from bailiff.kinds import (
        DeviceRequestAllocationResult,
        ObjectMeta,
        ResourceClaim,
    )


class DeviceTaintSource(Value, frozen=True):
    """Which device a taint is on, who put it there, and whom it reaches.

    Attributes:
        claim: the ResourceClaim that the device is allocated to.
        driver: of the device.
        pool: of the device.
        device: its name.
        resource_slice: the ResourceSlice that publishes the taint; absent if a rule puts it there.
        device_taint_rule: the DeviceTaintRule that puts it there; absent if a slice publishes it.
    """

    claim: ObjectReference
    driver: str = ""
    pool: str = ""
    device: str = ""
    resource_slice: ObjectReference | None = None
    device_taint_rule: ObjectReference | None = None


class MetTaint(Struct, frozen=True, gc=False):
    """A NoExecute taint on an allocated device.

    Attributes:
        source: the device, and who put the taint there.
        taint: the taint.
        index: its place in the device's taints; None for a rule's.
        tolerated: what the allocation's tolerations mean for it.
        due: when it alone would evict; None: never, or it is not known when it was added.
    """

    source: DeviceTaintSource
    taint: DeviceTaint
    index: int | None
    tolerated: Tolerated
    due: datetime | None

    @property
    def is_reason(self) -> bool:
        """It is not tolerated for ever."""
        return self.tolerated.seconds is not None

    @property
    def order(self) -> tuple[int, str, str, str, int]:
        """Rules first, by name; then slices' taints by device and index. Equal: the same reason."""
        source, rule = self.source, self.source.device_taint_rule
        if rule is not None:
            return 0, rule.name, "", "", 0
        return 1, source.driver, source.pool, source.device, self.index or 0

    @property
    def reason(self) -> str:
        """In upstream's words, which stand in no API but are what people know from its log."""
        source = self.source
        if source.device_taint_rule is not None:
            return f"DeviceTaintRule {_instance(source.device_taint_rule)}"
        device = f"{source.driver}/{source.pool}/{source.device}"
        return f"ResourceSlice {_instance(source.resource_slice)} {device} taint #{self.index}"


class ClaimFinding(Struct, frozen=True, gc=False):
    """What the taints of its devices mean for an allocated claim.

    Attributes:
        evict_at: when the pods that use it are to go; None: not.
        met: all taints on its devices, in the order of allocation.
    """

    evict_at: datetime | None = None
    met: tuple[MetTaint, ...] = ()

    @property
    def reasons(self) -> tuple[MetTaint, ...]:
        """Why it evicts, each reason once, in upstream's order; none where it does not evict."""
        return reasons_of(self.met) if self.evict_at is not None else ()


UNTAINTED = ClaimFinding()


def reasons_of(met: tuple[MetTaint, ...]) -> tuple[MetTaint, ...]:
    """The taints that are not tolerated for ever, without duplicates, in upstream's order.

    Of duplicates, as a device has that is allocated twice, the one that is due first stands.
    """
    if len(met) == 1:
        return met if met[0].is_reason else ()
    found: dict[tuple[int, str, str, str, int], MetTaint] = {}
    for one in met:
        if one.is_reason:
            known = found.get(one.order)
            if known is None or _sooner(one, known):
                found[one.order] = one
    return tuple(found[order] for order in sorted(found))


def judge_claim(claim: ResourceClaim, pools: Pools, rules: Rules) -> ClaimFinding:
    """What the present taints mean for a claim; nothing, if it is not allocated."""
    allocation = claim.status.allocation
    if allocation is None:
        return UNTAINTED
    met = tuple(
        taint
        for result in allocation.devices.results
        for taint in _meet(claim.metadata, result, pools, rules)
    )
    if not met:
        return UNTAINTED
    return ClaimFinding(min([one.due for one in met if one.due is not None], default=None), met)


def devices_of(claim: ResourceClaim) -> list[DeviceId]:
    """The devices that are allocated to a claim, each as often as it is."""
    allocation = claim.status.allocation
    if allocation is None:
        return []
    return [DeviceId(one.driver, one.pool, one.device) for one in allocation.devices.results]


def _meet(
    claim: ObjectMeta, result: DeviceRequestAllocationResult, pools: Pools, rules: Rules
) -> Iterator[MetTaint]:
    device = DeviceId(result.driver, result.pool, result.device)
    published = pools.tainted(device)
    evicting = rules.evicting(device)
    if published is None and not evicting:
        return
    used_by = ObjectReference(namespace=claim.namespace, name=claim.name, uid=claim.uid)
    if published is not None:
        source = _source(used_by, device, resource_slice=published.resource_slice)
        for index, taint in published.taints:
            yield _judge(source, taint, index, result)
    for rule in evicting:
        reference = ObjectReference(name=rule.metadata.name, uid=rule.metadata.uid)
        source = _source(used_by, device, device_taint_rule=reference)
        yield _judge(source, rule.spec.taint, None, result)


def _source(
    claim: ObjectReference,
    device: DeviceId,
    *,
    resource_slice: ObjectReference | None = None,
    device_taint_rule: ObjectReference | None = None,
) -> DeviceTaintSource:
    return DeviceTaintSource(
        claim=claim,
        driver=device.driver,
        pool=device.pool,
        device=device.device,
        resource_slice=resource_slice,
        device_taint_rule=device_taint_rule,
    )


def _judge(
    source: DeviceTaintSource,
    taint: DeviceTaint,
    index: int | None,
    result: DeviceRequestAllocationResult,
) -> MetTaint:
    found = tolerated(result.tolerations, taint)
    due = None
    if found.seconds is not None and taint.time_added is not None:
        due = later(taint.time_added, found.seconds) if found.seconds else in_utc(taint.time_added)
    return MetTaint(source, taint, index, found, due)


def _sooner(one: MetTaint, other: MetTaint) -> bool:
    return one.due is not None and (other.due is None or one.due < other.due)


def _instance(reference: ObjectReference | None) -> str:
    return f"/{reference.name}:{reference.uid}" if reference is not None else ""
