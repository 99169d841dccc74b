"""What one round leaves for the next: all that the kubelet keeps in memory between its rounds.

Source: managerImpl in pkg/kubelet/eviction/eviction_manager.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.thresholds import Threshold
from bailiff.kinds.meta import Time, Value
from bailiff.kinds.texts import Word

if TYPE_CHECKING:
    from datetime import datetime


class ThresholdState(Value, frozen=True, forbid_unknown_fields=True):
    """A threshold that was met in the last round.

    Attributes:
        threshold: which.
        first_observed_at: since when it has been met without a break.
        acted_upon: its grace period was over, so that it stays met until its minimum reclaim is
            reached.
    """

    threshold: Threshold
    first_observed_at: Time
    acted_upon: bool = False


class ConditionState(Value, frozen=True, forbid_unknown_fields=True):
    """A condition of the node that a round has seen reason for.

    Attributes:
        type: `MemoryPressure`, `DiskPressure` or `PIDPressure`.
        last_observed_at: when a threshold of it was last met; it is reported for the transition
            period after that.
        held: it was reported after the last round.
    """

    type: Word
    last_observed_at: Time
    held: bool = False


class SignalState(Value, frozen=True, forbid_unknown_fields=True):
    """By which measurement the last round went.

    Attributes:
        signal: of what.
        time: when it was measured; absent: the summary did not say.
    """

    signal: Signal
    time: Time | None = None


class PressureState(Value, frozen=True, forbid_unknown_fields=True):
    """What the last round has left; that of a node of which there was none is empty.

    Attributes:
        thresholds: those that were met.
        conditions: those that there was ever reason for.
        signals: by which measurements it went.
        last_eviction_at: when a pod last went by rank; counts where a cool-down is set.
        started: there was a round that looked at the node.
    """

    thresholds: Annotated[tuple[ThresholdState, ...], Meta(max_length=64)] = ()
    conditions: Annotated[tuple[ConditionState, ...], Meta(max_length=8)] = ()
    signals: Annotated[tuple[SignalState, ...], Meta(max_length=64)] = ()
    started: bool = False
    last_eviction_at: Time | None = None

    @property
    def held(self) -> frozenset[str]:
        """The conditions that were reported after the last round."""
        return frozenset(one.type for one in self.conditions if one.held)

    @property
    def last_times(self) -> dict[Signal, datetime | None]:
        """When what the last round saw was measured, by signal."""
        return {one.signal: one.time for one in self.signals}
