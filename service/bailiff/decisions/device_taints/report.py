"""What the taints of devices mean for claims, told beside the findings on pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.decision import ObjectReference, TraceStep, Verdict
from bailiff.decisions.device_taints import findings
from bailiff.kinds import Time
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bailiff.decisions.device_taints.index import DeviceTaintIndex
    from bailiff.decisions.options import Options
    from bailiff.kinds import ResourceClaim


class ClaimDecision(Value, frozen=True):
    """What the taints of its devices mean for a claim: when the pods that use it are to go.

    Attributes:
        claim: whom it concerns.
        verdict: KEEP, EVICT_NOW or EVICT_AT, for the pods that use it.
        evict_at: when they are to go; for EVICT_NOW the instant it fell due.
        holds_until: the answer may differ from this instant on even if no object changes.
        reasons: each taint that is not tolerated for ever, as `DeviceTaintRule /NAME:UID` or
            `ResourceSlice /NAME:UID DRIVER/POOL/DEVICE taint #INDEX`.
        trace: the taints looked at, in order; empty where the caller asked for none.
    """

    claim: ObjectReference
    verdict: Verdict
    evict_at: Time | None = None
    holds_until: Time | None = None
    reasons: tuple[str, ...] = ()
    trace: tuple[TraceStep, ...] = ()


class DeviceTaintReport(Value, frozen=True):
    """What is said of claims.

    Attributes:
        claims: one answer for each claim, in the order of the claims given.
    """

    claims: tuple[ClaimDecision, ...] = ()


def report_on(
    index: DeviceTaintIndex, claims: Iterable[ResourceClaim], now: datetime, options: Options
) -> DeviceTaintReport:
    """One answer for each of these claims."""
    return DeviceTaintReport(claims=tuple(_decide(index, one, now, options) for one in claims))


def _decide(
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
