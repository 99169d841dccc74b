"""`bailiff up`: an embedded cluster with a demo fleet, the decision API and the worker.

One process tree: the embedded cluster lives in this process, API and worker are its children, as
they would be pods of their own. A child that dies is started again, as Kubernetes would; children
end when this process does, however it ends, because their standard input closes.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import socket
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import structlog

from bailiff.bootstrap.process import Program, StartError
from bailiff.bootstrap.welcome import welcome
from bailiff.embedded import EmbeddedCluster, Fleet

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from bailiff.bootstrap.settings import UpSettings

_START_TIMEOUT = 60.0
_STOP_TIMEOUT = 25.0
_RESTART_FIRST, _RESTART_MOST = 0.5, 10.0

log = structlog.get_logger(__name__)


def up(settings: UpSettings) -> Program:
    """The whole of Bailiff on this machine, beside nothing real."""
    settings = _with_ports(settings)

    async def program(stop: asyncio.Event) -> None:
        with tempfile.TemporaryDirectory(prefix="bailiff-") as folder:
            kubeconfig = Path(folder) / "kubeconfig"
            async with _embedded(settings) as cluster:
                kubeconfig.write_text(cluster.kubeconfig())
                await _run_children(settings, cluster.url, kubeconfig, stop)

    return program


def _with_ports(settings: UpSettings) -> UpSettings:
    """With free ports for the children where any will do: what is printed must name them."""
    return dataclasses.replace(
        settings,
        rest_port=settings.rest_port or _free_port(settings.host),
        grpc_port=settings.grpc_port or _free_port(settings.host),
        status_port=settings.status_port or _free_port(settings.host),
    )


def _free_port(host: str) -> int:
    with socket.create_server((host, 0)) as found:
        port: int = found.getsockname()[1]
        return port


@contextlib.asynccontextmanager
async def _embedded(settings: UpSettings) -> AsyncIterator[EmbeddedCluster]:
    try:
        cluster = EmbeddedCluster(
            host=settings.host, port=settings.cluster_port, fleet=Fleet.demo()
        )
        async with cluster:
            yield cluster
    except OSError as error:
        raise StartError(f"the embedded cluster cannot start: {error}") from error


async def _run_children(
    settings: UpSettings, url: str, kubeconfig: Path, stop: asyncio.Event
) -> None:
    listen = ["--lifeline", "--kubeconfig", str(kubeconfig), "--host", settings.host]
    rest, grpc = str(settings.rest_port), str(settings.grpc_port)
    api = Child("serve", [*listen, "--rest-port", rest, "--grpc-port", grpc])
    worker = Child("worker", [*listen, "--status-port", str(settings.status_port)])
    async with asyncio.TaskGroup() as group:
        keepers = [group.create_task(child.keep_running()) for child in (api, worker)]
        try:
            if await _ready(settings, stop):
                sys.stdout.write(welcome(settings, url, kubeconfig, worker.pid))
                sys.stdout.flush()
            await stop.wait()
        finally:
            for keeper in keepers:
                keeper.cancel()


class Child:
    """One of our own commands as a child process, started again whenever it ends."""

    def __init__(self, command: str, arguments: Sequence[str]) -> None:
        self._command = command
        self._arguments = arguments
        self.pid = 0

    async def keep_running(self) -> None:
        """Run until cancelled, then let the child end in peace.

        Raises:
            StartError: it refuses to run with these arguments.
        """
        delay = _RESTART_FIRST
        while True:
            started = asyncio.get_running_loop().time()
            code = await self._run_once()
            lived = asyncio.get_running_loop().time() - started
            if code > 0 and lived < _RESTART_MOST:
                raise StartError(f"bailiff {self._command} could not start, see above")
            if lived > _RESTART_MOST:
                delay = _RESTART_FIRST
            log.warning("child ended, starting it again", child=self._command, code=code)
            await asyncio.sleep(delay)
            delay = min(delay * 2, _RESTART_MOST)

    async def _run_once(self) -> int:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bailiff", self._command, *self._arguments),
            stdin=asyncio.subprocess.PIPE,
            # Ctrl-C reaches the whole terminal group: the children shall hear of it from us.
            start_new_session=True,
        )
        self.pid = process.pid
        try:
            return await process.wait()
        finally:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close the lifeline; whoever does not end then is killed."""
    if process.returncode is not None:
        return
    assert process.stdin is not None  # noqa: S101 - it was asked for
    process.stdin.close()
    try:
        async with asyncio.timeout(_STOP_TIMEOUT):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _ready(settings: UpSettings, stop: asyncio.Event) -> bool:
    """Wait until API and worker say so; False if we are to stop before that.

    Raises:
        StartError: they do not within the time limit.
    """
    addresses = [
        f"http://{settings.host}:{settings.rest_port}/readyz",
        f"http://{settings.host}:{settings.status_port}/readyz",
    ]
    try:
        async with asyncio.timeout(_START_TIMEOUT), aiohttp.ClientSession() as session:
            for address in addresses:
                while not await _answers(session, address):
                    if stop.is_set():
                        return False
                    await asyncio.sleep(0.05)
    except TimeoutError as error:
        raise StartError(f"not ready after {_START_TIMEOUT:.0f} s") from error
    return True


async def _answers(session: aiohttp.ClientSession, address: str) -> bool:
    try:
        async with session.get(address) as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False
