"""What was seen of one signal."""

from __future__ import annotations

from bailiff.decisions.pressure.signals import Signal
from bailiff.kinds.meta import Int64, Time, Value


class Observation(Value, frozen=True):
    """How much of a signal is left.

    Attributes:
        signal: what was measured.
        available: left, in bytes, inodes or processes; may be negative; of a stall the rest of the
            time, in hundredths of a percent.
        capacity: in all, in the same unit.
        time: when it was measured; absent: the kubelet does not say, and it counts as new.
    """

    signal: Signal
    available: Int64
    capacity: Int64
    time: Time | None = None


def as_int64(number: int) -> int:
    """A sum of Go uint64s, taken as an int64: it wraps around, as upstream's does."""
    return (number + 2**63) % 2**64 - 2**63
