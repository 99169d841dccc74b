"""Notes on nodes when their untimed taints were first seen, beside everything else.

Timers do not wait for a note, and no note that is missing or outdated makes an eviction early. A
note is guarded by the node's resourceVersion. A node is tried until its annotation reads as
wanted: what is wanted is asked for anew before each try, so that a try is of the node's latest
version, and there is none of what nobody wants any more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from bailiff.cluster import ClusterError, ConflictError, FencedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.clock import Clock
    from bailiff.worker.execute.actions import NodeActions
    from bailiff.worker.observe.metrics import WorkerMetrics
    from bailiff.worker.systems.node_taints.first_seen import WantedNote

_WRITERS = 8
# Seconds until the second try, doubled with each further one, up to the last number. After a
# conflict the watch brings the newer version at once.
_CONFLICT_DELAY = 0.1
_FAILURE_DELAY = 1.0
_MAX_DELAY = 60.0

log = structlog.get_logger(__name__)


class Annotator:
    """Looks at nodes by name; each waits at most once."""

    def __init__(
        self,
        actions: NodeActions,
        metrics: WorkerMetrics,
        clock: Clock,
        wanted: Callable[[str], WantedNote | None],
    ) -> None:
        """Prepare.

        Args:
            actions: how nodes are written.
            metrics: where writes are counted.
            clock: for when a note is due.
            wanted: what is to be written on the node of this name, if anything.
        """
        self._actions = actions
        self._metrics = metrics
        self._clock = clock
        self._wanted = wanted
        self._names: asyncio.Queue[str] = asyncio.Queue()
        self._queued: set[str] = set()
        # Being written, and those of them that were looked at again meanwhile.
        self._writing: set[str] = set()
        self._again: set[str] = set()
        self._later: dict[str, asyncio.TimerHandle] = {}
        self._tries: dict[str, int] = {}
        self._failing: set[str] = set()

    def look_at(self, name: str) -> None:
        """Write on this node what is wanted; one that waits for its next try goes on waiting."""
        if name in self._writing:
            self._again.add(name)
        elif name not in self._queued and name not in self._later:
            self._enqueue(name)

    async def run(self) -> None:
        """Write until cancelled."""
        try:
            async with asyncio.TaskGroup() as writers:
                for _ in range(_WRITERS):
                    writers.create_task(self._write_all())
        finally:
            for timer in self._later.values():
                timer.cancel()

    async def drain(self) -> None:
        """Return when all that is due has been tried; what waits for its next try is left."""
        await self._names.join()

    def _enqueue(self, name: str) -> None:
        self._later.pop(name, None)
        self._queued.add(name)
        self._names.put_nowait(name)

    def _look_later(self, name: str, seconds: float) -> None:
        timer = asyncio.get_running_loop().call_later(seconds, self._enqueue, name)
        self._later[name] = timer

    async def _write_all(self) -> None:
        while True:
            name = await self._names.get()
            self._queued.discard(name)
            self._writing.add(name)
            try:
                await self._write(name)
            finally:
                self._writing.discard(name)
                self._names.task_done()
            if name in self._again:
                self._again.discard(name)
                self.look_at(name)

    async def _write(self, name: str) -> None:
        note = self._wanted(name)
        if note is None:
            self._settle(name)
            return
        wait = note.due - self._clock.monotonic()
        if wait > 0:
            self._look_later(name, wait)
        else:
            await self._try(name, note)

    async def _try(self, name: str, note: WantedNote) -> None:
        try:
            await self._actions.annotate(note.node, note.text)
        except ConflictError:
            self._metrics.annotations.labels("outdated").inc()
            self._try_again(name, _CONFLICT_DELAY)
        except FencedError:
            # Whoever leads writes it; if that is us again, all nodes are looked at anew.
            self._metrics.annotations.labels("fenced").inc()
            self._settle(name)
        except ClusterError as error:
            self._metrics.annotations.labels("failed").inc()
            self._complain(name, error)
            self._try_again(name, _FAILURE_DELAY)
        else:
            self._metrics.annotations.labels("written").inc()
            self._settle(name)

    def _try_again(self, name: str, delay: float) -> None:
        tries = self._tries.get(name, 0)
        self._tries[name] = tries + 1
        # The exponent is bounded too: no float is as large as the power would grow.
        self._look_later(name, min(delay * 2 ** min(tries, 10), _MAX_DELAY))

    def _complain(self, name: str, error: ClusterError) -> None:
        if not self._failing:
            log.warning("nodes not annotated, trying again", node=name, error=str(error))
        self._failing.add(name)

    def _settle(self, name: str) -> None:
        self._tries.pop(name, None)
        if name in self._failing:
            self._failing.remove(name)
            if not self._failing:
                log.info("nodes annotated again")
