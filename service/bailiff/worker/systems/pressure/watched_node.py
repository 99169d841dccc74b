"""One node that is watched: what is known of it, and when it may be judged again.

A round is planned once for each summary, when it comes, and its result is kept until the next: so
by one measurement one round goes, however often the worker looks at the node meanwhile. From the
moment that an eviction begins there is no round until the pod has left the node, or its grace
period and half a minute have passed, since what is measured meanwhile tells of memory that is about
to be free (killPodNow and waitForPodsCleanup in pkg/kubelet). The same holds after an eviction by
the node's own kubelet: two that choose by the same numbers must not take two pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions import Round
from bailiff.decisions.pressure.choosing import is_nearly_gone
from bailiff.decisions.pressure.findings import ENDS_ALREADY, EVICTED, unmeasured
from bailiff.decisions.pressure.memory import LONGEST_BREAK, Noted
from bailiff.decisions.pressure.observations import measured_at
from bailiff.decisions.pressure.state import PressureState, SignalState
from bailiff.worker.systems.pressure.leaving import Leaving

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bailiff.clock import Moment
    from bailiff.decisions import Finding
    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.decisions.pressure.memory import Memory
    from bailiff.decisions.pressure.report import PressureReport
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import NodeStats

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
        waits: why nobody goes though the last round has chosen somebody; empty: there is no reason.
        unknown: why nothing is known of the node; empty: something is.
        publishes: the node's conditions are written by us.
        told: when Events that may be repeated were told last, by what tells them apart and elapsed
            time.
        leaving: pods that are evicted and may still use what they had.
        layout: of the node's file systems, as the first round found it by sizes of both: a kubelet
            looks once, too; None: not known, or nothing has been known of the node since.
    """

    def __init__(self, name: str, uid: str, longest_break: float = LONGEST_BREAK) -> None:
        """A node of which nothing is known yet; `longest_break` as of Memory.resumed."""
        self.name = name
        self.uid = uid
        self.state = PressureState()
        self.report: PressureReport | None = None
        self.victims: Mapping[str, Finding] = {}
        self.spared: Finding | None = None
        self.by_hard = False
        self.waits = ""
        self.unknown = NEVER_READ
        self.publishes = False
        self.told: dict[tuple[str, ...], float] = {}
        self.leaving = Leaving()
        self.layout: FileSystemLayout | None = None
        self._longest_break = longest_break
        # What another worker, or this one before, has noted, until the first round goes on by it.
        self._memory: Memory | None = None
        self._measured: datetime | None = None
        # When that was first seen, by elapsed time.
        self._seen_at = 0.0
        # Whose eviction has begun, and not come to an end.
        self._running: set[str] = set()
        # Of those whoever is gone by now.
        self._gone: set[str] = set()
        # When the last round was, by elapsed time.
        self._judged_at = 0.0
        # The measurements by which somebody went last, as far as there are no newer ones.
        self._acted_on: tuple[SignalState, ...] = ()
        # Who was chosen in the last round and had not begun to go when the next one came.
        self._begun: set[str] = set()
        self._unmeasured: frozenset[str] = frozenset()
        # Since when the heartbeat of the node's conditions stands still, by elapsed time.
        self._heartbeat: datetime | None = None
        self._still_since: float | None = None

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

    def recall(self, memory: Memory) -> None:
        """Go on where another worker has stopped, or this one before it was started anew."""
        self._memory, self.publishes = memory, memory.publishes
        self._acted_on = memory.state.signals

    def state_at(self, moment: Moment) -> PressureState:
        """What the last round has left, for one at this moment.

        A threshold counts as met without a break only while somebody looks: it may have been over
        for an hour of which nothing is known. The first time it is what was noted.
        """
        if self._memory is not None:
            # Until a round has been planned: this one may come to nothing.
            longest = self._longest_break
            self.state = self._memory.resumed(moment.now, self._measured, longest)
            return self.state
        if moment.elapsed - self._judged_at <= self._longest_break:
            return self.state
        return replace(self.state, thresholds=())

    def judged_ago(self, elapsed: float) -> float:
        """Seconds since the last round."""
        return elapsed - self._judged_at

    @property
    def noted(self) -> Noted:
        """What a restart has to know beside the state."""
        return Noted(self._measured, self.publishes, self._acted_on)

    def lose_sight(self, why: str) -> bool:
        """Nothing is known of the node any more; whether that is news."""
        is_news, self.unknown = self.unknown in ("", NEVER_READ), why
        self.victims, self.spared, self.layout = {}, None, None
        # Its kubelet may have been down, and writes its conditions when it is back.
        self._still_since = None
        return is_news

    def take(
        self,
        report: PressureReport,
        victims: Mapping[str, Finding],
        spared: Finding,
        *,
        by_hard: bool,
        elapsed: float,
        unmeasured: frozenset[str] = frozenset(),
    ) -> None:
        """A round has been planned; of the pods of `unmeasured` nothing was measured."""
        self._unmeasured = unmeasured
        self.note(report, elapsed)
        self.victims, self.spared, self.by_hard = victims, spared, by_hard
        self._begun = set()

    def note(self, report: PressureReport, elapsed: float) -> None:
        """What a round leaves for the next one; whoever was chosen before it still goes."""
        self._judged_at, self._memory = elapsed, None
        self.unknown = ""
        # A round takes its victims for gone; here a cool-down begins when they are. That it begins
        # in the future no round believes.
        before, after = self.state.last_eviction_at, report.next.last_eviction_at
        last = before and after and min(before, after)
        self.state, self.report = replace(report.next, last_eviction_at=last), report
        self._acted_on = tuple(one for one in self._acted_on if one in report.next.signals)

    @property
    def held(self) -> frozenset[str]:
        """Who was chosen in the last round and has not begun to go, as where a policy holds it."""
        return frozenset(self.victims) - self._begun

    def may_be_judged(self) -> bool:
        """Whether no eviction is under way, and whoever was evicted has left the node."""
        return not self._running and not self.leaving

    def began(self, uid: str) -> None:
        """The eviction of this pod is tried; what it goes by must not serve once more."""
        self._running.add(uid)
        self._begun.add(uid)
        if self.report is not None:
            self._acted_on = self.report.next.signals

    def failed(self, uid: str) -> None:
        """It was not evicted, and may be tried again."""
        self._running.discard(uid)
        self._gone.discard(uid)

    def gone(self, uid: str, now: datetime) -> None:
        """A pod of the node is gone from the API.

        Args:
            uid: of the pod.
            now: in UTC, by the wall clock.
        """
        if uid in self._running:
            # Its eviction will be told to have come to its end.
            self._gone.add(uid)
        if uid in self._running or uid in self.leaving:
            self.leaving.left(now)
        self.leaving.forget(uid)

    def evicted(self, uid: str, elapsed: float, grace: float = 0.0) -> None:
        """It is evicted. Who was chosen with it still goes, nobody else before the next round.

        Args:
            uid: of the pod.
            elapsed: seconds, by the clock's `elapsed`.
            grace: seconds that it was given to end.
        """
        self._running.discard(uid)
        if uid not in self._gone:
            self.leaving.add(uid, elapsed, grace, measured=uid not in self._unmeasured)
        self._gone.discard(uid)
        self.victims = {other: one for other, one in self.victims.items() if other != uid}

    def cools_from(self, now: datetime) -> None:
        """A pod went by rank, so that a cool-down begins, counted as rounds count time."""
        self.state = replace(self.state, last_eviction_at=now)

    def see(self, pod: Pod, elapsed: float) -> None:
        """A pod of the node has changed; it may be that the node's kubelet has evicted it."""
        uid = pod.metadata.uid
        if pod.status.reason != EVICTED or not pod.is_finished or not self.leaving.has_looked:
            # Those of before the first round are looked for by itself.
            return
        # Our own write may be seen before it is answered.
        is_news = self.leaving.is_news(uid) and uid not in self.leaving
        if is_news and uid not in self._running:
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

    def still_for(self, heartbeat: datetime | None, elapsed: float) -> float:
        """Seconds for which nobody has been seen to write the node's conditions.

        Args:
            heartbeat: the latest that they have.
            elapsed: seconds, by the clock's `elapsed`.
        """
        if heartbeat != self._heartbeat or self._still_since is None:
            self._heartbeat, self._still_since = heartbeat, elapsed
        return elapsed - self._still_since


class Planned(Round):
    """What the last round of a node says of its pods."""

    # A pod that is ending may be given less time to end than it has.
    hastens = True

    def __init__(self, watched: WatchedNode, now: datetime, why_not: str = "") -> None:
        """Say what it says; nothing of anybody where there is a reason not to go by it.

        Args:
            watched: the node.
            now: in UTC, by the wall clock.
            why_not: the reason; empty: there is none.
        """
        self._now = now
        self._victims = {} if why_not else watched.victims
        self._spared = None if why_not else watched.spared
        self._unknown = why_not or watched.unknown

    def of(self, pod: Pod) -> Finding | None:
        """See Round."""
        found = self._victims.get(pod.metadata.uid)
        if found is not None:
            # It may have been hastened by an attempt that had no answer.
            grace = found.grace_period_seconds or 0
            return ENDS_ALREADY if is_nearly_gone(pod, grace, self._now) else found
        return self._spared or unmeasured(self._unknown)
