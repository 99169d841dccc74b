"""The loop: one round after the other, never two, and never beside a clean-up.

As Start and synchronize in pkg/kubelet/eviction/eviction_manager.go: a round every ten seconds, or
at once where the kernel has noticed something; after an eviction nothing until the pod is gone, for
half a minute at most, and then the next round at once.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.agent.evicting import Fate
from bailiff.agent.judge import Circumstances, oldest
from bailiff.agent.reading import ReadingError
from bailiff.clock import Moment, SteadyTime
from bailiff.decisions.cost import FactsError
from bailiff.decisions.pressure.findings import went_by_rank
from bailiff.decisions.pressure.observations import measured_at

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.agent.evicting import Evictor
    from bailiff.agent.judge import Judge, Judged
    from bailiff.agent.log import Log
    from bailiff.agent.metrics import AgentMetrics
    from bailiff.agent.node_facts import NodeFacts
    from bailiff.agent.notices.notifier import Notifier
    from bailiff.agent.reading import Reading, Reclaimer, Source
    from bailiff.agent.remembering import Remembering
    from bailiff.agent.settings import AgentSettings
    from bailiff.agent.standing import Standing
    from bailiff.agent.telling import Teller
    from bailiff.agent.wake import Wake
    from bailiff.clock import Clock
    from bailiff.decisions.decision import Finding
    from bailiff.kinds import Pod

# Seconds, podCleanupTimeout and podCleanupPollFreq of pkg/kubelet/eviction/eviction_manager.go.
_CLEAN_UP = 30.0
_LOOK_EVERY = 1.0
# Seconds until the next round after an eviction that failed: the node is still under pressure.
_AFTER_FAILURE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything that a round needs.

    Attributes:
        settings: the operator's.
        clock: of the machine.
        source: measures the node.
        facts: what the API server, and the kubelet, say of it.
        judge: plans.
        reclaimer: frees what can be freed without a pod; None: nothing can be.
        evictor: evicts.
        teller: writes Events and conditions.
        notifier: of the kernel.
        remembering: for after a restart.
        standing: for who asks.
        metrics: are counted.
        wake: tells when a round is due before its time.
        log: hears what is done.
    """

    settings: AgentSettings
    clock: Clock
    source: Source
    facts: NodeFacts
    judge: Judge
    reclaimer: Reclaimer | None
    evictor: Evictor
    teller: Teller
    notifier: Notifier
    remembering: Remembering
    standing: Standing
    metrics: AgentMetrics
    wake: Wake
    log: Log


