"""What the in-tree controller did, held against what we decided.

Each pod comes to one of these, by the in-tree controller's deed against our decision:

    agreed   both, within the tolerance
    early    it evicted before the pod was due
    late     it evicted after the pod was due
    extra    it evicted a pod that may stay
    missed   the pod was due, and it has not evicted it within the patience

A pod that somebody else deletes comes to nothing. So does one that would be early, if its node has
a taint without timeAdded that was there before we looked: nobody can say since when.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import structlog
from msgspec.structs import replace

from bailiff.decisions import Verdict
from bailiff.decisions.text import describe_time
from bailiff.kinds import Time
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.clock import Clock
    from bailiff.decisions import Finding
    from bailiff.kinds import Pod
    from bailiff.worker.systems.system import SystemInWorker
    from bailiff.worker.worker import Worker

# Disagreements that are kept to be shown.
_KEPT = 1000
_SWEEP_SECONDS = 1.0
# Until the first look: what comes before it counts as there before us.
_LOOK_SECONDS = 0.05

log = structlog.get_logger(__name__)


class Result(StrEnum):
    """See the module's table."""

    AGREED = "agreed"
    EARLY = "early"
    LATE = "late"
    EXTRA = "extra"
    MISSED = "missed"


class Disagreement(Value, frozen=True):
    """One pod that the two do not see alike.

    Attributes:
        result: what it came to.
        time: when that was found.
        pod: NAMESPACE/NAME.
        uid: the pod's.
        node: where it ran.
        seconds: by how much early or late; 0 for the others.
        reason: our finding's.
        message: the same for people.
    """

    result: Result
    time: Time
    pod: str
    uid: str
    node: str
    seconds: float
    reason: str
    message: str


