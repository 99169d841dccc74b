"""`bailiff up`: a demo cluster with a fleet, the decision API and the worker.

One process tree: the demo cluster lives in this process, API and worker are its children, as they
would be pods of their own. A child that dies is started again, as Kubernetes would; children end
when this process does, however it ends, because their standard input closes.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import structlog

from bailiff.bootstrap import ACCESS_VARIABLES, Program, StartError
from bailiff_demo.cluster import DemoCluster
from bailiff_demo.fleet import Fleet, FleetError
from bailiff_demo.kubeconfig_file import (
    free_kubeconfig,
    kubeconfig_while_running,
    write_kubeconfig,
)
from bailiff_demo.settings import UpSettings
from bailiff_demo.stats.measuring import LABEL, MEASURES
from bailiff_demo.welcome import welcome

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["UpSettings", "up"]

_START_TIMEOUT = 60.0
_STOP_TIMEOUT = 25.0
_RESTART_FIRST, _RESTART_MOST = 0.5, 10.0
# Of a fleet's file: more than fits into the cluster takes minutes to read.
_MAX_FLEET_BYTES = 4 * 1024 * 1024

# The demo's nodes can be asked by way of its API server alone. Every two seconds: nobody who tries
# it likes to wait.
_PRESSURE = [
    *("--pressure", "--pressure-node-selector", f"{LABEL}={MEASURES}"),
    *("--kubelet-via-api-server", "always", "--pressure-interval", "2"),
]

log = structlog.get_logger(__name__)


def up(settings: UpSettings) -> Program:
    """The whole of Bailiff on this machine, beside nothing real.

    Raises:
        StartError: the fleet cannot be read.
    """
    fleet = _read_fleet(settings.fleet)

    async def program(stop: asyncio.Event) -> None:
        # Before anything starts: a taken port must leave nothing running.
        chosen = _with_ports(settings)
        kubeconfig = chosen.kubeconfig or await free_kubeconfig(chosen.cluster_port)
        try:
            cluster = DemoCluster(host=chosen.host, port=chosen.cluster_port, fleet=fleet)
        except FleetError as error:
            raise _fleet_refused(chosen.fleet, error) from error
        with tempfile.TemporaryDirectory(prefix="bailiff-") as folder:
            # The children have their own: whoever starts another demo writes over the usual one.
            own = Path(folder) / "kubeconfig"
            async with cluster:
                write_kubeconfig(own, cluster.kubeconfig())
                with kubeconfig_while_running(kubeconfig, cluster.kubeconfig()):
                    await _run_children(chosen, cluster.url, own, kubeconfig, stop)

    return program


def _read_fleet(path: Path | None) -> Fleet:
    if path is None:
        return Fleet.demo()
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_FLEET_BYTES + 1)
        if len(text) <= _MAX_FLEET_BYTES:
            return Fleet.parse(text)
    except OSError as error:
        raise _fleet_refused(path, error.strerror or error) from error
    except FleetError as error:
        raise _fleet_refused(path, error) from error
    raise _fleet_refused(path, f"larger than {_MAX_FLEET_BYTES} bytes")


def _fleet_refused(path: Path | None, why: object) -> StartError:
    """Of the README's own fleet there is no file to name."""
    return StartError(f"--fleet: {path}: {why}" if path else f"--fleet: {why}")


def _with_ports(settings: UpSettings) -> UpSettings:
    """With free ports where any will do, since what is printed must name them.

    Raises:
        StartError: a port is taken.
    """
    found: dict[str, int] = {}
    with contextlib.ExitStack() as held:
        for field in ("cluster_port", "rest_port", "grpc_port", "status_port"):
            port: int = getattr(settings, field)
            try:
                listener = held.enter_context(socket.create_server((settings.host, port)))
            except OSError as error:
                option, why = f"--{field.replace('_', '-')}", error.strerror or error
                address = f"{settings.host}:{port}"
                raise StartError(
                    f"{option}: cannot listen on {address}: {why}; {option} 0 takes any free port"
                ) from error
            found[field] = listener.getsockname()[1]
    return dataclasses.replace(settings, **found)  # type: ignore[arg-type]  # fields of one type


async def _run_children(
    settings: UpSettings, url: str, own: Path, kubeconfig: Path, stop: asyncio.Event
) -> None:
    # Nobody probes them here, and what is asked for stays free for others.
    listen = ["--lifeline", "--kubeconfig", str(own), "--host", settings.host]
    listen += ["--health-port", "0"]
    rest, grpc = str(settings.rest_port), str(settings.grpc_port)
    status = ["--status-port", str(settings.status_port)]
    policies = ["--policies", str(settings.policies)] if settings.policies else []
    # The demo cluster calls no webhook: its hooks are for who wants to see what they say.
    hooks = ["--admission", *policies]
    api = Child("serve", [*listen, "--rest-port", rest, "--grpc-port", grpc, *hooks])
    worker = Child("worker", [*listen, *status, *policies, *_PRESSURE])
    async with asyncio.TaskGroup() as group:
        keepers = [group.create_task(child.keep_running()) for child in (api, worker)]
        if await _ready(settings, stop):
            sys.stdout.write(welcome(settings, url, kubeconfig, worker.pid))
            sys.stdout.flush()
        await stop.wait()
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
            env=_surroundings(),
            # Ctrl-C reaches the whole terminal group: the children shall hear of it from us.
            start_new_session=True,
        )
        if self.pid:
            log.warning("child started again", child=self._command, pid=process.pid)
        self.pid = process.pid
        try:
            return await process.wait()
        finally:
            await _end(process)


def _surroundings() -> dict[str, str]:
    """The environment without what says who may ask: on loopback nobody is asked who it is."""
    return {name: said for name, said in os.environ.items() if name not in ACCESS_VARIABLES}


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