class Rounds:
    """Runs them, in one task."""

    def __init__(self, parts: Parts) -> None:
        """Begin with the first round, as soon as `run` is called."""
        self._parts = parts
        self._steady = SteadyTime(parts.clock)
        self._measured: datetime | None = None
        self._seen_at: float | None = None
        self._ends = False

    def end(self) -> None:
        """No more rounds: `run` returns as soon as an eviction that is under way has ended."""
        self._ends = True
        self._parts.wake.notice("end")

    async def run(self) -> None:
        """Rounds until `end` is called."""
        pause = 0.0
        while True:
            by, ago = await self._parts.wake.wait(pause)
            if self._ends:
                return
            self._parts.metrics.begun(by, ago)
            began = self._parts.clock.monotonic()
            self._parts.log.debug("round", by=sorted(by), monotonic=began)
            pause = await self.one()

    async def one(self) -> float:
        """One round, with what it comes to; seconds until the next is due by time."""
        parts = self._parts
        try:
            await parts.facts.refresh()
            reading = await parts.source.read(parts.facts.pods)
            self._check_age(reading)
            circumstances = self._circumstances()
            judged = parts.judge.judge(reading, circumstances)
            if judged.report.reclaim and parts.reclaimer is not None and not judged.victims:
                judged = await self._after_reclaim(judged, reading, circumstances)
        except ReadingError as error:
            return self._lose_sight(error.reason, error.message)
        except FactsError as error:
            return self._lose_sight("configuration", f"its configuration cannot be: {error}")
        except Exception:
            parts.log.exception("a round could not be planned")
            return self._lose_sight("failed", "a round could not be planned, see the log")
        parts.judge.take(judged, reading, parts.clock.elapsed())
        self._tell(judged)
        gone = await self._evict(judged)
        parts.remembering.note(parts.judge.note(circumstances.moment.now))
        if gone is None:
            return parts.settings.interval
        return 0.0 if gone else _AFTER_FAILURE

    def _circumstances(self) -> Circumstances:
        parts = self._parts
        moment = Moment(self._steady.now(), parts.clock.elapsed())
        return Circumstances(
            node=parts.facts.node,
            pods=oldest(parts.facts.pods),
            configuration=parts.facts.configuration,
            moment=moment,
            wall=parts.clock.now(),
            found_layout=parts.source.layout(),
        )

    def _check_age(self, reading: Reading) -> None:
        """Refuse what was measured long ago, counted by our own time since it last moved.

        Raises:
            ReadingError: nothing new was measured for too long.
        """
        measured, elapsed = measured_at(reading.node), self._parts.clock.elapsed()
        if self._seen_at is None or measured is None or measured != self._measured:
            self._measured, self._seen_at = measured, elapsed
        age = elapsed - self._seen_at
        if age > self._parts.settings.stale_after:
            raise ReadingError("stale", f"nothing new was measured for {age:.0f} s")

    async def _after_reclaim(
        self, judged: Judged, reading: Reading, circumstances: Circumstances
    ) -> Judged:
        """The same round, once the node has freed what it can.

        Raises:
            ReadingError: it could not be measured anew, so that nobody goes.
        """
        parts = self._parts
        assert parts.reclaimer is not None  # noqa: S101 - the one caller has looked
        parts.teller.tell(judged.report.events)
        await parts.reclaimer.free(judged.report.reclaim)
        again = await parts.source.read_anew(parts.facts.pods)
        return parts.judge.judge(reading, circumstances, again)

    def _lose_sight(self, reason: str, why: str) -> float:
        parts = self._parts
        if parts.standing.lose_sight(why):
            parts.log.warning("nobody is evicted", why=why)
        parts.metrics.unknown(reason)
        return parts.settings.interval

    def _tell(self, judged: Judged) -> None:
        parts = self._parts
        parts.standing.judged(judged, parts.clock.now())
        parts.metrics.judged(judged.report)
        parts.teller.tell(judged.report.events)
        parts.teller.publish(judged.report.conditions)
        parts.notifier.rearm(judged.marks)

    async def _evict(self, judged: Judged) -> bool | None:
        """Whether somebody has gone; None: nobody was to go."""
        if not judged.victims:
            return None
        went = [await self._evict_one(pod, found, judged) for pod, found in judged.victims]
        if self._parts.settings.on_paper:
            # Nobody leaves, so there is nothing to wait for, and nothing to follow up.
            return None
        for (pod, _), has in zip(judged.victims, went, strict=True):
            if has:
                await self._clean_up(pod)
        return any(went)

    async def _evict_one(self, pod: Pod, found: Finding, judged: Judged) -> bool:
        parts = self._parts
        parts.standing.chosen(pod, found, parts.clock.now())
        if parts.settings.shadow:
            return False
        hard = judged.is_hard and went_by_rank(found)
        fate = await parts.evictor.evict(pod, found, hard=hard)
        parts.metrics.evicted(found.cause, fate)
        if fate is Fate.STOPPED:
            parts.remembering.stopped(pod, found)
        elif fate is Fate.EVICTED:
            parts.teller.evicted(pod, found)
        return fate is not Fate.FAILED

    async def _clean_up(self, pod: Pod) -> None:
        """Wait until the pod uses nothing any more (waitForPodsCleanup)."""
        until = self._parts.clock.elapsed() + _CLEAN_UP
        while self._parts.clock.elapsed() < until and not self._ends:
            if self._has_gone(pod.metadata.uid):
                return
            await asyncio.sleep(_LOOK_EVERY)
        if not self._ends:
            self._parts.log.info("has not left yet", pod=pod.key, seconds=_CLEAN_UP)

    def _has_gone(self, uid: str) -> bool:
        """By what the node says, else by the API server."""
        gone = self._parts.source.has_gone(uid)
        if gone is None:
            return all(one.metadata.uid != uid for one in self._parts.facts.pods)
        return gone
