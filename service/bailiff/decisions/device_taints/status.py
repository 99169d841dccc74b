"""What a DeviceTaintRule's status says of the eviction (pkg/controller/devicetainteviction).

Its condition `EvictionInProgress` is written at once when a rule comes or its spec changes, and
then at most every 10 s. Its last transition time moves with every write, so that it tells when the
next may be.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.decisions.instants import in_utc
from bailiff.kinds import NO_EXECUTE, Condition

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bailiff.decisions.decision import ObjectReference
    from bailiff.kinds import DeviceTaintRule

EVICTION_IN_PROGRESS = "EvictionInProgress"
STATUS_PERIOD = timedelta(seconds=10)

_NO_EFFECT = "None"
_OTHER_EFFECT = "Eviction only happens for the NoExecute effect."


class RuleEffect(NamedTuple):
    """What a rule does, or would do if its effect were NoExecute.

    Attributes:
        published_devices: devices that it selects, as slices publish them now.
        allocated_devices: allocations that it selects; a device allocated twice counts twice.
        pods: pods that it dooms and that are still there to be evicted.
    """

    published_devices: int = 0
    allocated_devices: int = 0
    pods: tuple[ObjectReference, ...] = ()

    @property
    def namespaces(self) -> int:
        """In how many namespaces those pods are."""
        return len({pod.namespace for pod in self.pods})


class RuleStatus(NamedTuple):
    """What to do about a rule's status.

    Attributes:
        condition: to write now; None: nothing.
        requeue_after_seconds: ask again then, because the last write is too fresh; 0: not before
            something changes.
    """

    condition: Condition | None = None
    requeue_after_seconds: float = 0


def rule_status(
    rule: DeviceTaintRule, effect: Callable[[], RuleEffect], evicted: int, now: datetime
) -> RuleStatus:
    """The condition a rule is to have.

    Args:
        rule: the rule as it is, with the conditions it has.
        effect: what the rule does (effect NoExecute), or would do (effect None); only called
            where it matters, as it may cost something.
        evicted: pods evicted because of this rule, by UID, since the worker started.
        now: the instant, with time zone.
    """
    existing = _existing(rule)
    if existing is not None:
        wait = _too_fresh(existing, rule, now)
        if wait > timedelta():
            return RuleStatus(requeue_after_seconds=wait.total_seconds())
    condition = _condition(rule, effect, evicted)
    if existing is not None and condition == replace(existing, last_transition_time=None):
        return RuleStatus()
    return RuleStatus(replace(condition, last_transition_time=in_utc(now)))


def counts(rule: DeviceTaintRule, now: datetime) -> bool:
    """Whether a status written now would say how many devices or pods the rule concerns."""
    if rule.spec.taint.effect not in (NO_EXECUTE, _NO_EFFECT):
        return False
    existing = _existing(rule)
    return existing is None or _too_fresh(existing, rule, now) <= timedelta()


def _existing(rule: DeviceTaintRule) -> Condition | None:
    return next((one for one in rule.status.conditions if one.type == EVICTION_IN_PROGRESS), None)


def _too_fresh(existing: Condition, rule: DeviceTaintRule, now: datetime) -> timedelta:
    written = existing.last_transition_time
    if written is None or existing.observed_generation != rule.metadata.generation:
        return timedelta()
    return STATUS_PERIOD - (in_utc(now) - in_utc(written))


def _condition(rule: DeviceTaintRule, effect: Callable[[], RuleEffect], evicted: int) -> Condition:
    status, reason, message = "False", "OtherEffect", _OTHER_EFFECT
    if rule.spec.taint.effect == NO_EXECUTE:
        status, reason, message = _progress(effect(), evicted)
    elif rule.spec.taint.effect == _NO_EFFECT:
        reason, message = "NoEffect", _preview(effect())
    if evicted:
        told = f"{_count(evicted, 'pod')} evicted since starting the controller."
        message = f"{message} {told}" if message else told
    return Condition(
        type=EVICTION_IN_PROGRESS,
        status=status,
        observed_generation=rule.metadata.generation,
        reason=reason,
        message=message,
    )


def _progress(effect: RuleEffect, evicted: int) -> tuple[str, str, str]:
    if not effect.pods:
        return "False", "Completed" if evicted else "NotStarted", ""
    need = "needs" if len(effect.pods) == 1 else "need"
    message = f"{_count(len(effect.pods), 'pod')} {need} to be evicted in {_namespaces(effect)}."
    return "True", "PodsPendingEviction", message


def _preview(effect: RuleEffect) -> str:
    return (
        f"{_count(effect.published_devices, 'published device')} selected. "
        f"{_count(effect.allocated_devices, 'allocated device')} selected. "
        f"{_count(len(effect.pods), 'pod')} would be evicted in {_namespaces(effect)} "
        "if the effect was NoExecute. This information will not be updated again. "
        "Recreate the DeviceTaintRule to trigger an update."
    )


def _namespaces(effect: RuleEffect) -> str:
    return "1 namespace" if effect.namespaces == 1 else f"{effect.namespaces} different namespaces"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
