"""What the healthy callers got, and whether that is what is promised."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tests.attack.cgroup import MIB

PROBES = frozenset({"/healthz", "/readyz"})
# What is promised of two cores, to others than the attacker.
LEAST_ANSWERED = 0.99
MOST_P99 = 0.25
MOST_LATE = 1.0


def percentile(seconds: list[float], share: float) -> float:
    """The least that so large a share is not above; 0 of nothing."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


@dataclass
class Callers:
    """One kind of healthy callers."""

    name: str
    seconds: list[float]
    failed: dict[str, int]

    @property
    def answered(self) -> float:
        """The share that got a good answer."""
        asked = len(self.seconds) + sum(self.failed.values())
        return len(self.seconds) / asked if asked else 0.0

    @property
    def p99(self) -> float:
        """In seconds, of good answers."""
        return percentile(self.seconds, 0.99)

    def unanswered(self) -> list[str]:
        """What was not answered and was to be."""
        least = 1.0 if self.name in PROBES else LEAST_ANSWERED
        if self.answered >= least:
            return []
        return [f"{self.name}: {self.answered:.1%} answered, {dict(self.failed)}"]

    def slow(self) -> list[str]:
        """What was answered too late. Probes have their own patience."""
        if self.name in PROBES or self.p99 <= MOST_P99:
            return []
        return [f"{self.name}: p99 {self.p99 * 1000:.0f} ms"]

    def __str__(self) -> str:
        return f"{self.name} {self.answered:.1%} p99 {self.p99 * 1000:.0f} ms"


@dataclass
class Verdict:
    """What came of one attack.

    Attributes:
        peak: bytes that the attacked process used at most.
        ended: whether it ended.
        late: of evictions meanwhile, in seconds.
        attacker: what became of the attacker's connections.
    """

    name: str
    callers: list[Callers]
    peak: int
    limit: int
    ended: bool
    late: list[float] = field(default_factory=list)
    attacker: dict[str, int] = field(default_factory=dict)

    def failed(self) -> list[str]:
        """What is not as promised, however slow the machine; empty: all is."""
        found = [text for one in self.callers for text in one.unanswered()]
        if self.ended:
            found.append("the process has ended")
        if any(math.isinf(late) for late in self.late):
            found.append("a pod that was due has not been evicted")
        return found

    def slow(self) -> list[str]:
        """What came too late for two cores that have nothing else to do."""
        found = [text for one in self.callers for text in one.slow()]
        if self.late and max(self.late) > MOST_LATE:
            found.append(f"an eviction {max(self.late):.2f} s late")
        return found

    def broken(self) -> list[str]:
        """What is not as promised; empty: all is."""
        return self.failed() + self.slow()

    def __str__(self) -> str:
        parts = [
            f"peak {self.peak / MIB:.0f} of {self.limit / MIB:.0f} MiB",
            *map(str, self.callers),
        ]
        if self.late:
            parts.append(f"evictions at most {max(self.late):.2f} s late ({len(self.late)})")
        lines = [f"{self.name}: " + "; ".join(parts), f"    attacker: {self.attacker}"]
        return "\n".join([*lines, *(f"    BROKEN: {text}" for text in self.broken())])
