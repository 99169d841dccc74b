"""What a node's annotation remembers of its pressure, so that a restart loses no grace period.

Written when a threshold begins or ceases to be met or its grace period is over, when a condition
begins or ceases to be reported, when a pod goes, and once a minute while a threshold is met; not
with each round, which would be a write a node every ten seconds. So of a condition whose threshold
is met the last time is not known after a restart: it counts as met at that moment, and is told for
a whole transition period from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bailiff.decisions.pressure.state import PressureState
from bailiff.kinds.meta import Time

if TYPE_CHECKING:
    from collections.abc import Hashable
    from datetime import datetime

# Seconds without a round after which grace periods begin anew: more than a worker's restart, or the
# way of a Lease to another, takes.
LONGEST_BREAK = 180.0
# An annotation of ours has some hundred characters; whoever may write to a node could put in more.
_LONGEST = 16 * 1024


class Memory(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """The annotation's JSON.

    Attributes:
        state: of the last round, without what changes with each.
        publishes: the node's conditions are written by us.
        at: when it was written. A threshold of which nobody has known anything for longer than
            LONGEST_BREAK since counts as new, so that no grace period is cut short.
    """

    at: Time
    state: PressureState = PressureState()
    publishes: bool = False


class Note(NamedTuple):
    """What is to be remembered.

    Attributes:
        key: with an equal one nothing is to be written anew.
        text: of the annotation; empty: there is nothing to remember.
    """

    key: Hashable
    text: str


NOTHING = Note((), "")


def note_of(now: datetime, state: PressureState, *, publishes: bool, evicting: bool) -> Note:
    """What is to be remembered after a round.

    Args:
        now: in UTC.
        state: that it has left.
        publishes: the node's conditions are written by us.
        evicting: a pod goes by what was measured, so that it must not serve once more.
    """
    met = tuple((one.threshold.identity, one.acted_upon) for one in state.thresholds)
    conditions = tuple(one for one in state.conditions if one.held)
    signals = state.signals if evicting else ()
    last = state.last_eviction_at
    if not (met or conditions or publishes or last):
        return NOTHING
    kept = replace(state, signals=signals, conditions=conditions)
    minute = now.replace(second=0, microsecond=0) if met else None
    key = (met, tuple(one.type for one in conditions), publishes, signals, minute, last)
    text = msgspec.json.encode(Memory(now.replace(microsecond=0), kept, publishes)).decode()
    return Note(key, text)


def memory_of(text: str, now: datetime) -> Memory | None:
    """What an annotation says; None: nothing, or nothing that can be read.

    Args:
        text: of the annotation.
        now: in UTC.
    """
    if not text or len(text) > _LONGEST:
        return None
    try:
        found = msgspec.json.decode(text, type=Memory)
    except (msgspec.DecodeError, ValueError):
        return None
    state = found.state
    if (now - found.at).total_seconds() > LONGEST_BREAK:
        state = replace(state, thresholds=())
    watched = {one.threshold.signal.condition for one in state.thresholds}
    conditions = tuple(
        replace(one, last_observed_at=now) if one.type in watched else one
        for one in state.conditions
    )
    return replace(found, state=replace(state, conditions=conditions))
