"""Thresholds: from which amount of a signal on a node is under pressure.

Source: pkg/kubelet/eviction/api/types.go. How they are read from a configuration stands in
bailiff.decisions.pressure.configuration.
"""

from __future__ import annotations

from bailiff.decisions.pressure.signals import Signal
from bailiff.kinds.meta import Int64, Value
from bailiff.kinds.quantity import NANO, QuantityText, parse_quantity

# See Threshold.identity.
Identity = tuple[Signal, int, int | None, float | None]


class ThresholdValue(Value, frozen=True, forbid_unknown_fields=True):
    """An amount: a quantity, or a part of the capacity. Exactly one of them is set.

    Attributes:
        quantity: as it was written, such as `100Mi`.
        percentage: a part of the capacity from 0 to 1: the value of a Go float32.
    """

    quantity: QuantityText | None = None
    percentage: float | None = None

    def of(self, capacity: int) -> int:
        """The amount in nanos of the unit, where so much is there in all (GetThresholdQuantity).

        Args:
            capacity: of the signal, in its unit: bytes, inodes or processes.
        """
        if self.quantity is not None:
            return parse_quantity(self.quantity).nano
        # Upstream's float64, cut to a whole number.
        return int(float(capacity) * (self.percentage or 0.0)) * NANO


class Threshold(Value, frozen=True, forbid_unknown_fields=True):
    """When a node is under pressure, and for how long it may be before pods go.

    Attributes:
        signal: what is watched; it is met where less is available than `value`, and one of a stall
            where tasks wait for more of the time than `value`.
        value: the amount.
        grace_period_nanoseconds: for so long it has to be met, as a Go time.Duration counts; 0: a
            hard threshold.
        min_reclaim: so much more has to be available before it is over; absent: none.
        stop_at: once pods have gone for it, it is over when so much is available; absent: as soon
            as it is not met. No kubelet has that, as little as what follows.
        dry_run: it is told who would go, and nobody goes.
    """

    signal: Signal
    value: ThresholdValue
    grace_period_nanoseconds: Int64 = 0
    min_reclaim: ThresholdValue | None = None
    stop_at: ThresholdValue | None = None
    dry_run: bool = False

    @property
    def is_hard(self) -> bool:
        """Pods go at once (isHardEvictionThreshold)."""
        return self.grace_period_nanoseconds == 0

    def amount(self, capacity: int, *, reclaimed: bool = False) -> int:
        """Below how many nanos of the unit it is met, where so much is there in all.

        Args:
            capacity: of the signal, in its unit.
            reclaimed: below how many it stays met, once pods have gone for it.
        """
        amount = self._left(self.value, capacity)
        if reclaimed and self.min_reclaim is not None:
            amount += self.min_reclaim.of(capacity)
        if reclaimed and self.stop_at is not None:
            amount = max(amount, self._left(self.stop_at, capacity))
        return amount

    def _left(self, value: ThresholdValue, capacity: int) -> int:
        """What has to be left of the capacity: of a stall the rest of the time."""
        amount = value.of(capacity)
        return capacity * NANO - amount if self.signal.is_stall else amount

    @property
    def identity(self) -> Identity:
        """By what it is the same in each round: not by when it is over (hasThreshold)."""
        text = self.value.quantity
        amount = None if text is None else parse_quantity(text).nano
        return self.signal, self.grace_period_nanoseconds, amount, self.value.percentage
