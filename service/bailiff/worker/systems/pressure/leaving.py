"""Pods that leave a node: evicted, but still using what they had when it was measured last."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bailiff.decisions.pressure.findings import EVICTED
from bailiff.decisions.pressure.grace import leaves_within
from bailiff.decisions.pressure.strangers import Strangers, describe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from bailiff.clock import Moment
    from bailiff.decisions.pressure.report import PressureReport
    from bailiff.decisions.pressure.strangers import Stranger
    from bailiff.kinds import Pod

# Two clocks of one cluster differ by less.
_CLOCKS_DIFFER = timedelta(seconds=2)


# Why nobody goes though somebody is chosen, as /v1/queue tells.
LEAVES = "Waits: a pod that was evicted has not left yet"
_NOT_NEW = "Waits: nothing was measured since the last pod has left"


class Leaving:
    """Who is waited for, and until when; a pod that is gone or uses nothing is not."""

    def __init__(self) -> None:
        """Nobody leaves yet."""
        self._until: dict[str, float] = {}
        # Pods that lie there evicted, which they may do for hours.
        self._seen: set[str] = set()
        self._looked = False
        # Of those that leave whoever was not measured before: that they are not proves nothing.
        self._unmeasured: set[str] = set()
        self._strangers = Strangers()
        # When somebody was last found to have left, by the wall clock, until a round was planned.
        self._left_at: datetime | None = None

    def __bool__(self) -> bool:
        return bool(self._until)

    def __contains__(self, uid: str) -> bool:
        return uid in self._until

    def add(self, uid: str, elapsed: float, grace: float, *, measured: bool = True) -> None:
        """It has been evicted, with so many seconds to end; `measured`: it was, until now."""
        if not measured:
            self._unmeasured.add(uid)
        self._until[uid] = elapsed + leaves_within(grace)

    def is_news(self, uid: str) -> bool:
        """Whether this pod, which lies there evicted, has not been seen to do so before."""
        is_news = uid not in self._seen
        self._seen.add(uid)
        return is_news

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        self._seen.discard(uid)
        self._until.pop(uid, None)

    @property
    def has_looked(self) -> bool:
        """Whether `find` has looked for those who were evicted before."""
        return self._looked

    def left(self, now: datetime) -> None:
        """Somebody has left, at this instant by the wall clock at the latest."""
        self._left_at = now

    def was_measured_before(self, report: PressureReport) -> bool:
        """Whether a round acts by what was measured before the last one had left; asked once.

        A kubelet hands out what it has measured last, and measures every 10 to 15 s.
        """
        left, self._left_at = self._left_at, None
        times = [one.time for one in report.next.signals if one.signal == report.starved]
        if left is None or not times or times[0] is None:
            return False
        return times[0] <= left + _CLOCKS_DIFFER

    def find(self, pods: Iterable[Pod], now: datetime, elapsed: float) -> None:
        """Whoever was evicted before the node was first looked at; does nothing after that.

        Those that went long ago are measured no more, and so are not waited for.

        Args:
            pods: of the node.
            now: in UTC, by the wall clock.
            elapsed: seconds, by the clock's `elapsed`.
        """
        if self._looked:
            return
        self._looked = True
        for pod in pods:
            uid = pod.metadata.uid
            if pod.is_finished and pod.status.reason == EVICTED and self.is_news(uid):
                ends = pod.metadata.deletion_timestamp
                left = 0.0 if ends is None else (ends - now).total_seconds()
                self.add(uid, elapsed, left)

    def look(self, present: Collection[str], measured: Collection[str], moment: Moment) -> None:
        """Wait for nobody any more who has left, or for whom the time is over.

        Args:
            present: UIDs of the node's pods in the API.
            measured: UIDs of those of which something was measured. Others use nothing, if they
                were measured before.
            moment: of the look, by the wall clock.
        """
        there = {
            uid: until
            for uid, until in self._until.items()
            if uid in present and (uid in measured or uid in self._unmeasured)
        }
        if len(there) < len(self._until):
            self.left(moment.now)
        self._until = {uid: until for uid, until in there.items() if moment.elapsed < until}
        self._unmeasured &= self._until.keys()

    def why_nobody_goes(
        self, report: PressureReport, found: Iterable[Stranger], elapsed: float
    ) -> str:
        """A reason why whoever a round has chosen does not go; empty: there is none.

        Args:
            report: of the round.
            found: pods that are measured and that the API does not tell of, see `strangers`.
            elapsed: seconds, by the clock's `elapsed`.
        """
        # Both are to be asked in each round.
        is_old = self.was_measured_before(report)
        stranger = self._strangers.waited_for(found, elapsed)
        if is_old:
            return _NOT_NEW
        return "" if stranger is None else f"Waits: {describe(stranger)}"
