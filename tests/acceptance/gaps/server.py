"""Both faces in a process of their own, whose loop ticks; a pipe tells how late the ticks came."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
from typing import TYPE_CHECKING, Any, NamedTuple

import uvloop
from prometheus_client import CollectorRegistry

from bailiff.clock import SystemClock
from bailiff.decisions import Options
from bailiff.grpc_api import GrpcSettings, create_server
from bailiff.rest_api import RestServer, RestSettings, create_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

TICK = 0.01


class Ports(NamedTuple):
    """Where the faces listen."""

    rest: int
    grpc: int


class Served:
    """The process, seen from outside."""

    def __init__(self, pipe: Connection[Any, Any]) -> None:
        self._pipe = pipe
        self.ports = Ports(*self._receive())

    def longest_gap(self) -> float:
        """Seconds by which the latest tick since the last call came late."""
        self._pipe.send(None)
        return float(self._receive())

    def _receive(self) -> Any:
        if not self._pipe.poll(60):
            raise TimeoutError("the server says nothing")
        return self._pipe.recv()


@contextlib.contextmanager
def served() -> Iterator[Served]:
    """Start it, and end it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(theirs,), daemon=True)
    process.start()
    try:
        yield Served(ours)
    finally:
        process.kill()
        process.join()


def _run(pipe: Connection[Any, Any]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(pipe))


async def _serve(pipe: Connection[Any, Any]) -> None:
    clock, registry, loop = SystemClock(), CollectorRegistry(), asyncio.get_running_loop()
    settings = RestSettings(port=0)
    rest = RestServer(create_app(settings, clock, registry, Options()), settings)
    grpc = create_server(GrpcSettings(port=0), clock, registry, Options())
    pipe.send((await rest.start(), await grpc.start()))
    worst, last = 0.0, loop.time()
    while True:
        await asyncio.sleep(TICK)
        now = loop.time()
        worst, last = max(worst, now - last - TICK), now
        if pipe.poll():
            pipe.recv()
            pipe.send(worst)
            worst, last = 0.0, loop.time()
