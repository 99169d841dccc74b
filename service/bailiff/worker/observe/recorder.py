"""Events, written beside the evictions and never in their way.

A bounded queue and one task: when the API server is slow, Events are dropped and counted;
evictions do not wait for them. In a storm it is Events that wait, for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, NamedTuple

import structlog

from bailiff.cluster import ClusterError, FencedError
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.actions.ports import PodActions
    from bailiff.clock import Clock
    from bailiff.decisions import EventNote
    from bailiff.kinds import Pod
    from bailiff.tracing import Parent, Tracer
    from bailiff.worker.observe.metrics import WorkerMetrics
    from bailiff.worker.timers.pending import PendingEvictions

_CAPACITY = 10_000
# One, as client-go has: in a storm the API server's time goes to the evictions, and Events follow.
_WRITERS = 1
# While pods are overdue an Event waits so many seconds at most. It costs the API server about as
# much as half an eviction, and tells nothing that could not be told a little later.
_PATIENCE = 20.0
# From so many on they are written all the same, before any had to be dropped.
_MANY = _CAPACITY // 2
_LOOK_AGAIN = 0.1
# Failures of one cause are told once in so many seconds, and counted meanwhile.
_TELL_EVERY = 60.0

log = structlog.get_logger(__name__)


class _Entry(NamedTuple):
    """What is to be written, when it was noted by both clocks, and within which span; or none."""

    pod: Pod
    note: EventNote
    component: str
    at: datetime
    noted: float
    parent: Parent | None


class Recorder:
    """Takes notes, writes Events."""

    def __init__(
        self,
        actions: PodActions,
        clock: Clock,
        metrics: WorkerMetrics,
        pending: PendingEvictions,
        tracer: Tracer = NO_TRACER,
    ) -> None:
        """Start with no notes.

        Args:
            actions: writes an Event.
            clock: tells when something was noted.
            metrics: for counts.
            pending: tells whether evictions are overdue, so that Events had better wait.
            tracer: puts the request into the trace of what is told.
        """
        self._actions = actions
        self._clock = clock
        self._metrics = metrics
        self._pending = pending
        self._tracer = tracer
        self._hurry = asyncio.Event()
        self._notes: asyncio.Queue[_Entry] = asyncio.Queue(_CAPACITY)
        self._untold = 0
        self._told_at = float("-inf")

    def record(self, pod: Pod, note: EventNote, controller: str) -> None:
        """Write this Event some time soon; drops it if too many wait already.

        `controller` is upstream's name for who evicts, or did: the Event comes from there.
        """
        now, noted = self._clock.now(), self._clock.monotonic()
        entry = _Entry(pod, note, controller, now, noted, self._tracer.here())
        try:
            self._notes.put_nowait(entry)
        except asyncio.QueueFull:
            self._metrics.events.labels("dropped").inc()

    async def run(self) -> None:
        """Write until cancelled."""
        async with asyncio.TaskGroup() as writers:
            for _ in range(_WRITERS):
                writers.create_task(self._write_all())

    async def drain(self) -> None:
        """Return when everything taken so far has been written or has failed."""
        self._hurry.set()
        await self._notes.join()

    async def _write_all(self) -> None:
        while True:
            pod, note, component, at, noted, parent = await self._notes.get()
            await self._let_evictions_pass(noted + _PATIENCE)
            try:
                with self._tracer.under(parent):
                    await self._actions.record(pod, note, at, component)
                self._metrics.events.labels("written").inc()
            except FencedError:
                self._metrics.events.labels("fenced").inc()
            except ClusterError as error:
                # An Event is a courtesy: it is not worth a retry that would delay the next one.
                self._metrics.events.labels("failed").inc()
                self._tell_failure(pod, error)
            finally:
                self._notes.task_done()

    def _tell_failure(self, pod: Pod, error: ClusterError) -> None:
        now = self._clock.monotonic()
        self._untold += 1
        if now - self._told_at >= _TELL_EVERY:
            log.warning("events not written", count=self._untold, pod=pod.key, error=str(error))
            self._untold, self._told_at = 0, now

    async def _let_evictions_pass(self, until: float) -> None:
        while self._should_wait(until):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AGAIN):
                    await self._hurry.wait()

    def _should_wait(self, until: float) -> bool:
        if self._hurry.is_set() or self._notes.qsize() >= _MANY:
            return False
        return self._pending.overdue and self._clock.monotonic() < until
