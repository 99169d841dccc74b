"""How often a process may write the book: long ones seldom.

etcd keeps each version of a ConfigMap until it is compacted, every five minutes by kube-apiserver's
defaults, and stops all writes of a cluster at its quota, 2 GiB by default. Who asks fast enough
would fill that with books of 512 KiB.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.clock import Clock

# Bytes a second of each process: 75 MiB between two compactions.
_RATE = 256 * 1024
# Seconds between two writes of the shortest book.
_LEAST = 0.01


class Pace:
    """Between the writes of one process."""

    def __init__(self, clock: Clock) -> None:
        """The first may come at once."""
        self._clock = clock
        self._next = -math.inf

    def left(self) -> float:
        """Seconds until the next write may begin; 0: it may."""
        return max(0.0, self._next - self._clock.monotonic())

    def wrote(self, data: Mapping[str, str]) -> None:
        """A write of a ConfigMap with this data begins now."""
        size = sum(map(len, data.values()))
        self._next = self._clock.monotonic() + max(_LEAST, size / _RATE)
