"""The agent process: `python -m bailiff.bootstrap.agent SETTINGS`, SETTINGS as JSON.

A process of its own, and not the command line's: that has 30 MiB of its own, which stay. `bailiff
agent` reads the options and files, and puts this process in its own place.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bailiff.actions.on_cluster import ClusterActions
from bailiff.agent.api.connecting import connect
from bailiff.agent.api.wire import LeanWire
from bailiff.agent.containers import Containers
from bailiff.agent.cri.client import CriRuntime
from bailiff.agent.evicting import Evictor
from bailiff.agent.judge import Judge, disks_are_low
from bailiff.agent.kubelet import Kubelet
from bailiff.agent.log import Log
from bailiff.agent.memory_file import MemoryFile
from bailiff.agent.metrics import AgentMetrics
from bailiff.agent.node_facts import NodeFacts
from bailiff.agent.notices.found import find_ways
from bailiff.agent.notices.notifier import NO_WAYS, Notifier, Ways
from bailiff.agent.own_source import FresherMemory, OwnSource
from bailiff.agent.readings.summary import NodeReadings
from bailiff.agent.reclaiming import GarbageCollector
from bailiff.agent.remembering import Remembering
from bailiff.agent.rounds import Parts, Rounds
from bailiff.agent.settings import AgentSettings
from bailiff.agent.standing import Standing
from bailiff.agent.status import Page, StatusPort, as_json, verdict
from bailiff.agent.telling import Teller
from bailiff.agent.wake import Wake
from bailiff.clock import SystemClock
from bailiff.cluster.credentials import Credentials
from bailiff.cluster.errors import ClusterError, ConfigError
from bailiff.cluster.login import FilesRead, Login, header_value
from bailiff.cluster.settings import ClusterSettings
from bailiff.cluster.tls import Tls

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from bailiff.agent.reading import Source
    from bailiff.agent.settings import KubeletAccess
    from bailiff.cluster.client import Cluster
    from bailiff.cluster.login import Read
    from bailiff.kinds.stats import NodeStats

Program: TypeAlias = "Callable[[], Coroutine[None, None, None]]"

_BOUNDS = ClusterSettings(
    request_timeout=5.0, page_size=100, max_response_bytes=8 * 2**20, max_event_bytes=4 * 2**20
)


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
        self._metrics = AgentMetrics(on_paper=settings.on_paper)
        mode = "shadow" if settings.shadow else "dryRun" if settings.dry_run else "acting"
        self._standing = Standing(settings.node, mode, self._clock)

    async def run(self, stop: asyncio.Event) -> None:
        """Run until this event is set.

        Raises:
            ClusterError: there is no usable login.
            OSError: the status port cannot be listened on.
        """
        cluster = await self._cluster()
        kubelet = await self._kubelet(cluster)
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
            *(settings.node, cluster, answers, settings.configuration, clock, log),
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
        evictor = Evictor(actions, containers if stops else None, clock, log)
        remembering = Remembering(
            MemoryFile(Path(settings.state_file) if settings.state_file else None, log)
        )
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
        readings = self._readings()
        notifier = Notifier(self._ways(readings), self._wake.notice, clock, log)
        source, beside = self._source(readings, answers, facts, containers)
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
        at = await port.start(settings.status_host, settings.status_port)
        log.info(
            "agent starts",
            node=settings.node,
            status=f"http://{settings.status_host}:{at}",
            notices=list(notifier.names),
        )
        freeze()
        notifier.start()
        try:
            await _until(stop, (facts.run, rounds.run, teller.run, *beside))
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
        return await connect(read, self._clock, self._log, _BOUNDS)

    async def _kubelet(self, cluster: Cluster | None) -> OwnedKubelet | None:
        access = self._settings.kubelet
        if access is None:
            return None
        read = _kubelet_reader(access, self._settings.node, cluster)
        found = Credentials(read, self._clock, _BOUNDS.login_timeout, self._log)
        await found.start()
        wire = LeanWire(found, _BOUNDS)
        return OwnedKubelet(Kubelet(wire, self._settings.node, self._clock), wire)

    def _readings(self) -> NodeReadings:
        settings = self._settings
        counts = settings.counts_active_cache
        return NodeReadings(settings.host, settings.node, active_cache_counts=counts)

    def _ways(self, readings: NodeReadings) -> Ways:
        wanted = self._settings.notices
        return find_ways(readings.memory_cgroups(), wanted, self._log) if wanted.wanted else NO_WAYS

    def _source(
        self,
        readings: NodeReadings,
        kubelet: Kubelet | None,
        facts: NodeFacts,
        containers: Containers | None,
    ) -> Sources:
        """Who measures, and what is to run for that."""
        if kubelet is not None and not self._settings.own_readings:
            return Sources(kubelet, ())

        def needs_disks(node: NodeStats) -> bool:
            return disks_are_low(node, facts.configuration, self._settings.extensions)

        own = OwnSource(readings, containers, needs_disks, self._clock, self._log)
        if kubelet is None:
            return Sources(own, (own.run,))
        fresher = FresherMemory(kubelet, own, self._standing, self._clock, self._log)
        return Sources(fresher, (fresher.run,))

    def _pages(self) -> dict[str, Callable[[], Page]]:
        metrics, standing = self._metrics, self._standing

        def measured() -> Page:
            return Page(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

        return {
            "/healthz": lambda: verdict([]),
            "/readyz": lambda: verdict(standing.complaints),
            "/metrics": measured,
            "/v1/agent": lambda: as_json(standing.describe()),
        }


class Sources(NamedTuple):
    """Who measures the node, and what is to run beside the rounds for that."""

    source: Source
    beside: tuple[Program, ...]


class OwnedKubelet(NamedTuple):
    """The kubelet, and the connections to it."""

    answers: Kubelet
    wire: LeanWire

    async def close(self) -> None:
        """Close the connections."""
        await self.wire.close()


def freeze() -> None:
    """Keep what is there by now out of the garbage collector's sight, for good."""
    gc.collect()
    gc.freeze()


async def _until(stop: asyncio.Event, programs: tuple[Program, ...]) -> None:
    """Run these until the event is set; what fails ends all of them."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one()) for one in programs]
        await stop.wait()
        for task in tasks:
            task.cancel()


def _kubelet_reader(access: KubeletAccess, node: str, api: Cluster | None) -> Read:
    """A reader of what is shown to the kubelet, and who vouches for it."""

    async def read() -> Login:
        try:
            return _kubelet_login(access, node, None if api is None else await api.login())
        except OSError as error:
            raise ConfigError(f"the files for the kubelet cannot be read: {error}") from error

    return read


def _kubelet_login(access: KubeletAccess, node: str, api: Login | None) -> Login:
    files = FilesRead()

    def content(path: str) -> bytes | None:
        return files.read(Path(path)) if path else None

    ca = content(access.ca_file)
    tls = Tls(
        ca=ca if ca is not None or api is None else api.tls.ca,
        certificate=content(access.certificate_file),
        key=content(access.key_file),
        verify=not access.insecure,
        server_name=access.server_name or node,
    )
    tls.context()
    token = content(access.token_file)
    authorization = None if token is None else header_value(f"Bearer {token.decode().strip()}")
    if authorization is None and tls.certificate is None and api is not None and tls.verify:
        # Whoever listens at the kubelet's port without its certificate is not shown the token.
        authorization = api.authorization
    return Login(host=access.url, tls=tls, authorization=authorization, files=files)


if __name__ == "__main__":
    main()
