"""What an agent is made of, put together; nothing runs yet."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.actions.on_cluster import ClusterActions
from bailiff.agent.containers import Containers
from bailiff.agent.cri.client import CriRuntime
from bailiff.agent.evicting import Evictor
from bailiff.agent.judge import Judge
from bailiff.agent.metrics import AgentMetrics
from bailiff.agent.node_facts import NodeFacts
from bailiff.agent.notices.found import WayFinder
from bailiff.agent.notices.notifier import NO_WAYS, Notifier
from bailiff.agent.parts import Parts
from bailiff.agent.reclaiming import GarbageCollector
from bailiff.agent.remembering import Remembering
from bailiff.agent.rounds import Rounds
from bailiff.agent.settings import OptionError
from bailiff.agent.standing import Standing
from bailiff.agent.state_file import StateFile
from bailiff.agent.telling import Teller
from bailiff.agent.wake import Wake
from bailiff.agent.writing import BackgroundWrites
from bailiff.bootstrap.agent_sources import Program, readings_of, sources_of
from bailiff.clock import SystemClock
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from bailiff.agent.kubelet import Kubelet
    from bailiff.agent.log import Log
    from bailiff.agent.readings.summary import NodeReadings
    from bailiff.agent.settings import AgentSettings
    from bailiff.clock import Clock
    from bailiff.cluster.client import Cluster
    from bailiff.tracing import Tracer


class Assembled(NamedTuple):
    """An agent.

    Attributes:
        parts: of its rounds.
        rounds: are run in one task, and everything else beside them.
        beside: what is to run beside the rounds.
        writes: of the state file, to be finished at the end.
    """

    parts: Parts
    rounds: Rounds
    beside: tuple[Program, ...]
    writes: BackgroundWrites


class _Runtime(NamedTuple):
    """What is done by the container runtime; None: there is none."""

    containers: Containers | None
    collector: GarbageCollector | None


def assemble(
    settings: AgentSettings,
    cluster: Cluster | None,
    kubelet: Kubelet | None,
    log: Log,
    tracer: Tracer = NO_TRACER,
    registry: CollectorRegistry | None = None,
) -> Assembled:
    """Put an agent together.

    Args:
        settings: the operator's.
        cluster: the API server; None: there is none.
        kubelet: of the node; None: it is not asked.
        log: hears what is done.
        tracer: makes spans.
        registry: where metrics go; None: into one of their own.

    Raises:
        OSError: another agent has the state file.
        OptionError: there is no folder for it, or no such cgroup.
    """
    clock, wake = SystemClock(), Wake()
    mode = "shadow" if settings.shadow else "dryRun" if settings.dry_run else "acting"
    standing = Standing(settings.node, mode, clock)
    metrics = AgentMetrics(standing.since_round, on_paper=settings.on_paper, registry=registry)
    facts = _facts(settings, cluster, kubelet, standing, wake, clock, log)
    metrics.mirror_age.set_function(lambda: facts.age)
    path = Path(settings.state_file) if settings.state_file else None
    loop = asyncio.get_running_loop()

    def complain(why: str) -> None:
        """Of the writer's thread; at the end nobody asks any more."""
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(standing.complain, "the state file", why)

    file = StateFile(path, log, complain)
    file.lock()
    writes = BackgroundWrites(file)
    remembering = Remembering(writes, on_paper=settings.on_paper)
    runtime = _runtime(settings, facts, remembering, standing, metrics, clock, log)
    actions = None
    if cluster is not None and not settings.shadow:
        actions = ClusterActions(cluster, settings.node, dry_run=settings.dry_run)
    may_stop = settings.stops_containers and not settings.on_paper
    evictor = Evictor(
        *(actions, runtime.containers if may_stop else None, clock, log),
        complain=partial(standing.complain, "evictions"),
        on_paper=settings.on_paper,
    )
    judge = Judge(settings, reclaims=runtime.collector is not None)
    judge.recall(remembering.pressure)
    readings = readings_of(settings, settings.host)
    _check_cgroup(settings, readings)
    source, measuring = sources_of(
        settings, readings, kubelet, runtime.containers, standing, clock, log
    )
    finder = _finder(settings, readings, log)
    ways = NO_WAYS if finder is None else finder.find()
    parts = Parts(
        settings=settings,
        clock=clock,
        source=source,
        facts=facts,
        judge=judge,
        reclaimer=runtime.collector,
        evictor=evictor,
        teller=Teller(
            *(actions, facts, evictor, remembering, standing, clock, log),
            publishes=settings.publishes,
        ),
        notifier=Notifier(ways, wake.notice, clock, log),
        remembering=remembering,
        standing=standing,
        metrics=metrics,
        wake=wake,
        log=log,
        tracer=tracer,
    )
    looking = () if finder is None else (partial(finder.run, parts.notifier),)
    freeing = () if runtime.collector is None else (runtime.collector.run,)
    beside = (facts.run, parts.teller.run, *measuring, *freeing, *looking)
    return Assembled(parts, Rounds(parts), beside, writes)


def _facts(
    settings: AgentSettings,
    cluster: Cluster | None,
    kubelet: Kubelet | None,
    standing: Standing,
    wake: Wake,
    clock: Clock,
    log: Log,
) -> NodeFacts:
    facts = NodeFacts(
        *(settings.node, cluster, kubelet, settings.configuration, clock, log, standing),
        pods_from_kubelet=settings.pods_from_kubelet,
    )
    facts.listen(standing.see)
    facts.when_listed(lambda: wake.notice("pods"))
    return facts


def _runtime(
    settings: AgentSettings,
    facts: NodeFacts,
    remembering: Remembering,
    standing: Standing,
    metrics: AgentMetrics,
    clock: Clock,
    log: Log,
) -> _Runtime:
    if not settings.runtime:
        return _Runtime(None, None)
    runtime = CriRuntime(settings.runtime)
    collector = GarbageCollector(
        *(runtime, lambda: facts.pods, remembering, standing, metrics, clock, log),
        on_paper=settings.on_paper,
    )
    return _Runtime(Containers(runtime, log), collector)


def _check_cgroup(settings: AgentSettings, readings: NodeReadings) -> None:
    """A cgroup that is not there would look like a node that cannot be measured."""
    cgroup, node = settings.host.cgroup, readings.memory_cgroups().node
    if not cgroup:
        return
    if node is None:
        below = f" below --host-root {settings.host.root}" if settings.host.root else ""
        raise OptionError(f"--cgroup: no cgroups with memory are mounted{below}")
    if not node.is_dir():
        why = "is relative to where cgroups are mounted, and there is no"
        raise OptionError(f"--cgroup: {why} {node}")


def _finder(settings: AgentSettings, readings: NodeReadings, log: Log) -> WayFinder | None:
    wanted = settings.notices
    if not wanted.wanted:
        return None
    # A wire slows pods down, and on paper nothing is done to them.
    wire = wanted.high_mark and not settings.on_paper
    return WayFinder(readings.memory_cgroups, replace(wanted, high_mark=wire), log)
