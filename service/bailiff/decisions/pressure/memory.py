"""What a node's annotation remembers of its pressure, so that a restart loses no grace period.

Written when a threshold begins or ceases to be met or its grace period is over, when a condition
begins or ceases to be reported, when a pod goes, and once a minute while a threshold is met; not
with each round, which would be a write a node every ten seconds. So of a condition whose threshold
is met the last time is not known after a restart: it counts as met at that moment, and is told for
a whole transition period from then on.

Who goes on by a note goes by its own clock, which may be ahead of the one by which it was written.
So two clocks have to agree on how much time has passed since: the worker's and the kubelet's, by
which what was measured is told. The shorter time counts, so that no grace period is cut short.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bailiff.decisions.instants import moved
from bailiff.decisions.pressure.state import PressureState, SignalState
from bailiff.kinds.meta import Time

if TYPE_CHECKING:
    from collections.abc import Hashable
    from datetime import datetime

# Seconds without a round after which grace periods begin anew: more than a worker's restart, or the
# way of a Lease to another, takes. Where rounds are far apart it is three of them.
LONGEST_BREAK = 180.0
# An annotation of ours has some hundred characters; whoever may write to a node could put in more.
_LONGEST = 16 * 1024
_NO_TIME = timedelta(0)


class Memory(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The annotation's JSON; what a later release has added to it is passed over.

    Attributes:
        at: when it was written.
        measured: when what the last round went by was measured, by the node's own clock.
        state: of the last round, without what changes with each.
        publishes: the node's conditions are written by us.
    """

    at: Time
    measured: Time | None = None
    state: PressureState = PressureState()
    publishes: bool = False

    def resumed(
        self, now: datetime, measured: datetime | None, longest_break: float = LONGEST_BREAK
    ) -> PressureState:
        """The state for a round that goes on by it.

        Args:
            now: in UTC.
            measured: when what the round goes by was measured, by the node's own clock.
            longest_break: seconds after which a threshold counts as new: whether it was met all the
                time nobody knows.
        """
        breaks = [now - self.at]
        if measured is not None and self.measured is not None:
            breaks.append(measured - self.measured)
        passed = max(_NO_TIME, min(breaks))
        state = _moved(self.state, now - self.at - passed)
        if max(breaks).total_seconds() > longest_break:
            state = replace(state, thresholds=())
        watched = {one.threshold.signal.condition for one in state.thresholds}
        conditions = tuple(
            replace(one, last_observed_at=now) if one.type in watched else one
            for one in state.conditions
        )
        return replace(state, conditions=conditions)


def _moved(state: PressureState, by: timedelta) -> PressureState:
    """The same with instants of a clock that was set, or is another's."""
    thresholds = tuple(
        replace(one, first_observed_at=moved(one.first_observed_at, by)) for one in state.thresholds
    )
    conditions = tuple(
        replace(one, last_observed_at=moved(one.last_observed_at, by)) for one in state.conditions
    )
    last = state.last_eviction_at
    return replace(
        state,
        thresholds=thresholds,
        conditions=conditions,
        last_eviction_at=None if last is None else moved(last, by),
    )


class Note(NamedTuple):
    """What is to be remembered.

    Attributes:
        key: with an equal one nothing is to be written anew.
        text: of the annotation; empty: there is nothing to remember.
    """

    key: Hashable
    text: str


NOTHING = Note((), "")


class Noted(NamedTuple):
    """What is noted of a node beside the state of its last round.

    Attributes:
        measured: as of Memory.
        publishes: the node's conditions are written by us.
        acted_on: the measurements by which somebody went, and which must not serve once more.
    """

    measured: datetime | None
    publishes: bool
    acted_on: tuple[SignalState, ...] = ()


def note_of(now: datetime, state: PressureState, beside: Noted) -> Note:
    """What is to be remembered after a round.

    Args:
        now: in UTC.
        state: that it has left.
        beside: what else.
    """
    met = tuple((one.threshold.identity, one.acted_upon) for one in state.thresholds)
    conditions = tuple(one for one in state.conditions if one.held)
    signals, publishes = beside.acted_on, beside.publishes
    last = state.last_eviction_at
    if not (met or conditions or publishes or last or signals):
        return NOTHING
    memory = Memory(
        at=now.replace(microsecond=0),
        measured=beside.measured,
        state=replace(state, signals=signals, conditions=conditions),
        publishes=publishes,
    )
    minute = now.replace(second=0, microsecond=0) if met else None
    key = (met, tuple(one.type for one in conditions), publishes, signals, minute, last)
    return Note(key, msgspec.json.encode(memory).decode())


def memory_of(text: str) -> Memory | None:
    """What an annotation says; None: nothing, or nothing that can be read."""
    if not text or len(text) > _LONGEST:
        return None
    try:
        return msgspec.json.decode(text, type=Memory)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
