"""The gRPC server's life: start, serve, drain, stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # ships no types

from bailiff.decisions import SYSTEMS
from bailiff.grpc_api.bounds import MessageBounds
from bailiff.grpc_api.interceptors import Admission, Layers, Observation, Statuses
from bailiff.grpc_api.metrics import GrpcMetrics
from bailiff.grpc_api.questions import SERVICE, Desk
from bailiff.grpc_api.reflection import add_reflection
from bailiff.grpc_api.service import rpc_handlers

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from bailiff.clock import Clock
    from bailiff.decisions import Options, Systems
    from bailiff.grpc_api.service import Handlers
    from bailiff.grpc_api.settings import GrpcSettings

_HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"]


class BailiffGrpcServer:
    """A gRPC server on the running event loop. One life: start, stop."""

    def __init__(
        self,
        settings: GrpcSettings,
        handlers: Handlers,
        interceptor: grpc.aio.ServerInterceptor,
    ) -> None:
        """Prepare; `create_server` is what callers use."""
        self._settings = settings
        self._handlers = handlers
        self._interceptor = interceptor
        self._health = health.aio.HealthServicer()
        self._server: grpc.aio.Server | None = None

    async def start(self) -> int:
        """Listen and serve.

        Returns:
            The port that was bound.

        Raises:
            OSError: the address cannot be bound.
        """
        # Not before: grpc.aio binds a server to the loop that runs when it is made.
        server = grpc.aio.server(
            interceptors=(self._interceptor,),
            options=self._settings.channel_arguments(),
            maximum_concurrent_rpcs=self._settings.most_calls(),
        )
        self._server = server
        self._add_services(server)
        try:
            port = _bind(server, self._settings)
        except OSError:
            await server.stop(None)
            raise
        await server.start()
        await self._health.set(SERVICE.full_name, health_pb2.HealthCheckResponse.SERVING)
        return port

    async def stop(self, grace: float) -> None:
        """Drain: health says NOT_SERVING, new calls are refused, those under way may end.

        Args:
            grace: seconds they have; those still under way then are cancelled. An open stream
                counts as under way. A second call does not wait longer than its own grace.
        """
        await self._health.enter_graceful_shutdown()
        if self._server is not None:
            await self._server.stop(grace)

    def _add_services(self, server: grpc.aio.Server) -> None:
        server.add_registered_method_handlers(SERVICE.full_name, self._handlers)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        if self._settings.reflection:
            add_reflection((SERVICE, _HEALTH), server)


def create_server(
    settings: GrpcSettings,
    clock: Clock,
    registry: CollectorRegistry,
    defaults: Options,
    systems: Systems = SYSTEMS,
) -> BailiffGrpcServer:
    """A server, not started.

    Args:
        settings: address and bounds.
        clock: the instant of questions that name none.
        registry: where its metrics go; one server for each registry.
        defaults: the options of questions that bring none.
        systems: what may be asked.
    """
    metrics = GrpcMetrics(registry)
    desk = Desk(clock, defaults, MessageBounds(settings), metrics)
    admission = Admission(settings.max_concurrent_rpcs)
    layers = Layers(SERVICE.full_name, Observation(metrics, clock), admission, Statuses())
    return BailiffGrpcServer(settings, rpc_handlers(systems, desk), layers)


def _bind(server: grpc.aio.Server, settings: GrpcSettings) -> int:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    try:
        return server.add_insecure_port(f"{host}:{settings.port}")
    except RuntimeError as error:
        raise OSError(f"cannot listen on {host}:{settings.port}: {error}") from error
