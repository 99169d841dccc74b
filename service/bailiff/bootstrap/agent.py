"""The agent process: `python -m bailiff.bootstrap.agent SETTINGS`, SETTINGS as JSON.

A process of its own, and not the command line's: that has 30 MiB of its own, which stay. `bailiff
agent` reads the options and files, and puts this process in its own place.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from bailiff.agent.api.connecting import connect
from bailiff.agent.log import Log
from bailiff.agent.settings import AgentSettings, OptionError
from bailiff.agent.status import Page, StatusPort, as_json, verdict
from bailiff.bootstrap.agent_assembly import assemble
from bailiff.bootstrap.agent_kubelet import owned_kubelet
from bailiff.bootstrap.tracing import traced
from bailiff.clock import SystemClock
from bailiff.cluster.errors import ClusterError
from bailiff.cluster.settings import ClusterSettings
from bailiff.tracing.settings import TracingUnusableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.agent.parts import Parts
    from bailiff.agent.rounds import Rounds
    from bailiff.bootstrap.agent_assembly import Assembled
    from bailiff.bootstrap.agent_sources import Program
    from bailiff.cluster.client import Cluster
    from bailiff.cluster.login import Read
    from bailiff.tracing import Tracer

BOUNDS = ClusterSettings(
    request_timeout=5.0, page_size=100, max_response_bytes=8 * 2**20, max_event_bytes=4 * 2**20
)

# Seconds that an eviction under way is given when the process is to end, and after it the last
# Events: the chart gives a pod 30.
_GRACE = 20.0
_FOR_LAST_WORDS = 3.0
# Then the state file has as long, which takes longer on a disk that hangs alone.
_FOR_STATE = 3.0


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
    except (OptionError, TracingUnusableError) as error:
        _give_up(log, str(error), 2)
    except OSError as error:
        _give_up(log, str(error), 1)
    except ExceptionGroup:
        # Of what runs beside the rounds; whoever has started the agent starts it anew.
        log.exception("a part of the agent has failed")
        sys.exit(1)


def _give_up(log: Log, why: str, code: int) -> NoReturn:
    """End as the command line does: 1 failed, 2 an option is wrong, 3 cluster not reachable."""
    log.error("the agent cannot start", error=why)
    sys.exit(code)


async def _run(settings: AgentSettings, log: Log) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await Agent(settings, log).run(stop)


class Agent:
    """One agent, and what it is connected to."""

    def __init__(self, settings: AgentSettings, log: Log) -> None:
        self._settings = settings
        self._log = log

    async def run(self, stop: asyncio.Event) -> None:
        """Run until this event is set.

        Raises:
            ClusterError: there is no usable login.
            OSError: the status port cannot be listened on, or another agent has the state file.
            OptionError: an option names something that is not there.
            TracingUnusableError: the environment has something of tracing that cannot be.
        """
        settings, registry = self._settings, CollectorRegistry()
        tracing = traced(settings.tracing, "bailiff-agent", registry, self._log.warning)
        async with tracing as tracer:
            self._log.passing = tracer.ids
            await self._run(stop, tracer, registry)

    async def _run(self, stop: asyncio.Event, tracer: Tracer, registry: CollectorRegistry) -> None:
        settings, log = self._settings, self._log
        cluster = await self._cluster(tracer)
        kubelet = await owned_kubelet(settings, cluster, SystemClock(), log, BOUNDS)
        try:
            answers = None if kubelet is None else kubelet.answers
            await self._serve(stop, assemble(settings, cluster, answers, log, tracer, registry))
        finally:
            if kubelet is not None:
                await kubelet.close()
            if cluster is not None:
                await cluster.close()

    async def _serve(self, stop: asyncio.Event, made: Assembled) -> None:
        settings, parts = self._settings, made.parts
        # It names pods; the others are numbers.
        port = StatusPort(_pages(parts), self._log, private=frozenset({"/v1/agent"}))
        try:
            at = await port.start(settings.status_host, settings.status_port)
        except socket.gaierror as error:
            raise OptionError(f"--host {settings.status_host}: {error.strerror}") from error
        except OSError as error:
            raise OSError(f"--status-port {settings.status_port}: {error}") from error
        self._log.info(
            "agent starts",
            node=settings.node,
            status=f"http://{settings.status_host}:{at}",
            notices=list(parts.notifier.names),
        )
        freeze()
        parts.notifier.start()
        try:
            await _until(stop, made.rounds, made.beside)
            self._log.info("agent ends")
            # What was noted last, such as the Event of an eviction; and nobody goes any more.
            parts.evictor.announced.only(())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FOR_LAST_WORDS):
                    await parts.teller.write()
        finally:
            parts.notifier.close()
            await port.stop()
            if not await asyncio.to_thread(made.writes.finish, _FOR_STATE):
                self._log.warning("the state is not written yet", seconds=_FOR_STATE)

    async def _cluster(self, tracer: Tracer) -> Cluster | None:
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
        return await connect(read, SystemClock(), self._log, BOUNDS, tracer)


def _pages(parts: Parts) -> dict[str, Callable[[], Page]]:
    metrics, standing = parts.metrics, parts.standing

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
