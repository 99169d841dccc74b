"""The worker process."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import structlog

from bailiff.bootstrap.cluster import connect_to
from bailiff.bootstrap.metrics import new_registry
from bailiff.bootstrap.process import Program, listen
from bailiff.clock import SystemClock
from bailiff.decisions import Options
from bailiff.serving import HttpServer
from bailiff.worker import ClusterActions, Worker, WorkerSettings, create_status_app, watches

if TYPE_CHECKING:
    import asyncio

    from bailiff.bootstrap.settings import WorkSettings

log = structlog.get_logger(__name__)


def work(settings: WorkSettings) -> Program:
    """A worker on the chosen cluster."""

    async def program(stop: asyncio.Event) -> None:
        clock, registry = SystemClock(), new_registry()
        async with await connect_to(settings.cluster) as cluster:
            actions = ClusterActions(cluster, instance=socket.gethostname())
            worker = Worker(actions, clock, registry, _worker_settings(settings))
            app = create_status_app(worker.pending, worker.evaluator, registry)
            status = HttpServer(app, settings.host, settings.status_port)
            port = await listen(status.start(), settings.host, settings.status_port)
            log.info("worker starts", status=f"http://{settings.host}:{port}")
            try:
                await worker.run(*watches(cluster, clock, worker.metrics), stop)
            finally:
                await status.stop(grace=1.0)

    return program


def _worker_settings(settings: WorkSettings) -> WorkerSettings:
    options = Options(
        comparison_operators=settings.options.comparison_operators,
        evict_ended_pods=settings.options.evict_ended_pods,
        # Timers need no trace; who asks why asks the decision API.
        explain=False,
    )
    return WorkerSettings(options=options, concurrency=settings.concurrency)
