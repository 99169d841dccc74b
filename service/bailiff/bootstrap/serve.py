"""The decision API process: REST and gRPC on one event loop, over one core."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from bailiff.bootstrap.access import AccessChoice
from bailiff.bootstrap.admission import (
    Live,
    admission_of,
    following,
    hook_server,
    policies_of,
)
from bailiff.bootstrap.choices import API_PROBES, ClusterChoice, ProbeChoice
from bailiff.bootstrap.cluster import connect_to
from bailiff.bootstrap.guarding import guarding_of
from bailiff.bootstrap.health import probed
from bailiff.bootstrap.metrics import new_registry
from bailiff.bootstrap.process import freeze_start_up, listen
from bailiff.bootstrap.securing import followed, tls_of
from bailiff.bootstrap.tracing import traced
from bailiff.clock import SystemClock
from bailiff.cluster import ClusterClock
from bailiff.cluster.kubelets import KubeletSettings, ViaApiServer, connect_kubelets
from bailiff.decisions import SYSTEMS, Options
from bailiff.grpc_api import BailiffGrpcServer, GrpcSettings, create_server
from bailiff.lookup import AllNodes, ClusterSource, KubeletAnswers, PodGroups
from bailiff.rest_api import RestServer, RestSettings, create_app
from bailiff.serving import Complaint, Edge, EdgeSettings, Verdicts
from bailiff.tally import Tally
from bailiff.tracing.settings import OFF

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bailiff.bootstrap.choices import AdmissionChoice, Program
    from bailiff.clock import Clock
    from bailiff.decisions import Systems
    from bailiff.serving import Pulse
    from bailiff.tracing import Tracer
    from bailiff.tracing.settings import TracingSettings

# Below the 30 s that Kubernetes gives a pod between SIGTERM and SIGKILL.
_GRACE_SECONDS = 20.0
# Who hangs holds up others who look something up: shorter than by itself.
_KUBELETS = KubeletSettings(via_api_server=ViaApiServer.ALWAYS, timeout=3.0)
_STOPPING = Verdicts(
    readiness=(Complaint("stopping", "the server finishes what it has and takes nothing new"),)
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ServeSettings:
    """The decision API.

    Attributes:
        cluster: whose objects are looked up.
        asks_kubelets: its kubelets are asked, too, by way of the API server.
        admission: the hooks of admission webhooks; None: none are served.
        tracing: where traces go.
    """

    cluster: ClusterChoice = field(default_factory=ClusterChoice)
    host: str = "127.0.0.1"
    rest_port: int = 8080
    grpc_port: int = 9090
    probes: ProbeChoice = API_PROBES
    options: Options = field(default_factory=Options)
    access: AccessChoice = field(default_factory=AccessChoice)
    asks_kubelets: bool = False
    admission: AdmissionChoice | None = None
    tracing: TracingSettings = OFF

    @property
    def hook_ca(self) -> Path | None:
        """Vouches for who calls hooks on their own port."""
        return None if self.admission is None else self.admission.client_ca_file


def serve(settings: ServeSettings, systems: Systems = SYSTEMS) -> Program:
    """The decision API, until stopped.

    Args:
        settings: see there.
        systems: who answers, and what can be asked of them.

    Raises:
        SettingsError: the environment has a setting of a port that cannot be, or the file of
            policies holds none.
        TlsUnusableError: the files of TLS do not serve.
        TokensUnusableError: the file of tokens does not serve.
    """
    rest_settings = RestSettings.read(host=settings.host, port=settings.rest_port)
    grpc_settings = GrpcSettings.read(host=settings.host, port=settings.grpc_port)
    edge_settings = EdgeSettings.read()
    clock, registry = SystemClock(), new_registry()
    tls = tls_of(settings.access, registry, settings.hook_ca)
    guarding = guarding_of(settings.access, settings.cluster, settings.host, registry)
    policies = policies_of(settings.admission, clock, registry)

    async def program(stop: asyncio.Event) -> None:
        options, edge = settings.options, Edge.of(edge_settings, registry)
        opened = guarding.open_at_start() if guarding else contextlib.nullcontext()
        async with (
            traced(settings.tracing, "bailiff-api", registry, log.warning) as tracer,
            probed(settings.probes, settings.host) as pulse,
            _live(settings, clock, rest_settings.cluster_timeout_seconds, tracer) as live,
            opened as guard,
            following(policies),
        ):
            asked, budget, gate = (clock, registry, options), edge.budget, edge.gate
            threads = rest_settings.threads(budget)
            parts = (*asked, live, systems, threads, policies, tracer)
            choice = settings.admission
            hooks = admission_of(choice, *parts) if choice else None
            is_apart = choice is not None and choice.port is not None
            app = create_app(
                *(rest_settings, *asked, live.source, systems, budget),
                guard=guard,
                gate=gate,
                threads=threads,
                admission=None if is_apart else hooks,
                nodes=live.nodes,
                tracer=tracer,
            )
            http = [RestServer(app, rest_settings, edge, tls)]
            if choice and hooks and is_apart:
                http.append(hook_server(choice, app, hooks, rest_settings, edge, tls))
            grpc = create_server(
                *(grpc_settings, *asked, systems),
                budget=budget,
                tls=tls,
                is_proxy=edge.is_proxy,
                guard=guard,
                gate=gate,
                intake=edge.intake,
                threads=threads,
                tracer=tracer,
            )
            async with followed(tls):
                await _serve_all(settings, http, grpc, pulse, stop)

    return program


async def _serve_all(
    settings: ServeSettings,
    http: list[RestServer],
    grpc: BailiffGrpcServer,
    pulse: Pulse,
    stop: asyncio.Event,
) -> None:
    """All ports, until stopped or until one has ended."""
    host, scheme = settings.host, settings.access.scheme
    try:
        grpc_port = await listen(grpc.start(), host, settings.grpc_port)
        ports = [await listen(one.start(), host, one.port) for one in http]
        freeze_start_up()
        log.info(
            "decision API starts",
            grpc=f"{host}:{grpc_port}",
            **{
                name: f"{scheme}://{host}:{port}"
                for name, port in zip(("rest", "admission"), ports, strict=False)
            },
        )
        _judge(pulse, Verdicts())
        async with asyncio.TaskGroup() as group:
            for one in http:
                group.create_task(one.until(stop))
    finally:
        _judge(pulse, _STOPPING)
        async with asyncio.TaskGroup() as group:
            group.create_task(grpc.stop(_GRACE_SECONDS))
            for one in http:
                group.create_task(one.stop(_GRACE_SECONDS))


def _judge(pulse: Pulse, verdicts: Verdicts) -> None:
    """From now on this is what probes are told."""
    pulse.judge = lambda: verdicts
    pulse.beat()


@contextlib.asynccontextmanager
async def _live(
    settings: ServeSettings, clock: Clock, list_seconds: float, tracer: Tracer
) -> AsyncIterator[Live]:
    """What is read of the cluster, and what counts evictions there; nothing without a cluster.

    Args:
        settings: of the process.
        clock: of the machine.
        list_seconds: for a list of all nodes.
        tracer: of requests to it.
    """
    if not settings.cluster.chosen:
        yield Live()
        return
    # All replicas go by one clock.
    of_cluster = ClusterClock(clock)
    observers = (of_cluster.answered,)
    async with await connect_to(settings.cluster, None, observers, tracer=tracer) as cluster:
        for_gate = PodGroups(cluster, clock), Tally(cluster, of_cluster), of_cluster
        if not settings.asks_kubelets:
            source = ClusterSource(cluster, clock)
            yield Live(source, AllNodes(source, clock, list_seconds), *for_gate)
            return
        async with await connect_kubelets(cluster, _KUBELETS, clock) as kubelets:
            source = ClusterSource(cluster, clock, KubeletAnswers(kubelets, clock))
            yield Live(source, AllNodes(source, clock, list_seconds), *for_gate)
