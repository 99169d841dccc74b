"""When a pod evicts for the taints of its devices (pkg/controller/devicetainteviction).

It goes when the first of the claims it uses evicts, for the reasons of all of them. When it was
bound plays no part, unlike with node taints: time runs from `timeAdded` alone.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bailiff.decisions.decision import (
    EvictionTerms,
    Finding,
    ObjectReference,
    Subject,
    TraceStep,
    Verdict,
    keep,
    keep_pod,
)
from bailiff.decisions.device_taints.claims import DeviceTaintSource, reasons_of
from bailiff.decisions.instants import in_utc
from bailiff.decisions.text import describe_taint, describe_time, describe_toleration
from bailiff.kinds import PodCondition, Taint, Time, Toleration

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bailiff.decisions.device_taints.claims import ClaimFinding, MetTaint
    from bailiff.decisions.device_taints.pods import ClaimUse

SYSTEM = "device-taints"
TERMS = EvictionTerms(
    controller="device-taint-eviction-controller",
    event_reason="DeviceTaintManagerEviction",
    condition=PodCondition(
        type="DisruptionTarget",
        status="True",
        reason="DeletionByDeviceTaintManager",
        message="Device Taint manager: deleting due to NoExecute taint",
    ),
)


class DeviceTaintEviction(Finding, frozen=True):
    """That a taint of its devices evicts the pod, now or later."""

    eviction: ClassVar[EvictionTerms] = TERMS


class DeviceTaintSubject(Subject, frozen=True, tag="deviceTaint"):
    """A taint on an allocated device, and what the allocation's tolerations mean for it.

    Attributes:
        device: the device, and who put the taint there.
        taint: the taint.
        taint_index: its place in the device's taints; absent for a rule's.
        toleration: the toleration used: the one that tolerates for ever, or else for the shortest
            time.
        toleration_index: its place in the device's allocation.
        added_at: when the taint counts as added; absent where it carries no timeAdded.
    """

    device: DeviceTaintSource
    taint: Taint
    taint_index: int | None = None
    toleration: Toleration | None = None
    toleration_index: int | None = None
    added_at: Time | None = None


class PodEviction(NamedTuple):
    """When and why the taints of its devices evict a pod.

    Attributes:
        evict_at: when, in UTC.
        causes: why, each reason once, in upstream's order.
    """

    evict_at: datetime
    causes: tuple[MetTaint, ...]

    @property
    def first(self) -> MetTaint:
        """The cause that is due first; of several at one instant the first in upstream's order."""
        return next(cause for cause in self.causes if cause.due == self.evict_at)

    def due_by(self, now: datetime) -> tuple[MetTaint, ...]:
        """The causes that are due, in the order of their instants."""
        due = [(cause.due, cause) for cause in self.causes if cause.due is not None]
        return tuple(one for at, one in sorted(due, key=itemgetter(0)) if at <= now)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The causes in upstream's words."""
        return tuple(cause.reason for cause in self.causes)

    @property
    def rules(self) -> tuple[ObjectReference, ...]:
        """The DeviceTaintRules among the causes, by name."""
        sources = (cause.source.device_taint_rule for cause in self.causes)
        return tuple(rule for rule in sources if rule is not None)


def pod_eviction(claims: Iterable[ClaimFinding]) -> PodEviction | None:
    """When a pod goes that uses these claims; None: it stays."""
    evicting = [(claim.evict_at, claim) for claim in claims if claim.evict_at is not None]
    if not evicting:
        return None
    evict_at = min(at for at, _ in evicting)
    if len(evicting) == 1:
        return PodEviction(evict_at, evicting[0][1].reasons)
    met = tuple(taint for _, claim in evicting for taint in claim.met)
    return PodEviction(evict_at, reasons_of(met))


def not_bound() -> Finding:
    """What is said of a pod without a node."""
    why = "the pod is bound to no node yet, no device taint evicts it"
    return keep_pod(SYSTEM, "PodNotBound", why)


def no_claims() -> Finding:
    """What is said of a pod that names no claim."""
    return keep_pod(SYSTEM, "NoDeviceClaims", "the pod uses no devices")


def devices_not_read(why: str) -> Finding:
    """For a pod with claims where nobody could see them: it may have to go."""
    return _unseen("DevicesNotRead", f"the pod uses devices, whose taints are not known: {why}")


