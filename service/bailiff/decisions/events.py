"""The Events that tell people of evictions, in upstream's words as far as it has any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.decision import EventNote

if TYPE_CHECKING:
    from bailiff.decisions.decision import EvictionTerms
    from bailiff.kinds import Pod

# Ours: upstream gives up in silence.
DENIED_REASON = "EvictionDenied"


def eviction_event(pod: Pod, terms: EvictionTerms, why: str) -> EventNote:
    """For an eviction under these terms: in their words, or upstream's and after them the cause."""
    message = terms.event_message or f"Marking for deletion Pod {pod.key}: {why}"
    return EventNote(
        type=terms.event_type or "Normal",
        reason=terms.event_reason,
        message=message,
        annotations=terms.event_annotations,
    )


def cancellation_event(pod: Pod, why: str, terms: EvictionTerms) -> EventNote:
    """For an eviction under these terms that was to come, and will not happen."""
    message = f"Cancelling deletion of Pod {pod.key}: {why}"
    reason = terms.cancellation_reason or terms.event_reason
    return EventNote(type="Normal", reason=reason, message=message)


def denial_event(pod: Pod, why: str) -> EventNote:
    """For an eviction that the cluster refuses, so that a person learns of it."""
    message = f"Cannot evict Pod {pod.key}, trying again: {why}"
    return EventNote(type="Warning", reason=DENIED_REASON, message=message)
