"""The agent process: `python -m bailiff.bootstrap.agent SETTINGS`, SETTINGS as JSON.

A process of its own, and not the command line's: that has 30 MiB of its own, which stay. `bailiff
agent` reads the options and files, and puts this process in its own place.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import msgspec
from msgspec.structs import replace
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bailiff.actions.on_cluster import ClusterActions
from bailiff.agent.api.connecting import connect
from bailiff.agent.containers import Containers
from bailiff.agent.cri.client import CriRuntime
from bailiff.agent.evicting import Evictor
from bailiff.agent.judge import Judge
from bailiff.agent.log import Log
from bailiff.agent.memory_file import MemoryFile
from bailiff.agent.metrics import AgentMetrics
from bailiff.agent.node_facts import NodeFacts
from bailiff.agent.notices.found import find_ways
from bailiff.agent.notices.notifier import NO_WAYS, Notifier, Ways
from bailiff.agent.parts import Parts
from bailiff.agent.reclaiming import GarbageCollector
from bailiff.agent.remembering import Remembering
from bailiff.agent.rounds import Rounds
from bailiff.agent.settings import AgentSettings
from bailiff.agent.standing import Standing
from bailiff.agent.status import Page, StatusPort, as_json, verdict
from bailiff.agent.telling import Teller
from bailiff.agent.wake import Wake
from bailiff.bootstrap.agent_kubelet import OwnedKubelet, owned_kubelet
from bailiff.bootstrap.agent_sources import Program, readings_of, sources_of
from bailiff.clock import SystemClock
from bailiff.cluster.errors import ClusterError
from bailiff.cluster.settings import ClusterSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.agent.readings.summary import NodeReadings
    from bailiff.cluster.client import Cluster
    from bailiff.cluster.login import Read

BOUNDS = ClusterSettings(
    request_timeout=5.0, page_size=100, max_response_bytes=8 * 2**20, max_event_bytes=4 * 2**20
)

# Seconds that an eviction under way is given when the process is to end, and after it the last
# Events: the chart gives a pod 30.
_GRACE = 20.0
_FOR_LAST_WORDS = 3.0


def main() -> None:
    """Run until SIGTERM or SIGINT."""
    settings = msgspec.json.decode(sys.argv[1], type=AgentSettings)
    log = Log.of_environment()
    if settings.on_paper:
        log.always["mode"] = f"{'shadow' if settings.shadow else 'dry run'}, nothing is done"
    try:
        asyncio.run(_run(settings, log))
    except ClusterError as error:
        _give_up(log, error.message, 3)
    except OSError as error:
        _give_up(log, str(error), 1)


def _give_up(log: Log, why: str, code: int) -> NoReturn:
    """End as the command line does: 1 failed, 3 cluster not reachable."""
    log.error("the agent cannot start", error=why)
    sys.exit(code)


async def _run(settings: AgentSettings, log: Log) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await Agent(settings, log).run(stop)


class Agent:
    """Everything that one agent is made of."""

    def __init__(self, settings: AgentSettings, log: Log) -> None:
        self._settings = settings
        self._log = log
        self._clock = SystemClock()
        self._wake = Wake()
        mode = "shadow" if settings.shadow else "dryRun" if settings.dry_run else "acting"
        self._standing = Standing(settings.node, mode, self._clock)
        self._metrics = AgentMetrics(self._standing.since_round, on_paper=settings.on_paper)

    async def run(self, stop: asyncio.Event) -> None:
        """Run until this event is set.

        Raises:
            ClusterError: there is no usable login.
            OSError: the status port cannot be listened on, or another agent has the state file.
        """
        cluster = await self._cluster()
        kubelet = await owned_kubelet(self._settings, cluster, self._clock, self._log, BOUNDS)
        try:
            await self._run(stop, cluster, kubelet)
        finally:
            if kubelet is not None:
                await kubelet.close()
            if cluster is not None:
                await cluster.close()

    async def _run(
        self, stop: asyncio.Event, cluster: Cluster | None, kubelet: OwnedKubelet | None
    ) -> None:
        settings, log, clock = self._settings, self._log, self._clock
        answers = None if kubelet is None else kubelet.answers
        facts = NodeFacts(
            *(settings.node, cluster, answers, settings.configuration, clock, log, self._standing),
            pods_from_kubelet=settings.pods_from_kubelet,
        )
        facts.listen(self._standing.see)
        facts.when_listed(lambda: self._wake.notice("pods"))
        actions = None
        if cluster is not None and not settings.shadow:
            actions = ClusterActions(cluster, settings.node, dry_run=settings.dry_run)
        runtime = CriRuntime(settings.runtime) if settings.runtime else None
        containers = None if runtime is None else Containers(runtime, log)
        stops = settings.stops_containers and not settings.on_paper
        evictor = Evictor(
            *(actions, containers if stops else None, clock, log),
            is_silent=partial(self._standing.silent, "the API server, about evictions"),
        )
        file = MemoryFile(Path(settings.state_file) if settings.state_file else None, log)
        file.lock()
        remembering = Remembering(file, on_paper=settings.on_paper)
        collector = None
        if runtime is not None:
            collector = GarbageCollector(
                *(runtime, lambda: facts.pods, remembering, self._standing, self._metrics),
                *(clock, log),
                on_paper=settings.on_paper,
            )
        judge = Judge(settings, reclaims=collector is not None)
        judge.recall(remembering.pressure)
        teller = Teller(
            *(actions, facts, evictor, remembering, clock, log), publishes=settings.publishes
        )
        readings = readings_of(settings, settings.host)
        self._check_cgroup(readings)
        notifier = Notifier(self._ways(readings), self._wake.notice, clock, log)
        source, beside = sources_of(
            *(settings, readings, answers, containers, self._standing, clock, log)
        )
        if collector is not None:
            beside = (*beside, collector.run)
        rounds = Rounds(
            Parts(
                settings=settings,
                clock=clock,
                source=source,
                facts=facts,
                judge=judge,
                reclaimer=collector,
                evictor=evictor,
                teller=teller,
                notifier=notifier,
                remembering=remembering,
                standing=self._standing,
                metrics=self._metrics,
                wake=self._wake,
                log=log,
            )
        )
        # It names pods; the others are numbers.
        port = StatusPort(self._pages(), log, private=frozenset({"/v1/agent"}))
        try:
            at = await port.start(settings.status_host, settings.status_port)
        except OSError as error:
            raise OSError(f"--status-port {settings.status_port}: {error}") from error
        log.info(
            "agent starts",
            node=settings.node,
            status=f"http://{settings.status_host}:{at}",
            notices=list(notifier.names),
        )
        freeze()
        notifier.start()
        try:
            await _until(stop, rounds, (facts.run, teller.run, *beside))
            # What was noted last, such as the Event of an eviction.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FOR_LAST_WORDS):
                    await teller.write()
        finally:
            notifier.close()
            await port.stop()

    async def _cluster(self) -> Cluster | None:
        access = self._settings.cluster
        if not access.is_known:
            return None
        read: Read
        if access.in_cluster:
            from bailiff.cluster.service_account import in_cluster_reader  # noqa: PLC0415 - either

            read = in_cluster_reader()
        else:
            # PyYAML is imported where there is a kubeconfig alone.
            from bailiff.cluster.kubeconfig import kubeconfig_reader  # noqa: PLC0415

            read = kubeconfig_reader(Path(access.kubeconfig), access.context or None)
        return await connect(read, self._clock, self._log, BOUNDS)

    def _check_cgroup(self, readings: NodeReadings) -> None:
        """A cgroup that is not there would look like a node that cannot be measured."""
        node = readings.memory_cgroups().node
        if self._settings.host.cgroup and (node is None or not node.is_dir()):
            why = "is relative to where cgroups are mounted, and there is no"
            raise OSError(f"--cgroup: {why} {node or self._settings.host.cgroup}")

    def _ways(self, readings: NodeReadings) -> Ways:
        wanted = self._settings.notices
        if not wanted.wanted:
            return NO_WAYS
        # A wire slows pods down, and on paper nothing is done to them.
        wire = wanted.high_mark and not self._settings.on_paper
        return find_ways(readings.memory_cgroups(), replace(wanted, high_mark=wire), self._log)

    def _pages(self) -> dict[str, Callable[[], Page]]:
        metrics, standing = self._metrics, self._standing

        def measured() -> Page:
            return Page(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

        return {
            "/healthz": lambda: verdict(standing.stuck),
            "/readyz": lambda: verdict(standing.complaints),
            "/metrics": measured,
            "/v1/agent": lambda: as_json(standing.describe()),
        }


def freeze() -> None:
    """Keep what is there by now out of the garbage collector's sight, for good."""
    gc.collect()
    gc.freeze()


async def _until(stop: asyncio.Event, rounds: Rounds, programs: tuple[Program, ...]) -> None:
    """Run these until the event is set; what fails ends all of them.

    An eviction that is under way is finished first: one that was announced is carried out.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one()) for one in programs]
        acting = group.create_task(rounds.run())
        await stop.wait()
        rounds.end()
        await asyncio.wait({acting}, timeout=_GRACE)
        for task in (acting, *tasks):
            task.cancel()


if __name__ == "__main__":
    main()
