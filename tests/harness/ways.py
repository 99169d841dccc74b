"""The four clients asked alike, and servers in this process for them."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

from prometheus_client import CollectorRegistry

from bailiff.client import AsyncGrpcClient, AsyncRestClient, ClientSettings, GrpcClient, RestClient
from bailiff.decisions import SYSTEMS, Options
from bailiff.grpc_api import GrpcSettings, create_server
from bailiff.rest_api import RestServer, RestSettings, create_app
from tests.harness.clocks import START, ManualClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bailiff.access import Guard
    from bailiff.decisions import Systems
    from bailiff.serving import ServingTls

WAYS = ("rest", "async rest", "grpc", "async grpc")


class Ports(NamedTuple):
    """Where the faces of a server are."""

    rest: int
    grpc: int


@contextlib.asynccontextmanager
async def serving(
    *,
    systems: Systems = SYSTEMS,
    rest: RestSettings | None = None,
    grpc: GrpcSettings | None = None,
    guard: Guard | None = None,
    tls: ServingTls | None = None,
    **faces: Any,
) -> AsyncIterator[Ports]:
    """Both faces, on free ports of this machine, their clock standing at START."""
    clock, options, registry = ManualClock(START), Options(), CollectorRegistry()
    rest_settings, grpc_settings = rest or RestSettings(port=0), grpc or GrpcSettings(port=0)
    app = create_app(
        *(rest_settings, clock, registry, options), systems=systems, guard=guard, **faces
    )
    http = RestServer(app, rest_settings, tls=tls)
    server = create_server(grpc_settings, clock, registry, options, systems, guard=guard, tls=tls)
    try:
        yield Ports(await http.start(), await server.start())
    finally:
        await http.stop(0)
        await server.stop(0)


class Way:
    """One of the four, to be awaited whichever it is."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def ask(self, method: str, *args: Any, **more: Any) -> Any:
        """Call a method; one that blocks has a thread for it, since the server is in this loop."""
        call = getattr(self.client, method)
        if isinstance(self.client, AsyncRestClient | AsyncGrpcClient):
            return await call(*args, **more)
        return await asyncio.to_thread(call, *args, **more)

    async def parts(self, method: str, *args: Any, **more: Any) -> list[Any]:
        """All that it yields."""
        call = getattr(self.client, method)
        if isinstance(self.client, AsyncRestClient | AsyncGrpcClient):
            return [part async for part in call(*args, **more)]
        return await asyncio.to_thread(lambda: list(call(*args, **more)))

    async def close(self) -> None:
        """Its connections."""
        closed = self.client.close()
        if closed is not None:
            await closed


@contextlib.asynccontextmanager
async def client(
    way: str, ports: Ports, settings: ClientSettings | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Way]:
    """One of WAYS, at these ports."""
    settings = settings or ClientSettings()
    scheme = "https" if settings.tls else "http"
    rest, grpc = f"{scheme}://{host}:{ports.rest}", f"{host}:{ports.grpc}"
    made = {
        "rest": lambda: RestClient(rest, settings),
        "async rest": lambda: AsyncRestClient(rest, settings),
        "grpc": lambda: GrpcClient(grpc, settings),
        "async grpc": lambda: AsyncGrpcClient(grpc, settings),
    }
    asking = Way(made[way]())
    try:
        yield asking
    finally:
        await asking.close()
