"""What has kept an eviction that was due from happening, and for how long; for the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from bailiff.decisions.policies import Cause, Hold
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from bailiff.worker.timers.eviction import Eviction

# A wait for nothing but the next turn of the loop is not worth telling.
_SHORTEST = 0.001


class Waited(Value, frozen=True):
    """One cause.

    Attributes:
        cause: the policy.
        message: what it said last.
        seconds: for how long it held the eviction back, all times together.
    """

    cause: Cause
    message: str
    seconds: float


class Waits(Struct, eq=False, gc=False):
    """The causes of one eviction, and the one that holds it now; as an Eviction, not collected.

    Attributes:
        hold: what it waits for.
        since: the second of elapsed time from which on it has.
        told: whether an Event has told people that it is held.
    """

    hold: Hold | None = None
    since: float = 0.0
    told: bool = False
    _past: tuple[Waited, ...] = ()

    def begin(self, hold: Hold, now: float) -> None:
        """This is what it waits for from now on, or still."""
        if self.hold is None or self.hold.cause is not hold.cause:
            self.end(now)
            self.since = now
        self.hold = hold

    def end(self, now: float) -> None:
        """It waits for nothing any more."""
        if self.hold is not None:
            self.add(self.hold, now - self.since)
            self.hold = None

    def add(self, hold: Hold, seconds: float) -> None:
        """It waited for this, for so long."""
        if seconds < _SHORTEST:
            return
        past = {one.cause: one for one in self._past}
        total = seconds + (past[hold.cause].seconds if hold.cause in past else 0.0)
        waited = Waited(cause=hold.cause, message=hold.message, seconds=round(total, 3))
        # Kept as a tuple: the garbage collector would track a dict of each of 150,000 evictions.
        self._past = tuple((past | {hold.cause: waited}).values())

    def past(self) -> tuple[Waited, ...]:
        """What it has waited for, in the order it came."""
        return self._past


def waits_of(eviction: Eviction) -> Waits:
    """What has kept one from happening; of none so far, the beginning."""
    if eviction.waits is None:
        eviction.waits = Waits()
    return eviction.waits
