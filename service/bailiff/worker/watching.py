"""What a worker watches: pods and nodes always, what its policies refer to while they do."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import structlog

from bailiff.cluster import NODES, PODS, HasMetadata, ListWatch, Restart

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bailiff.clock import Clock
    from bailiff.cluster import Cluster, ClusterError, Resource, Selection, WatchEvent, WatchHealth
    from bailiff.kinds import Node, Pod
    from bailiff.worker.metrics import WorkerMetrics

T = TypeVar("T", bound=HasMetadata)

log = structlog.get_logger(__name__)


class PodWatch:
    """The pods; read again, with their labels, once somebody needs those.

    Until they have been read again, pods come with LABELS_NOT_KEPT, and nobody takes that for an
    absence of labels.
    """

    def __init__(self, open_watch: Callable[[bool], ListWatch[Pod]]) -> None:
        """Watch without labels; `open_watch` is told whether to keep them."""
        self._open = open_watch
        self._labels = False
        self._watch = open_watch(False)
        self._watching: asyncio.Timeout | None = None
        # By resource, for whoever tells how far a mirror is to be believed.
        self.healths: dict[str, WatchHealth] = {"pods": self._watch.health}

    def need_labels(self) -> None:
        """Keep the labels from now on, for good; not to be called by who reads `events`."""
        if self._labels:
            return
        self._labels = True
        self._watch = self._open(True)
        self.healths["pods"] = self._watch.health
        if self._watching is not None:
            self._watching.reschedule(asyncio.get_running_loop().time())

    async def events(self) -> AsyncGenerator[WatchEvent[Pod], None]:
        """See ListWatch; read and closed by one task, which does nothing else meanwhile."""
        while True:
            watch = self._watch
            try:
                async with (
                    asyncio.timeout(None) as self._watching,
                    contextlib.aclosing(watch.events()) as events,
                ):
                    async for event in events:
                        yield event
            except TimeoutError:
                if watch is self._watch:
                    raise
            finally:
                self._watching = None


class Watches:
    """Opens watches of one cluster, and counts how often each starts again."""

    def __init__(self, cluster: Cluster, clock: Clock, metrics: WorkerMetrics) -> None:
        self._cluster = cluster
        self._clock = clock
        self._metrics = metrics

    def open(
        self,
        resource: Resource[T],
        selection: Selection | None = None,
        *,
        keep_labels: bool = False,
    ) -> ListWatch[T]:
        """A watch of these objects; `keep_labels` as in ListWatch."""
        return ListWatch(
            self._cluster,
            resource,
            self._clock,
            selection=selection,
            keep_labels=keep_labels,
            on_restart=partial(self._note, resource.plural),
        )

    def pods(self) -> PodWatch:
        """Of all pods."""
        return PodWatch(lambda labels: self.open(PODS, keep_labels=labels))

    def _note(self, resource: str, cause: Restart, error: ClusterError | None) -> None:
        self._metrics.watch_restarts.labels(resource, cause.value).inc()
        if cause is not Restart.ENDED:
            log.warning(
                "watch starts again", resource=resource, cause=cause.value, error=str(error)
            )


def watches(
    cluster: Cluster, clock: Clock, metrics: WorkerMetrics
) -> tuple[PodWatch, ListWatch[Node]]:
    """What every worker watches: pods and nodes."""
    opener = Watches(cluster, clock, metrics)
    return opener.pods(), opener.open(NODES)
