"""The gRPC server's life: start, serve, drain, stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # ships no types

from bailiff.access import Rules, grpc_rules
from bailiff.decisions import SYSTEMS
from bailiff.grpc_api.aio_server import AioServer
from bailiff.grpc_api.bounds import MessageBounds
from bailiff.grpc_api.door import Door
from bailiff.grpc_api.doorman import Doorman
from bailiff.grpc_api.interceptors import Layers
from bailiff.grpc_api.kept_bytes import KeptBytes
from bailiff.grpc_api.layers import Rooms
from bailiff.grpc_api.metrics import GrpcMetrics
from bailiff.grpc_api.questions import Desk
from bailiff.grpc_api.rarely import limit_log_of_grpcio
from bailiff.grpc_api.reflection import add_reflection
from bailiff.grpc_api.service import rpc_handlers
from bailiff.grpc_api.services import SERVICES
from bailiff.serving import ByteBudget, Gate, Threads
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from collections.abc import Callable

    import grpc
    from prometheus_client import CollectorRegistry

    from bailiff.access import Guard
    from bailiff.clock import Clock
    from bailiff.decisions import Options, Systems
    from bailiff.grpc_api.service import Handlers
    from bailiff.grpc_api.settings import GrpcSettings
    from bailiff.serving import ServingTls
    from bailiff.serving.intake import Intake
    from bailiff.tracing import Tracer

# Of a server that is not told whose to use: see RestSettings.
_THREADS = 2
_HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"]


class BailiffGrpcServer:
    """A gRPC server on the running event loop. One life: start, stop.

    Attributes:
        doorman: who knows the connections of calls (`doorman.find(context.peer())`).
    """

    def __init__(
        self,
        settings: GrpcSettings,
        handlers: Handlers,
        interceptor: grpc.aio.ServerInterceptor,
        doorman: Doorman,
        tls: ServingTls | None = None,
    ) -> None:
        """Prepare; `create_server` is what callers use."""
        self._settings = settings
        self._handlers = handlers
        self._interceptor = interceptor
        self._health = health.aio.HealthServicer()
        self._server: AioServer | None = None
        self._door = Door(doorman, tls)
        self.doorman = doorman

    @property
    def methods(self) -> tuple[str, ...]:
        """Of our services, as `bailiff.v1.EvictionDecisionService/Decide`."""
        return methods_of(self._handlers)

    async def start(self) -> int:
        """Listen and serve.

        Returns:
            The port that was bound.

        Raises:
            OSError: the address cannot be bound.
        """
        limit_log_of_grpcio()
        # Not before: grpc.aio binds a server to the loop that runs when it is made.
        server = AioServer((self._interceptor,), self._settings.channel_arguments())
        self._server = server
        self._add_services(server)
        server.add_insecure_port(self._door.inner)
        await server.start()
        settings = self._settings
        try:
            port = self._door.open(settings.host, settings.port, reuse_port=settings.reuse_port)
        except OSError:
            await server.stop(None)
            raise
        for name in self._handlers:
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        return port

    async def stop(self, grace: float) -> None:
        """Drain: health says NOT_SERVING, new calls are refused, those under way may end.

        Args:
            grace: seconds they have; those still under way then are cancelled. An open stream
                counts as under way. A second call does not wait longer than its own grace.
        """
        await self._health.enter_graceful_shutdown()
        self._door.close()
        if self._server is not None:
            await self._server.stop(grace)
        self._door.end()

    def _add_services(self, server: AioServer) -> None:
        for name, handlers in self._handlers.items():
            server.add_registered_method_handlers(name, handlers)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        if self._settings.reflection:
            add_reflection((*SERVICES.values(), _HEALTH), cast("grpc.aio.Server", server))


def methods_of(handlers: Handlers) -> tuple[str, ...]:
    """The paths of all methods, without the slash before."""
    return tuple(f"{service}/{method}" for service, known in handlers.items() for method in known)


def create_server(
    settings: GrpcSettings,
    clock: Clock,
    registry: CollectorRegistry,
    defaults: Options,
    systems: Systems = SYSTEMS,
    *,
    budget: ByteBudget | None = None,
    tls: ServingTls | None = None,
    is_proxy: Callable[[str], bool] = lambda _: False,
    guard: Guard | None = None,
    gate: Gate | None = None,
    intake: Intake | None = None,
    threads: Threads | None = None,
    tracer: Tracer = NO_TRACER,
) -> BailiffGrpcServer:
    """A server, not started.

    Args:
        settings: address and bounds.
        clock: the instant of questions that name none.
        registry: where its metrics go; one server for each registry.
        defaults: the options of questions that bring none.
        systems: what may be asked.
        budget: the bytes that the process may hold for its clients; None: one of its own.
        tls: how to speak TLS, which may change; None: not at all.
        is_proxy: tells the addresses of trusted proxies, who speak for many.
        guard: says who may ask what; None: everybody may ask everything.
        gate: through which work on the event loop begins; None: one of its own.
        intake: in which connections wait to be read from that send much; None: one of its own.
        threads: where questions are answered that take long; None: some of its own.
        tracer: makes spans.
    """
    metrics = GrpcMetrics(registry)
    budget = budget or ByteBudget()
    threads = threads or Threads(_THREADS, settings.max_queue_age_seconds, budget)
    bounds = MessageBounds(settings, budget)
    desk = Desk(clock, defaults, bounds, metrics, threads, KeptBytes(budget), tracer)
    doorman = Doorman(settings, budget, metrics, is_proxy, intake=intake)
    handlers = rpc_handlers(systems, desk)
    rules = Rules(grpc_rules(methods_of(handlers)))
    rooms = Rooms(settings, doorman, metrics, clock, gate or Gate(), rules, guard, tracer)
    return BailiffGrpcServer(settings, handlers, Layers(rooms.layers_of), doorman, tls)