class Comparison:
    """What the in-tree controller did, held against what we decided."""

    def __init__(self, clock: Clock, *, tolerance: float = 5.0, patience: float = 60.0) -> None:
        """Start empty.

        Args:
            clock: for both kinds of time.
            tolerance: seconds that the two may lie apart and still agree. 5: upstream counts from
                when it sees a taint, and writes times in whole seconds.
            patience: seconds until a due pod that is still there counts as missed. 60: more than
                a storm of some ten thousand evictions takes it.
        """
        self._clock = clock
        self._tolerance = tolerance
        self._patience = patience
        self._due: dict[str, tuple[float, Pod]] = {}
        # Evicted by the in-tree controller though the core knew no reason: the news of a node may
        # be a moment behind that of its pods, so these are looked at once more.
        self._doubtful: dict[str, tuple[float, datetime, Pod]] = {}
        self._judged: set[str] = set()
        self._since: datetime | None = None
        self._worker: Worker | None = None
        self.counts: Counter[Result] = Counter()
        self.disagreements: deque[Disagreement] = deque(maxlen=_KEPT)

    def look_at(self, worker: Worker) -> None:
        """Say who sees and judges pods, and where results are counted."""
        self._worker = worker

    def system_by_condition(self, pod: Pod) -> SystemInWorker | None:
        """The system whose in-tree controller has evicted the pod; None: somebody else has."""
        systems = () if self._worker is None else self._worker.systems.values()
        for system in systems:
            if system.condition is not None and pod.has_condition(system.condition):
                return system
        return None

    @property
    def remembered(self) -> int:
        """Pods that something is kept of; never more than there are, but for a moment."""
        return len(self._judged | self._due.keys() | self._doubtful.keys())

    def ours(self, pod: Pod) -> None:
        """By our decision the pod goes now."""
        if pod.metadata.uid not in self._judged:
            self._due.setdefault(pod.metadata.uid, (self._clock.monotonic(), pod))

    def theirs(self, pod: Pod) -> None:
        """The in-tree controller has evicted it, as seen just now."""
        uid = pod.metadata.uid
        if uid in self._judged or uid in self._doubtful or not self._is_ours(pod):
            return
        due = self._due.pop(uid, None)
        if due is not None:
            late = self._clock.monotonic() - due[0]
            self._judge(Result.LATE if late > self._tolerance else Result.AGREED, pod, late)
            return
        if not self._judge_by_core(pod, self._clock.now()):
            self._doubtful[uid] = (self._clock.monotonic(), self._clock.now(), pod)

    def pass_over(self, pod: Pod) -> None:
        """It was on its way out before we began to look."""
        self._judged.add(pod.metadata.uid)

    def left(self, pod: Pod) -> None:
        """It is gone for good."""
        self._due.pop(pod.metadata.uid, None)
        if pod.metadata.uid not in self._doubtful:
            self._judged.discard(pod.metadata.uid)

    def listed(self, uids: set[str]) -> None:
        """These are all the pods there are: others have left, and no watch has told."""
        self._judged &= uids
        for uid in self._due.keys() - uids:
            del self._due[uid]

    async def run(self) -> None:
        """Look for missed pods until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS if self._since is None else _SWEEP_SECONDS)
            self._sweep()

    def report(self, limit: int = 100) -> dict[str, Any]:
        """Since when we look (None: not yet), counts, and the latest disagreements."""
        latest = list(self.disagreements)[-limit:]
        return {
            "since": None if self._since is None else describe_time(self._since),
            "counts": {result.value: self.counts[result] for result in Result},
            "due": len(self._due),
            "remembered": self.remembered,
            "disagreements": [
                {"time": describe_time(one.time), "result": one.result.value}
                | {"pod": one.pod, "uid": one.uid, "node": one.node, "seconds": one.seconds}
                | {"reason": one.reason, "message": one.message}
                for one in reversed(latest)
            ],
        }

    def _judge_by_core(self, pod: Pod, at: datetime) -> bool:
        """Judge by what the core says of the pod, had nobody touched it; False if it may stay."""
        finding = self._finding_of(pod)
        if finding is None or finding.verdict is Verdict.KEEP:
            return False
        early = (finding.evict_at - at).total_seconds() if finding.evict_at is not None else 0.0
        if early > self._tolerance:
            self._judge_early(pod, early)
        else:
            self._judge(Result.AGREED if early >= -self._tolerance else Result.LATE, pod, -early)
        return True

    def _judge_early(self, pod: Pod, seconds: float) -> None:
        if self._since is None:
            self._look_around()
        system = self.system_by_condition(pod)
        if system is not None and system.start_is_unknown(pod):
            self.pass_over(pod)
        else:
            self._judge(Result.EARLY, pod, seconds)

    def _look_around(self) -> None:
        """As soon as there is something to see; what is there by then was there before us."""
        if self._worker is None or not self._worker.mirror.synced:
            return
        self._since = self._since or self._clock.now()
        for system in self._worker.systems.values():
            system.look_around()

    def _finding_of(self, pod: Pod) -> Finding | None:
        if self._worker is None:
            return None
        untouched = replace(pod.metadata, deletion_timestamp=None)
        return self._worker.evaluator.finding(replace(pod, metadata=untouched))

    def _sweep(self) -> None:
        self._look_around()
        now = self._clock.monotonic()
        for uid, (since, pod) in list(self._due.items()):
            if now - since >= self._patience:
                del self._due[uid]
                seen = self._seen(pod)
                if seen is not None and not seen.has_ended:
                    self._judge(Result.MISSED, pod, 0.0)
        for uid, (since, at, pod) in list(self._doubtful.items()):
            if now - since >= self._tolerance:
                del self._doubtful[uid]
                self._judge_doubtful(pod, at)

    def _judge_doubtful(self, pod: Pod, at: datetime) -> None:
        if not self._judge_by_core(pod, at):
            self._judge(Result.EXTRA, pod, 0.0)
        if self._seen(pod) is None:
            self._judged.discard(pod.metadata.uid)

    def _is_ours(self, pod: Pod) -> bool:
        return self._worker is not None and self._worker.marks.owns(pod.spec.node_name)

    def _seen(self, pod: Pod) -> Pod | None:
        """The pod as it is now; None if it has left."""
        if self._worker is None:
            return None
        seen = self._worker.mirror.pod((pod.metadata.namespace, pod.metadata.name))
        return seen if seen is not None and seen.metadata.uid == pod.metadata.uid else None

    def _judge(self, result: Result, pod: Pod, seconds: float) -> None:
        self._judged.add(pod.metadata.uid)
        self.counts[result] += 1
        if self._worker is not None:
            self._worker.metrics.shadow.labels(result.value).inc()
        if result is Result.AGREED:
            return
        finding = self._finding_of(pod)
        one = Disagreement(
            result=result,
            time=self._clock.now(),
            pod=pod.key,
            uid=pod.metadata.uid,
            node=pod.spec.node_name,
            seconds=round(seconds, 3),
            reason=finding.reason if finding else "",
            message=finding.message if finding else "its node is not known",
        )
        self.disagreements.append(one)
        log.warning("shadow disagrees", result=result.value, pod=one.pod, seconds=one.seconds)
