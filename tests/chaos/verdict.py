"""What came of it: the counts that must be nought."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.chaos.fleet import Fleet
    from tests.chaos.witness import Deletions, Witness


@dataclass
class Verdict:
    """Counts of pods.

    Attributes:
        expected: were to be evicted.
        evicted: were.
        lost: were to be evicted, and were not.
        early: were evicted before their deadline.
        twice: more than one delete was accepted for the same UID.
        wrong_uid: were evicted though they were to stay: successors of the same name, pods of an
            untainted node, and those that tolerate for ever; and deletes without the UID as a
            precondition, or accepted for another than they asked for.
        late: seconds after the deadline, for each that was evicted.
    """

    expected: int = 0
    evicted: int = 0
    lost: int = 0
    early: int = 0
    twice: int = 0
    wrong_uid: int = 0
    late: list[float] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether nothing went wrong, and something happened at all."""
        wrong = self.lost + self.early + self.twice + self.wrong_uid
        return wrong == 0 and 0 < self.expected == self.evicted

    def lateness(self) -> str:
        """In words."""
        if len(self.late) < 2:
            return "unknown"
        cuts = statistics.quantiles(self.late, n=100, method="inclusive")
        return f"p50 {cuts[49]:.2f} s, p99 {cuts[98]:.2f} s, most {max(self.late):.2f} s"


def judge(fleet: Fleet, witness: Witness, deletions: Deletions) -> Verdict:
    """Hold what was seen against what was to be."""
    found = Verdict(wrong_uid=deletions.unguarded + deletions.mistaken)
    for uid, pod in fleet.pods.items():
        times = deletions.accepted.get(uid, [])
        seen = uid in witness.ending or uid in witness.vanished
        gone = bool(times) or (seen and not pod.removed)
        found.expected += pod.goes
        found.evicted += gone and pod.goes
        found.lost += pod.goes and not gone
        found.wrong_uid += gone and not pod.goes
        found.twice += len(times) > 1
        if gone and pod.goes:
            # The audit log knows the microsecond. Where a kill took that line, the pod knows the
            # second that it was deleted in.
            latest = min(times) if times else witness.ending.get(uid, 0.0) + 1.0
            found.early += latest < fleet.deadline(pod)
            found.late.append(latest - fleet.deadline(pod))
    return found
