"""One node that is watched: what is known of it, and when it may be judged again.

A round is planned once for each summary, when it comes, and its result is kept until the next: so
by one measurement one round goes, however often the worker looks at the node meanwhile. From the
moment that an eviction begins there is no round until the pod has left the node or half a minute
has passed, since what is measured meanwhile tells of memory that is about to be free
(waitForPodsCleanup in pkg/kubelet/eviction/eviction_manager.go). The same holds after an eviction
by the node's own kubelet: two that choose by the same numbers must not take two pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions import Round
from bailiff.decisions.pressure.findings import EVICTED, unmeasured
from bailiff.decisions.pressure.state import PressureState
from bailiff.worker.systems.pressure.memory import LONGEST_BREAK, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from datetime import datetime

    from bailiff.decisions import Finding
    from bailiff.decisions.pressure.report import PressureReport
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import NodeStats, PodStats

# Seconds, podCleanupTimeout in pkg/kubelet/eviction/eviction_manager.go.
_CLEAN_UP = 30.0
NEVER_READ = "its summary has not been read yet"


class WatchedNode:
    """What is kept of a node from round to round; no summary, which would be 400 kB each.

    Attributes:
        name: of the node.
        uid: of the node.
        state: that the last round has left.
        report: of the last round, without its candidates; None: there was none.
        victims: who goes by it, by UID of the pod.
        spared: what it says of all others; None: nothing is said of anybody.
        by_hard: it acts upon a hard threshold.
        unknown: why nothing is known of the node; empty: something is.
        publishes: the node's conditions are written by us.
        told: when Events that may be repeated were told last, by reason and elapsed time.
    """

    def __init__(self, name: str, uid: str) -> None:
        """A node of which nothing is known yet."""
        self.name = name
        self.uid = uid
        self.state = PressureState()
        self.report: PressureReport | None = None
        self.victims: Mapping[str, Finding] = {}
        self.spared: Finding | None = None
        self.by_hard = False
        self.unknown = NEVER_READ
        self.publishes = False
        self.told: dict[str, float] = {}
        self._measured: datetime | None = None
        # When that was first seen, by elapsed time.
        self._seen_at = 0.0
        self._running: set[str] = set()
        # When the last round was, by elapsed time.
        self._judged_at = 0.0
        # Pods that have been evicted and may still use what they had, and until when that counts.
        self._leaving: dict[str, float] = {}
        # Pods that lie there evicted, which they may do for hours.
        self._seen_evicted: set[str] = set()

    def age(self, node: NodeStats, now: datetime, elapsed: float) -> float:
        """Seconds since the kubelet has measured something new.

        A clock of the node that is wrong counts for the first summary alone: from then on the age
        grows while the time that the kubelet tells stands still, and is 0 when it has moved.

        Args:
            node: what was measured of it, just read.
            now: in UTC.
            elapsed: seconds, by the clock's `elapsed`.
        """
        measured = measured_at(node)
        if measured is None:
            return 0.0
        if self._measured is None:
            self._seen_at = elapsed - max(0.0, (now - measured).total_seconds())
        elif measured != self._measured:
            self._seen_at = elapsed
        self._measured = measured
        return elapsed - self._seen_at

    def recall(self, memory: Memory, now: datetime, elapsed: float) -> None:
        """Go on where another worker has stopped, or this one before it was started anew.

        The break has begun when that was written: it may be long before the first summary comes.

        Args:
            memory: what the node's annotation says.
            now: in UTC.
            elapsed: seconds, by the clock's `elapsed`.
        """
        self.state, self.publishes = memory.state, memory.publishes
        self._judged_at = elapsed - max(0.0, (now - memory.at).total_seconds())

    def state_at(self, elapsed: float) -> PressureState:
        """What the last round has left, for one at this moment.

        A threshold counts as met without a break only while somebody looks: it may have been over
        for an hour of which nothing is known.
        """
        if elapsed - self._judged_at <= LONGEST_BREAK:
            return self.state
        return replace(self.state, thresholds=())

    def lose_sight(self, why: str) -> bool:
        """Nothing is known of the node any more; whether that is news."""
        is_news, self.unknown = self.unknown in ("", NEVER_READ), why
        self.victims, self.spared = {}, None
        return is_news

    def take(
        self,
        report: PressureReport,
        victims: Mapping[str, Finding],
        spared: Finding,
        *,
        by_hard: bool,
        elapsed: float,
    ) -> None:
        """A round has been planned."""
        self._judged_at = elapsed
        self.unknown = ""
        # A round takes its victims for gone; here a cool-down begins when they are. That it begins
        # in the future no round believes.
        before, after = self.state.last_eviction_at, report.next.last_eviction_at
        last = before and after and min(before, after)
        self.state, self.report = replace(report.next, last_eviction_at=last), report
        self.victims, self.spared, self.by_hard = victims, spared, by_hard

    def may_be_judged(
        self, present: Collection[str], pods: Callable[[], Iterable[PodStats]], elapsed: float
    ) -> bool:
        """Whether no eviction is under way, and whoever was evicted has left the node.

        Args:
            present: UIDs of the node's pods in the API.
            pods: tells what was measured of them; one of which nothing was uses nothing.
            elapsed: seconds, by the clock's `elapsed`.
        """
        if self._leaving:
            measured = {one.pod_ref.uid for one in pods()}
            self._leaving = {
                uid: until
                for uid, until in self._leaving.items()
                if uid in present and uid in measured and elapsed < until
            }
        return not self._running and not self._leaving

    def began(self, uid: str) -> None:
        """The eviction of this pod is tried."""
        self._running.add(uid)

    def failed(self, uid: str) -> None:
        """It was not evicted, and may be tried again."""
        self._running.discard(uid)

    def evicted(self, uid: str, elapsed: float) -> None:
        """It is evicted. Who was chosen with it still goes, nobody else before the next round."""
        self._running.discard(uid)
        self._leaving[uid] = elapsed + _CLEAN_UP
        self.victims = {other: one for other, one in self.victims.items() if other != uid}

    def cools_from(self, now: datetime) -> None:
        """A pod went by rank, so that a cool-down begins, counted as rounds count time."""
        self.state = replace(self.state, last_eviction_at=now)

    def see(self, pod: Pod, elapsed: float) -> None:
        """A pod of the node has changed; it may be that the node's kubelet has evicted it."""
        uid = pod.metadata.uid
        if uid in self._seen_evicted or pod.status.reason != EVICTED or not pod.is_finished:
            return
        self._seen_evicted.add(uid)
        # Those of before the first round have gone long ago.
        if self.report is not None and uid not in self._leaving:
            self.evicted(uid, elapsed)
            # The kubelet has chosen by the same numbers.
            self.victims = {who: one for who, one in self.victims.items() if who in self._running}

    @property
    def pressed(self) -> list[str]:
        """Signals of the thresholds that are met and do not only tell; none where it is unknown."""
        if self.unknown or self.report is None:
            return []
        met = (one.threshold for one in self.report.thresholds if one.met)
        return [one.signal for one in met if not one.dry_run]

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        self._seen_evicted.discard(uid)
        self._leaving.pop(uid, None)


class Planned(Round):
    """What the last round of a node says of its pods."""

    def __init__(self, watched: WatchedNode) -> None:
        self._victims, self._spared = watched.victims, watched.spared
        self._unknown = watched.unknown

    def of(self, pod: Pod) -> Finding | None:
        """See Round."""
        found = self._victims.get(pod.metadata.uid)
        if found is not None:
            return found
        return self._spared or unmeasured(self._unknown)


def measured_at(node: NodeStats) -> datetime | None:
    """When the oldest of what a node tells of itself was measured; None: it does not say."""
    images = None if node.runtime is None else node.runtime.image_fs
    parts = (node.memory, node.fs, images)
    times = [one.time for one in parts if one is not None and one.time is not None]
    return min(times, default=None)
