"""The worker process."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
from functools import partial
from typing import TYPE_CHECKING

import structlog
from msgspec.structs import replace

from bailiff.access import STATUS_RULES, GuardedInItsLoop, Rules
from bailiff.bootstrap.cluster import bounds_for, connect_to
from bailiff.bootstrap.guarding import guarding_of
from bailiff.bootstrap.health import probed
from bailiff.bootstrap.leases import lease_names, usual_lease_namespace
from bailiff.bootstrap.metrics import new_registry
from bailiff.bootstrap.node_loss import KEEP as NODE_LOSS_KEEP
from bailiff.bootstrap.node_loss import losing_of
from bailiff.bootstrap.observing import StatusPort
from bailiff.bootstrap.policy_news import policy_news
from bailiff.bootstrap.pressure import halves_with, pressing_of
from bailiff.bootstrap.process import freeze_start_up, listen
from bailiff.bootstrap.securing import followed, tls_of
from bailiff.bootstrap.tracing import traced
from bailiff.clock import Clock, SystemClock
from bailiff.cluster import (
    KEEP_LITTLE,
    NODES,
    ClusterClock,
    LeaseStore,
    SkewAlarm,
)
from bailiff.decisions import SYSTEMS
from bailiff.lookup import ClusterSource, GangBudgets, PodGroups
from bailiff.policy_file import PolicyFile
from bailiff.tally import Tally
from bailiff.worker import (
    ApiMetrics,
    ClusterActions,
    Comparison,
    Desk,
    Election,
    Elector,
    Observed,
    PolicyControl,
    ShadowActions,
    Shared,
    Source,
    Unopposed,
    VerdictLog,
    Watched,
    Watches,
    WatchMetrics,
    Worker,
    WorkerSettings,
    create_status_app,
    halves_of,
    refused_page,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from prometheus_client import CollectorRegistry
    from starlette.types import ASGIApp

    from bailiff.bootstrap.choices import Program
    from bailiff.bootstrap.guarding import Guarding
    from bailiff.bootstrap.settings import WorkSettings
    from bailiff.cluster import Cluster, ListWatch
    from bailiff.decisions import Systems
    from bailiff.kinds import Node
    from bailiff.serving import ThreadedHttpServer
    from bailiff.worker import Actions, PodWatch
    from bailiff.worker.observe.liveness import Liveness
    from bailiff.worker.policy.news import PolicyNews

log = structlog.get_logger(__name__)


def work(
    settings: WorkSettings, machine: Clock | None = None, systems: Systems = SYSTEMS
) -> Program:
    """A worker on the chosen cluster.

    Args:
        settings: see there.
        machine: the clocks of this machine; None: as they are.
        systems: those that say who is to go.

    Raises:
        PoliciesUnusableError: the file of policies holds none.
        SettingsError: the environment has a setting of the status port that cannot be.
        TlsUnusableError: the files of TLS do not serve.
        TokensUnusableError: the file of tokens does not serve.
        PressureUnusableError: what is said of the pressure mode cannot be.
        NodeLossUnusableError: what is said of the node-loss mode cannot be.
    """
    pressing, losing = pressing_of(settings.pressure), losing_of(settings.node_loss)
    clock, registry = ClusterClock(machine or SystemClock()), new_registry()
    policies = _policies(settings, clock, registry)
    port = StatusPort(registry)
    tls = tls_of(settings.access, registry)
    guarding = guarding_of(settings.access, settings.cluster, settings.host, registry)

    async def program(stop: asyncio.Event) -> None:
        freeze_start_up()
        if settings.dry_run or settings.shadow:
            # Each line of the log, whoever writes it, so that none reads like a deed.
            mode = "shadow" if settings.shadow else "dry run"
            structlog.contextvars.bind_contextvars(mode=f"{mode}, nothing is done")
        comparison = Comparison(clock) if settings.shadow else None
        api = ApiMetrics(registry)
        chosen_cluster = settings.cluster, bounds_for(settings.concurrency), (api, clock.answered)
        async with (
            traced(settings.tracing, "bailiff-worker", registry, log.warning) as tracer,
            probed(settings.probes, settings.host) as pulse,
            await connect_to(*chosen_cluster, tracer=tracer) as cluster,
            halves_with(pressing, cluster, clock) as halves,
        ):
            api.backoff.set_function(cluster.backoff)
            election = _election(cluster, clock, settings)
            actions = _actions(cluster, election, comparison, settings)
            tally = Tally(cluster.fenced(election.may_act), clock)
            gang_budgets = GangBudgets(ClusterSource(cluster, clock), clock)
            shared = Shared(tally, PodGroups(cluster, clock), gang_budgets)
            keep = KEEP_LITTLE if pressing is None else pressing.keep
            chosen = halves
            if losing is not None:
                keep, chosen = keep | NODE_LOSS_KEEP, {**halves, **losing.halves(clock)}
            watches = Watches(cluster, clock, WatchMetrics(registry), keep)
            worker = Worker(
                actions,
                clock,
                registry,
                _worker_settings(settings),
                election,
                settings.audit_log,
                systems=halves_of(systems, chosen),
                source=Source(cluster, watches),
                shared=shared,
                tracer=tracer,
            )
            pods, nodes = watches.pods(), watches.nodes()
            news = policy_news(settings, cluster, election, clock, registry)
            control = _control(policies, worker, pods, watches, clock, news)
            # A shadow only lists and watches, and harms nobody by what it does not know yet.
            read_node = None if settings.shadow else partial(cluster.get, NODES)
            freshness = worker.trust(watches.healths, read_node)
            worker.metrics.clock_skew.set_function(clock.skew)
            alarm = SkewAlarm(clock, settings.clock_skew_limit)
            seen = Observed(
                *(worker, registry, freshness, comparison, control),
                alarms={"clock": alarm, "lease": election},
            )
            verdict_log = VerdictLog(clock)
            pulse.judge = lambda: verdict_log.noted(seen.verdicts())
            desk = Desk(seen.take)
            pages = create_status_app(pulse, desk.ask, clock, port.turn)
            app = _guarded(pages, guarding, clock)
            beside = _beside(worker.liveness, control, desk)
            status = port.server(app, settings.host, settings.status_port, tls)
            async with beside, followed(tls), _served(status, settings):
                if comparison is None:
                    await worker.run(pods, nodes, stop)
                else:
                    await _run_in_shadow(worker, comparison, pods, nodes, stop)

    return program


def _guarded(app: ASGIApp, guarding: Guarding | None, clock: Clock) -> ASGIApp:
    if guarding is None:
        return app
    return GuardedInItsLoop(app, guarding.open, Rules(STATUS_RULES), refused_page, clock)


def _policies(
    settings: WorkSettings, clock: Clock, registry: CollectorRegistry
) -> PolicyFile | None:
    if settings.policies is None:
        return None
    return PolicyFile(settings.policies, clock, registry, settings.policies_interval)


def _control(
    policies: PolicyFile | None,
    worker: Worker,
    pods: PodWatch,
    watches: Watches,
    clock: Clock,
    news: PolicyNews,
) -> PolicyControl | None:
    if policies is None:
        return None
    return PolicyControl(policies, worker, clock, watches, pods, news)


@contextlib.asynccontextmanager
async def _beside(
    liveness: Liveness, control: PolicyControl | None, desk: Desk
) -> AsyncIterator[None]:
    """Let these run meanwhile; what fails there ends the process, as the worker does."""
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(liveness.run(), name="heartbeat"),
            group.create_task(desk.run(), name="desk"),
        ]
        if control is not None:
            tasks.append(group.create_task(control.run(), name="policy control"))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


@contextlib.asynccontextmanager
async def _served(status: ThreadedHttpServer, settings: WorkSettings) -> AsyncIterator[None]:
    """Answer observers in a thread of their own; what fails there ends the process."""
    port = await listen(status.start(), settings.host, settings.status_port)
    log.info(
        "worker starts",
        status=f"{settings.access.scheme}://{settings.host}:{port}",
        dry_run=settings.dry_run,
        shadow=settings.shadow,
    )
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(status.wait(), name="status")
            try:
                yield
            finally:
                serving.cancel()
    finally:
        await status.stop(grace=1.0)


def _actions(
    cluster: Cluster, election: Election, comparison: Comparison | None, settings: WorkSettings
) -> Actions:
    if comparison is not None:
        return ShadowActions(comparison)
    return ClusterActions(
        cluster.fenced(election.may_act), instance=socket.gethostname(), dry_run=settings.dry_run
    )


async def _run_in_shadow(
    worker: Worker,
    comparison: Comparison,
    pods: PodWatch,
    nodes: ListWatch[Node],
    stop: asyncio.Event,
) -> None:
    comparison.look_at(worker)
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(comparison.run(), name="shadow")
        await worker.run(Watched(pods, comparison), nodes, stop)
        looking.cancel()


def _election(cluster: Cluster, clock: Clock, settings: WorkSettings) -> Election:
    lease = settings.lease
    # A shadow writes nothing, not even a Lease.
    if lease is None or settings.shadow:
        return Unopposed()
    namespace = lease.namespace or usual_lease_namespace(settings.cluster)
    names = lease_names(lease.name, settings.shards)
    identity = lease.identity or f"{socket.gethostname()}_{secrets.token_hex(4)}"
    log.info(
        "takes part in an election",
        namespace=namespace,
        leases=list(names.values()),
        identity=identity,
    )
    leases = {shard: LeaseStore(cluster, namespace, name) for shard, name in names.items()}
    return Elector(leases, clock, identity, lease.times)


def _worker_settings(settings: WorkSettings) -> WorkerSettings:
    # Timers need no trace; who asks why asks the decision API.
    options = replace(settings.options, explain=False)
    return WorkerSettings(
        options=options,
        shards=settings.shards,
        concurrency=settings.concurrency,
        on_paper=settings.dry_run or settings.shadow,
    )