def devices_not_served() -> Finding:
    """For a pod with claims in a cluster that serves none."""
    return _unseen("DevicesNotServed", "the cluster serves no devices (resource.k8s.io)")


def device_eviction_off() -> Finding:
    """For a pod with claims where the gate DRADeviceTaintEviction is off."""
    return _unseen("DeviceTaintEvictionOff", "the gate DRADeviceTaintEviction is off")


def _unseen(reason: str, message: str) -> Finding:
    step = TraceStep(rule="ResourceClaim", outcome=reason, message=message)
    return keep(SYSTEM, reason, message, (step,))


def judge(claims: tuple[ClaimFinding, ...], trace: tuple[TraceStep, ...], now: datetime) -> Finding:
    """The answer for a pod that uses these claims."""
    eviction = pod_eviction(claims)
    if eviction is None:
        return _stays(tuple(taint for claim in claims for taint in claim.met), trace)
    return _goes(eviction, trace, in_utc(now))


def steps(uses: Iterable[ClaimUse], claims: Iterable[ClaimFinding]) -> tuple[TraceStep, ...]:
    """What was looked at: each claim that the pod names, then each taint on their devices."""
    looked = [TraceStep(rule="ResourceClaim", outcome=u.outcome, message=u.message) for u in uses]
    return (*looked, *(_step(taint) for claim in claims for taint in claim.met))


def _stays(met: tuple[MetTaint, ...], trace: tuple[TraceStep, ...]) -> Finding:
    if not met:
        why = "no device of the pod has a NoExecute taint"
        return keep(SYSTEM, "NoTaint", why, trace)
    unknown = next((one for one in met if one.is_reason), None)
    if unknown is not None:
        why = f"{_describe(unknown)}, but it is not known since when: it carries no timeAdded"
        return keep(SYSTEM, "TaintStartUnknown", why, trace)
    why = "every NoExecute taint of the pod's devices is tolerated for ever"
    return keep(SYSTEM, "ToleratedForever", why, trace)


def _goes(eviction: PodEviction, trace: tuple[TraceStep, ...], now: datetime) -> Finding:
    at = eviction.evict_at
    first = eviction.first
    waits = at > now
    message = _describe(first)
    if first.tolerated.toleration is not None:
        message += f", until {describe_time(at)}"
    elif waits:
        message += f", from {describe_time(at)} on"
    return DeviceTaintEviction(
        system=SYSTEM,
        verdict=Verdict.EVICT_AT if waits else Verdict.EVICT_NOW,
        reason=_reason_code(first, waits=waits),
        message=f"{message} ({', '.join(eviction.reasons)})",
        evict_at=at,
        holds_until=at if waits else None,
        cause=_cause(first),
        due_since=None if waits else at,
        trace=trace,
    )


def _cause(met: MetTaint) -> str:
    """The rule, which may taint many devices, or else the taint, told apart from a node's."""
    rule = met.source.device_taint_rule
    if rule is not None:
        return f"DeviceTaintRule {rule.name}"
    return f"device taint {describe_taint(met.taint)}"


def _reason_code(first: MetTaint, *, waits: bool) -> str:
    if first.tolerated.toleration is not None:
        return "ToleratedUntil" if waits else "TolerationExpired"
    return "TaintStartsLater" if waits else "TaintNotTolerated"


def _step(met: MetTaint) -> TraceStep:
    seconds, place, toleration = met.tolerated
    if toleration is None:
        outcome = "NotTolerated"
    elif seconds is None:
        outcome = "ToleratedForever"
    else:
        outcome = "ToleratedForSeconds" if seconds else "ToleratedForNoTime"
    added = met.taint.time_added
    return TraceStep(
        rule="NoExecuteDeviceTaint",
        outcome=outcome,
        message=f"{_describe(met)} ({met.reason})",
        subject=DeviceTaintSubject(
            device=met.source,
            taint=met.taint,
            taint_index=met.index,
            toleration=toleration,
            toleration_index=place,
            added_at=None if added is None else in_utc(added),
        ),
        deadline=met.due,
    )


def _describe(met: MetTaint) -> str:
    source, toleration = met.source, met.tolerated.toleration
    device = f"{source.driver}/{source.pool}/{source.device}"
    text = f"taint {describe_taint(met.taint)} of device {device} is "
    if toleration is None:
        return f"{text}not tolerated"
    return f"{text}tolerated by {describe_toleration(toleration)}"
