"""The worker as a whole: what owns what, how it starts, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Literal

import structlog

from bailiff.decisions.policies import NO_POLICIES
from bailiff.worker.annotator import Annotator
from bailiff.worker.attempt import Attempt
from bailiff.worker.audit import AuditLog
from bailiff.worker.backlog import Backlog
from bailiff.worker.condition_resets import ConditionResets
from bailiff.worker.devices import RuleStatusWriter
from bailiff.worker.election import Election, Unopposed
from bailiff.worker.evaluator import Evaluator
from bailiff.worker.eviction import State
from bailiff.worker.executor import Executor
from bailiff.worker.freshness import Freshness
from bailiff.worker.gate import Gate
from bailiff.worker.gauges import export_freshness, export_lead, export_picture
from bailiff.worker.leadership import Leadership
from bailiff.worker.liveness import Liveness
from bailiff.worker.metrics import WorkerMetrics
from bailiff.worker.mirror import pod_key
from bailiff.worker.pending import PendingEvictions
from bailiff.worker.recorder import Recorder
from bailiff.worker.sharding import HeldShard
from bailiff.worker.sources import feed
from bailiff.worker.telling import Teller

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from prometheus_client import CollectorRegistry

    from bailiff.clock import Clock
    from bailiff.cluster import WatchHealth
    from bailiff.decisions.policies import PauseNotice, Policies, Unknown
    from bailiff.kinds import Node, Pod
    from bailiff.worker.actions import Actions
    from bailiff.worker.first_seen import WantedNote
    from bailiff.worker.settings import WorkerSettings
    from bailiff.worker.sources import EventSource, Follower

# Of the grace period; the rest is for the release of the Lease, of three requests at most.
_DRAIN_SHARE = 0.75

log = structlog.get_logger(__name__)


class Worker:
    """Mirrors a cluster and evicts its pods when the core says so."""

    def __init__(
        self,
        actions: Actions,
        clock: Clock,
        registry: CollectorRegistry,
        settings: WorkerSettings,
        election: Election | None = None,
        audit_log: Path | None = None,
        policies: Policies = NO_POLICIES,
        held: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """Wire the parts; nothing runs yet.

        Args:
            actions: what is done to the cluster; fenced by the election, if there is one.
            clock: for both kinds of time.
            registry: for metrics.
            settings: see there.
            election: tells whether this worker acts; None for the only one of its shard.
            audit_log: where evictions are written down, see AuditLog; None: nowhere.
            policies: to begin with, see `set_policies`.
            held: seconds for which the API server is to be left alone, see `Cluster.held`.
        """
        self._settings = settings
        self._clock = clock
        self.election = election or Unopposed()
        self.share = HeldShard(settings.shards)
        self.metrics = WorkerMetrics(registry, on_paper=settings.on_paper)
        self.liveness = Liveness(clock, self.metrics.loop_lag.observe)
        self.recorder = Recorder(actions, clock, self.metrics, self._overdue)
        self.audit = AuditLog(audit_log, self.metrics) if audit_log else None
        self.condition_resets = ConditionResets(actions, clock)
        self.teller = Teller(
            self.recorder,
            self.audit,
            self.metrics,
            clock,
            self.election.may_act,
            self.condition_resets.request,
        )
        self.pending = PendingEvictions(clock, self._wake)
        self.pending.on_spared = self.condition_resets.request
        self.evaluator = Evaluator(
            self.pending,
            clock,
            settings.options,
            self.teller.cancelled,
            self._look_at_note,
            self.share.owns,
        )
        self.annotator = Annotator(actions, self.metrics, clock, self._wanted_note)
        self.gate = Gate(self.pending, self.evaluator, clock, self._wake, self.teller.held)
        self.evaluator.on_node = self.gate.surroundings.look_at_node
        self.attempt = Attempt(actions, clock, self.evaluator.finding)
        self.rule_status = RuleStatusWriter(
            self.evaluator.devices,
            actions,
            self.metrics,
            clock,
            settings.options,
            may_write=lambda: self.share.is_first and self.election.may_act(),
            write_timeout=settings.attempt_timeout,
        )
        self.teller.on_device_eviction = self.evaluator.devices.evicted.ours
        self.evaluator.devices.on_ready = self.rule_status.look_at_all
        self.executor = Executor(
            self.pending,
            self.gate,
            self.attempt,
            self.recorder,
            self.metrics,
            clock,
            reevaluate=lambda pod: self.evaluator.look_at_pods((pod_key(pod),)),
            concurrency=settings.concurrency,
            attempt_timeout=settings.attempt_timeout,
            may_act=self.election.may_act,
            held=held,
            on_executed=self.teller.executed,
            on_spared=self.condition_resets.request,
            on_paper=settings.on_paper,
        )
        self.leadership = Leadership(
            self.share,
            self.evaluator,
            self.pending,
            self.executor,
            self.attempt,
            self.annotator,
            self.condition_resets,
            self.rule_status,
            self.metrics,
        )
        self.backlog = Backlog(self.pending, self.gate)
        registry.register(self.backlog)
        export_picture(self.metrics, self.evaluator, self.pending)
        export_lead(self.metrics, self.election, self.share, clock)
        if policies != NO_POLICIES:
            self.set_policies(policies)

    async def run(
        self,
        pods: EventSource[Pod],
        nodes: EventSource[Node],
        stop: asyncio.Event,
        devices: Follower | None = None,
    ) -> None:
        """Work until `stop` is set, then drain within the grace period.

        Args:
            pods: their events.
            nodes: their events.
            stop: see above.
            devices: keeps `evaluator.devices` in step with the cluster; None: nobody does, and
                no pod is evicted by the taints of its devices.

        Raises:
            ExceptionGroup: a part failed in a way it should not; the process should end, so that
                whoever supervises it starts a fresh one.
        """
        async with asyncio.TaskGroup() as group:
            parts = [
                group.create_task(feed(nodes, self.evaluator.apply_node), name="watch nodes"),
                group.create_task(feed(pods, self.evaluator.mirror.apply_pod), name="watch pods"),
                group.create_task(self.evaluator.run(), name="evaluator"),
                group.create_task(self._resync(), name="resync"),
            ]
            if devices is not None:
                parts.append(group.create_task(devices.run(), name="devices"))
            writers = [
                group.create_task(self.recorder.run(), name="recorder"),
                group.create_task(self.condition_resets.run(), name="condition resets"),
                group.create_task(self.annotator.run(), name="annotator"),
                group.create_task(self.rule_status.run(), name="rule status"),
            ]
            if self.audit is not None:
                writers.append(group.create_task(self.audit.run(), name="audit"))
            election = group.create_task(self.election.run(self.leadership), name="election")
            executor = group.create_task(self.executor.run(), name="executor")
            self.liveness.expect((*parts, *writers, election, executor))
            await stop.wait()
            grace_ends = asyncio.get_running_loop().time() + self._settings.shutdown_grace
            self.liveness.expect(())
            log.info("worker stops", running=self.pending.count(State.RUNNING))
            for part in parts:
                part.cancel()
            await self._drain(executor)
            for part in (executor, *writers, election):
                part.cancel()
        # Only now, when nothing of ours is under way any more.
        await self._release(grace_ends)

    def trust(
        self,
        watches: Mapping[str, WatchHealth],
        read_node: Callable[[str], Awaitable[Node]] | None = None,
    ) -> Freshness:
        """How far the mirror is to be believed, by the health of the watches that feed it.

        `read_node` is asked instead, before an eviction, where that of nodes may be behind.
        """
        if read_node is not None:
            self.attempt.fresh_nodes.follow(watches["nodes"], read_node)
        freshness = Freshness(watches, self._clock, self._settings.stale_after)
        export_freshness(self.metrics, freshness, watches)
        return freshness

    def set_policies(self, policies: Policies) -> None:
        """Obey these from now on: evictions that run go on, those that wait are looked at anew."""
        needs_cause = policies.blast_radius is not None
        if needs_cause != (self.gate.surroundings.policies.blast_radius is not None):
            self.evaluator.explain(needs_cause)
        self.attempt.eviction_api = policies.eviction_api
        self.gate.set_policies(policies)

    def set_pause(self, notice: PauseNotice | Literal[Unknown.UNKNOWN] | None) -> None:
        """Everything is paused, or nothing, or nobody knows yet; of no meaning without the policy.

        A notice that ends by itself need not be taken back.
        """
        self.gate.set_pause(notice)

    def set_namespaces(
        self, labels: Mapping[str, Mapping[str, str]] | Literal[Unknown.UNKNOWN]
    ) -> None:
        """The labels of each namespace by its name; say so again when they change."""
        self.gate.set_namespaces(labels)

    def role(self) -> dict[str, Any]:
        """What this worker is among its like, as /v1/queue tells it."""
        shard = self.share.shard
        return {
            "leader": self.election.may_act(),
            "holder": self.election.holder,
            "shard": None if shard is None else shard.index,
            "shards": self.share.count,
        }

    async def _drain(self, executor: asyncio.Task[None]) -> None:
        """Let running evictions and waiting writes end, as far as the grace period goes."""
        self.executor.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.shutdown_grace * _DRAIN_SHARE):
                await asyncio.gather(asyncio.wait([executor]), self._drain_writers())
                # What the last evictions have left to be written.
                await self._drain_writers()

    async def _drain_writers(self) -> None:
        # Together: one that hangs costs the others nothing.
        drained = [self.condition_resets.drain(), self.recorder.drain(), self.annotator.drain()]
        if self.audit:
            drained.append(self.audit.drain())
        await asyncio.gather(*drained)

    async def _release(self, until: float) -> None:
        try:
            async with asyncio.timeout_at(until):
                await self.election.release()
        except TimeoutError:
            log.warning("lease not released within the grace period, it will run out")

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(self._settings.resync_interval)
            self.evaluator.mark_all()
            self.rule_status.look_again()

    def _look_at_note(self, node: str) -> None:
        self.annotator.look_at(node)

    def _wanted_note(self, name: str) -> WantedNote | None:
        node = self.evaluator.mirror.node(name)
        ours = self.share.owns(name) and self.election.may_act()
        writes = self._settings.persist_observations and ours
        return self.evaluator.first_seen.wanted_note(node) if writes and node is not None else None

    def _overdue(self) -> bool:
        due = self.pending.next_due()
        return due is not None and due <= self._clock.elapsed()

    def _wake(self) -> None:
        self.executor.wake()
