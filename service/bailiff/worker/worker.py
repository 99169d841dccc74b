"""The worker as a whole: what owns what, how it starts, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import structlog

from bailiff.decisions.policies import NO_POLICIES
from bailiff.tracing import NO_TRACER
from bailiff.worker.execute.attempt import Attempt
from bailiff.worker.execute.condition_resets import ConditionResets
from bailiff.worker.execute.executor import Executor
from bailiff.worker.gate import Gate
from bailiff.worker.gate.consent import Consent
from bailiff.worker.gate.recounts import Recounts
from bailiff.worker.lead.election import Election, Unopposed
from bailiff.worker.lead.leadership import Leadership
from bailiff.worker.lead.sharding import HeldShard
from bailiff.worker.mirror.freshness import Freshness
from bailiff.worker.mirror.mirror import Mirror
from bailiff.worker.mirror.watching import feed
from bailiff.worker.observe.audit import AuditLog
from bailiff.worker.observe.backlog import Backlog
from bailiff.worker.observe.gauges import export_freshness, export_lead, export_picture
from bailiff.worker.observe.liveness import Liveness
from bailiff.worker.observe.metrics import WorkerMetrics
from bailiff.worker.observe.recorder import Recorder
from bailiff.worker.observe.telling import Teller
from bailiff.worker.systems import SYSTEMS
from bailiff.worker.systems.system import Parts, by_name
from bailiff.worker.timers.evaluator import Evaluator
from bailiff.worker.timers.marks import Marks
from bailiff.worker.timers.pending import PendingEvictions
from bailiff.worker.timers.states import State

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from prometheus_client import CollectorRegistry

    from bailiff.actions.ports import Actions
    from bailiff.clock import Clock
    from bailiff.cluster import WatchHealth
    from bailiff.decisions.policies import PauseNotice, Policies, Unknown
    from bailiff.kinds import Node, Pod
    from bailiff.tracing import Tracer
    from bailiff.worker.gate.consent import Shared
    from bailiff.worker.mirror.watching import EventSource
    from bailiff.worker.settings import WorkerSettings
    from bailiff.worker.systems import MakeSystem
    from bailiff.worker.systems.system import Source, Work, Writer

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
        systems: Sequence[MakeSystem] = SYSTEMS,
        source: Source | None = None,
        shared: Shared | None = None,
        tracer: Tracer = NO_TRACER,
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
            systems: makes each of those that say who is to go; they are asked in this order.
            source: where they find what is neither pod nor node; None: they follow nothing else.
            shared: with all others that evict; None: nothing is.
            tracer: makes spans.
        """
        self._settings = settings
        self.clock = clock
        # Set when there may be something to do earlier than the executor knows.
        self._earlier = asyncio.Event()
        self.election = election or Unopposed()
        self.held_shard = HeldShard(settings.shards)
        self.metrics = WorkerMetrics(registry, on_paper=settings.on_paper)
        self.liveness = Liveness(clock, self.metrics.loop_lag)
        self.mirror, self.marks = Mirror(), Marks(self.held_shard)
        parts = Parts(
            actions=actions,
            clock=clock,
            registry=registry,
            metrics=self.metrics,
            settings=settings,
            election=self.election,
            held_shard=self.held_shard,
            mirror=self.mirror,
            marks=self.marks,
            source=source,
            tracer=tracer,
        )
        self.systems = by_name([make(parts) for make in systems])
        self.metrics.expect(self.systems)
        audit = AuditLog(audit_log, self.metrics, on_paper=settings.on_paper) if audit_log else None
        self._wire(parts, audit, shared.on_paper() if shared and settings.on_paper else shared)
        registry.register(self.backlog)
        export_picture(self.metrics, self.evaluator, self.pending)
        export_lead(self.metrics, self.election, self.held_shard, clock)
        if policies != NO_POLICIES:
            self.set_policies(policies)

    def _wire(self, parts: Parts, audit: AuditLog | None, shared: Shared | None) -> None:
        """Put together what an eviction goes through, each with those that it tells."""
        actions, clock = parts.actions, parts.clock
        self.audit = audit
        self.condition_resets = ConditionResets(actions, clock)
        self._writers: dict[str, Writer] = {"condition resets": self.condition_resets}
        for system in self.systems.values():
            # By the system's name, too: two may both have a "state".
            self._writers |= {f"{system.name} {name}": w for name, w in system.writers().items()}
        self.pending = PendingEvictions(clock, self._earlier, self.condition_resets)
        self.recorder = Recorder(actions, clock, self.metrics, self.pending, parts.tracer)
        self.teller = Teller(parts, self.systems, self.recorder, audit, self.condition_resets)
        self.evaluator = Evaluator(
            self.systems,
            self.mirror,
            self.marks,
            self.pending,
            clock,
            self.teller,
            self._settings.options,
        )
        self.gate = Gate(self.pending, self.evaluator, clock, self.teller, self._earlier)
        self.attempt = Attempt(actions, clock, self.evaluator)
        self._recounts = Recounts(self.gate, shared)
        consent = Consent(self.gate.facts, shared, clock)
        self.executor = Executor(
            parts, self.pending, self.gate, self.attempt, consent, self.teller, self._earlier
        )
        self.leadership = Leadership(
            parts,
            self.systems,
            self.evaluator,
            self.pending,
            self.attempt,
            self._writers,
            self._earlier,
        )
        self.backlog = Backlog(self.pending, self.gate)

    async def run(
        self, pods: EventSource[Pod], nodes: EventSource[Node], stop: asyncio.Event
    ) -> None:
        """Work until `stop` is set, then drain within the grace period.

        Args:
            pods: their events.
            nodes: their events.
            stop: see above.

        Raises:
            ExceptionGroup: a part failed in a way it should not; the process should end, so that
                whoever supervises it starts a fresh one.
        """
        async with asyncio.TaskGroup() as group:
            parts = self._start(group, self._parts(pods, nodes))
            writers = self._start(group, self._works_beside())
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

    def _start(
        self, group: asyncio.TaskGroup, works: Mapping[str, Work]
    ) -> list[asyncio.Task[None]]:
        return [group.create_task(work(), name=name) for name, work in works.items()]

    def _parts(self, pods: EventSource[Pod], nodes: EventSource[Node]) -> dict[str, Work]:
        """What ends as soon as the worker is to stop."""
        works: dict[str, Work] = {
            "watch nodes": partial(feed, nodes, self.mirror.apply_node),
            "watch pods": partial(feed, pods, self.mirror.apply_pod),
            "evaluator": self.evaluator.run,
            "resync": self._resync,
            "recounts": self._recounts.run,
        }
        for system in self.systems.values():
            works |= {f"{system.name} {name}": w for name, w in system.followers().items()}
        return works

    def _works_beside(self) -> dict[str, Work]:
        """What writes besides evictions, and may end what it has begun."""
        works: dict[str, Work] = {name: one.run for name, one in self._writers.items()}
        works["recorder"] = self.recorder.run
        if self.audit is not None:
            works["audit"] = self.audit.run
        return works

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
        freshness = Freshness(watches, self.clock, self._settings.stale_after)
        export_freshness(self.metrics, freshness, watches)
        return freshness

    def set_policies(self, policies: Policies) -> None:
        """Obey these from now on: evictions that run go on, those that wait are looked at anew."""
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
        shard = self.held_shard.shard
        return {
            "leader": self.election.may_act(),
            "holder": self.election.holder,
            "shard": None if shard is None else shard.index,
            "shards": self.held_shard.count,
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
        drained = [self.recorder.drain(), *(one.drain() for one in self._writers.values())]
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
            for system in self.systems.values():
                system.look_again()
