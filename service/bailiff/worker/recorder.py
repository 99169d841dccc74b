"""Events, written beside the evictions and never in their way.

A bounded queue and one task: when the API server is slow, Events are dropped and counted;
evictions do not wait for them.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from bailiff.cluster import ClusterError, FencedError

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.decisions import EventNote
    from bailiff.kinds import Pod
    from bailiff.worker.actions import PodActions
    from bailiff.worker.metrics import WorkerMetrics

_CAPACITY = 10_000
# One, as client-go has: in a storm the API server's time goes to the evictions, and Events follow.
_WRITERS = 1

log = structlog.get_logger(__name__)


class Recorder:
    """Takes notes, writes Events."""

    def __init__(self, actions: PodActions, clock: Clock, metrics: WorkerMetrics) -> None:
        self._actions = actions
        self._clock = clock
        self._metrics = metrics
        self._notes: asyncio.Queue[tuple[Pod, EventNote]] = asyncio.Queue(_CAPACITY)

    def record(self, pod: Pod, note: EventNote) -> None:
        """Write this Event some time soon; drops it if too many wait already."""
        try:
            self._notes.put_nowait((pod, note))
        except asyncio.QueueFull:
            self._metrics.events.labels("dropped").inc()

    async def run(self) -> None:
        """Write until cancelled."""
        async with asyncio.TaskGroup() as writers:
            for _ in range(_WRITERS):
                writers.create_task(self._write_all())

    async def drain(self) -> None:
        """Return when everything taken so far has been written or has failed."""
        await self._notes.join()

    async def _write_all(self) -> None:
        while True:
            pod, note = await self._notes.get()
            try:
                await self._actions.record(pod, note, self._clock.now())
                self._metrics.events.labels("written").inc()
            except FencedError:
                self._metrics.events.labels("fenced").inc()
            except ClusterError as error:
                # An Event is a courtesy: it is not worth a retry that would delay the next one.
                self._metrics.events.labels("failed").inc()
                log.warning("event not written", pod=pod.key, error=str(error))
            finally:
                self._notes.task_done()
