"""What a process says of its own health: told by its main loop, read by any thread.

The main loop says ten times in five seconds how it is, by putting one immutable value in the place
of another. Whoever answers probes reads that, and how long ago it was said, and touches nothing
else. So a probe is answered however busy the main loop is, and one that is stuck is found out.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

from bailiff.serving.complaints import Complaint, in_words

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds between two beats.
PERIOD = 0.5
# Seconds without a beat after which readiness is not believed any more: the time that the chart's
# probes would have waited for an answer of the loop itself.
_STALE_AFTER = 3.0


class Verdicts(NamedTuple):
    """What is wrong; what is empty is well.

    Attributes:
        health: what only a restart would mend.
        readiness: why no requests should be sent here, or what holds up the work.
    """

    health: tuple[Complaint, ...] = ()
    readiness: tuple[Complaint, ...] = ()


STARTING = Verdicts(readiness=(Complaint("starting", "the process is starting"),))


class Answer(NamedTuple):
    """What a probe is answered.

    Attributes:
        is_well: whether nothing is wrong.
        text: `ok`, or what fails, by words that name nothing of the cluster: nobody is asked who
            he is.
    """

    is_well: bool
    text: str


class Pulse:
    """The beat of a main loop. Beaten by that loop alone, felt by any thread.

    Attributes:
        judge: asked with each beat how things are.
    """

    def __init__(
        self,
        stuck_after: float,
        judge: Callable[[], Verdicts] = lambda: STARTING,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """The heart beats from now on.

        Args:
            stuck_after: seconds without a beat after which only a restart helps, above 0.
            judge: see above.
            now: seconds that pass.
        """
        self.judge = judge
        self._stuck_after = stuck_after
        self._now = now
        self._last = (STARTING, now())

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            self.beat()
            await asyncio.sleep(PERIOD)

    def beat(self) -> None:
        """Say how things are now."""
        self._last = (self.judge(), self._now())

    def health(self) -> Answer:
        """Whether anything is wrong that only a restart would mend."""
        told, pause = self._look()
        return _answer("not well", told.health, pause, self._stuck_after)

    def readiness(self) -> Answer:
        """Whether it is ready."""
        told, pause = self._look()
        limit = min(self._stuck_after, _STALE_AFTER)
        return _answer("not ready", told.readiness, pause, limit)

    def _look(self) -> tuple[Verdicts, float]:
        told, at = self._last
        return told, self._now() - at


def _answer(what: str, told: tuple[Complaint, ...], pause: float, limit: float) -> Answer:
    if pause > limit:
        told = (*told, Complaint("loop", f"the event loop has not come round for {pause:.0f} s"))
    return Answer(not told, in_words(told, what))
