"""When a pod evicts for the taints of its devices (pkg/controller/devicetainteviction).

It goes when the first of the claims it uses evicts, for the reasons of all of them. When it was
bound plays no part, unlike with node taints: time runs from `timeAdded` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.decision import Finding, ObjectReference, TraceStep, Verdict
from bailiff.decisions.device_taints.claims import reasons_of
from bailiff.decisions.instants import in_utc
from bailiff.decisions.text import describe_taint, describe_time, describe_toleration
from bailiff.kinds import PodCondition

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bailiff.decisions.device_taints.claims import ClaimFinding, MetTaint
    from bailiff.decisions.device_taints.pods import ClaimUse
    from bailiff.kinds import Pod

SYSTEM = "device-taints"
CONTROLLER_NAME = "device-taint-eviction-controller"
EVENT_REASON = "DeviceTaintManagerEviction"
CONDITION = PodCondition(
    type="DisruptionTarget",
    status="True",
    reason="DeletionByDeviceTaintManager",
    message="Device Taint manager: deleting due to NoExecute taint",
)


class PodEviction(NamedTuple):
    """When and why the taints of its devices evict a pod.

    Attributes:
        evict_at: when, in UTC.
        causes: why, each reason once, in upstream's order.
    """

    evict_at: datetime
    causes: tuple[MetTaint, ...]

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


def ended(pod: Pod) -> Finding:
    """What is said of a pod that is finished or being deleted."""
    if pod.is_terminating:
        return _keep("PodTerminating", "the pod is being deleted already")
    return _keep("PodFinished", f"the pod has ended: {pod.status.phase}")


def not_bound() -> Finding:
    """What is said of a pod without a node."""
    return _keep("PodNotBound", "the pod is bound to no node yet, no device taint evicts it")


def no_claims() -> Finding:
    """What is said of a pod that names no claim."""
    return _keep("NoDeviceClaims", "the pod uses no devices")


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
        return _keep("NoTaint", "no device of the pod has a NoExecute taint", trace)
    unknown = next((one for one in met if one.is_reason), None)
    if unknown is not None:
        why = f"{_describe(unknown)}, but it is not known since when: it carries no timeAdded"
        return _keep("TaintStartUnknown", why, trace)
    why = "every NoExecute taint of the pod's devices is tolerated for ever"
    return _keep("ToleratedForever", why, trace)


def _goes(eviction: PodEviction, trace: tuple[TraceStep, ...], now: datetime) -> Finding:
    at = eviction.evict_at
    first = next(cause for cause in eviction.causes if cause.due == at)
    waits = at > now
    message = _describe(first)
    if first.tolerated.toleration is not None:
        message += f", until {describe_time(at)}"
    elif waits:
        message += f", from {describe_time(at)} on"
    return Finding(
        system=SYSTEM,
        verdict=Verdict.EVICT_AT if waits else Verdict.EVICT_NOW,
        reason=_reason_code(first, waits=waits),
        message=f"{message} ({', '.join(eviction.reasons)})",
        evict_at=at,
        holds_until=at if waits else None,
        trace=trace,
    )


def _reason_code(first: MetTaint, *, waits: bool) -> str:
    if first.tolerated.toleration is not None:
        return "ToleratedUntil" if waits else "TolerationExpired"
    return "TaintStartsLater" if waits else "TaintNotTolerated"


def _keep(reason: str, message: str, trace: tuple[TraceStep, ...] | None = None) -> Finding:
    if trace is None:
        trace = (TraceStep(rule="Pod", outcome=reason, message=message),)
    return Finding(system=SYSTEM, verdict=Verdict.KEEP, reason=reason, message=message, trace=trace)


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
        taint=met.taint,
        taint_index=met.index,
        toleration=toleration,
        toleration_index=place,
        added_at=None if added is None else in_utc(added),
        added_from="" if added is None else "timeAdded",
        deadline=met.due,
        device=met.source,
    )


def _describe(met: MetTaint) -> str:
    source, toleration = met.source, met.tolerated.toleration
    device = f"{source.driver}/{source.pool}/{source.device}"
    text = f"taint {describe_taint(met.taint)} of device {device} is "
    if toleration is None:
        return f"{text}not tolerated"
    return f"{text}tolerated by {describe_toleration(toleration)}"
