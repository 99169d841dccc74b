"""Writes down on nodes when their untimed taints were first seen, beside everything else.

One write for each change, guarded by the node's resourceVersion: where somebody else wrote
meanwhile, the node's next event brings a fresh look. Timers do not wait for the write; if it is
lost, a later worker only starts the time anew, and nothing is early.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from bailiff.cluster import ClusterError, ConflictError, FencedError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.kinds import Node
    from bailiff.worker.actions import NodeActions
    from bailiff.worker.metrics import WorkerMetrics

_WRITERS = 4
# A write that failed is asked for again after this many seconds.
_RETRY = 5.0

log = structlog.get_logger(__name__)


class Annotator:
    """At most one write waits for each node: the latest."""

    def __init__(
        self, actions: NodeActions, metrics: WorkerMetrics, on_failed: Callable[[str], None]
    ) -> None:
        """Prepare.

        Args:
            actions: how nodes are written.
            metrics: where writes are counted.
            on_failed: told the name of a node whose write failed and should be asked for again.
        """
        self._actions = actions
        self._metrics = metrics
        self._on_failed = on_failed
        self._wanted: dict[str, tuple[Node, str]] = {}
        self._names: asyncio.Queue[str] = asyncio.Queue()

    def request(self, node: Node, text: str) -> None:
        """Write this annotation on the node as it is now; empty takes it away."""
        name = node.metadata.name
        if name not in self._wanted:
            self._names.put_nowait(name)
        self._wanted[name] = (node, text)

    async def run(self) -> None:
        """Write until cancelled."""
        async with asyncio.TaskGroup() as writers:
            for _ in range(_WRITERS):
                writers.create_task(self._write_all())

    async def drain(self) -> None:
        """Return when everything asked for so far has been written or has failed."""
        await self._names.join()

    async def _write_all(self) -> None:
        while True:
            name = await self._names.get()
            node, text = self._wanted.pop(name)
            try:
                await self._actions.annotate(node, text)
                self._metrics.annotations.labels("written").inc()
            except (ConflictError, NotFoundError):
                self._metrics.annotations.labels("outdated").inc()
            except FencedError:
                # Whoever leads writes it; if that is us again, everything is evaluated anew.
                self._metrics.annotations.labels("fenced").inc()
            except ClusterError as error:
                self._metrics.annotations.labels("failed").inc()
                log.warning("node not annotated", node=name, error=str(error))
                asyncio.get_running_loop().call_later(_RETRY, self._on_failed, name)
            finally:
                self._names.task_done()
