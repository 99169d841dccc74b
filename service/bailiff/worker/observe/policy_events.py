"""Events that policies give rise to, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions import EventNote
from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from bailiff.decisions.policies import Hold
    from bailiff.kinds import Pod


def held_event(pod: Pod, hold: Hold) -> EventNote:
    """For an eviction that is due, and that a policy holds back."""
    message = f"Eviction of Pod {pod.key} is held ({hold.cause.value}): {hold.message}"
    # Some messages tell the instant themselves, such as a window's.
    if hold.until is not None and describe_time(hold.until) not in message:
        message += f"; until {describe_time(hold.until)} unless something changes"
    return EventNote(type="Normal", reason="EvictionHeld", message=message)


def blocked_event(pod: Pod, why: str) -> EventNote:
    """For an eviction that the pod's PodDisruptionBudget does not allow."""
    message = f"Cannot evict Pod {pod.key} now, trying again: {why}"
    return EventNote(type="Warning", reason="EvictionBlocked", message=message)
