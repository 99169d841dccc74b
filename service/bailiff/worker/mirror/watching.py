"""Where a worker's picture of the cluster comes from: the watches that feed it."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import structlog

from bailiff.cluster import KEEP_LITTLE, NODES, PODS, HasMetadata, Keep, ListWatch, Restart
from bailiff.worker.mirror.refusals import LeftOut

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from bailiff.clock import Clock
    from bailiff.cluster import (
        Cluster,
        ClusterError,
        Resource,
        Selection,
        WatchEvent,
        WatchHealth,
    )
    from bailiff.kinds import Node, Pod
    from bailiff.worker.observe.metrics import WatchMetrics

T = TypeVar("T", bound=HasMetadata)

log = structlog.get_logger(__name__)


class EventSource(Protocol[T]):
    """What a worker follows: a ListWatch, or a test's stand-in for one."""

    def events(self) -> AsyncGenerator[WatchEvent[T], None]:
        """See ListWatch."""
        ...


async def feed(watch: EventSource[T], apply: Callable[[WatchEvent[T]], Awaitable[None]]) -> None:
    """Hand over all events, each after the one before has been taken in, until cancelled."""
    async with contextlib.aclosing(watch.events()) as events:
        async for event in events:
            await apply(event)


class PodWatch:
    """The pods; read again, with their labels, once somebody needs those.

    Until they have been read again, pods come with LABELS_NOT_KEPT, and nobody takes that for an
    absence of labels.
    """

    def __init__(self, watches: Watches) -> None:
        """Watch without labels; `watches` opens the one, and the other."""
        self._watches = watches
        self._labels = False
        self._watch = watches.open(PODS)
        # There while an event is waited for; let expire by who wants another watch.
        self._waiting: asyncio.Timeout | None = None
        watches.healths[PODS.plural] = self._watch.health

    def need_labels(self) -> None:
        """Keep the labels from now on, for good."""
        if self._labels:
            return
        self._labels = True
        self._watch = self._watches.open(PODS, pod_labels=True)
        self._watches.healths[PODS.plural] = self._watch.health
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def events(self) -> AsyncGenerator[WatchEvent[Pod], None]:
        """See ListWatch; read and closed by one task."""
        while True:
            watch = self._watch
            async with contextlib.aclosing(watch.events()) as events:
                while (event := await self._next(watch, events)) is not None:
                    yield event

    async def _next(
        self, watch: ListWatch[Pod], events: AsyncGenerator[WatchEvent[Pod], None]
    ) -> WatchEvent[Pod] | None:
        """The next event; None once another watch has taken the place of this one."""
        # The time-out is there while we wait, and not while the consumer works: it would strike
        # the consumer.
        try:
            async with asyncio.timeout(None) as self._waiting:
                return await anext(events) if watch is self._watch else None
        except TimeoutError:
            if watch is self._watch:
                raise
            return None
        finally:
            self._waiting = None


class Watches:
    """Opens watches of one cluster; counts restarts, and objects that are left out.

    Attributes:
        healths: of what a worker follows, by resource: how far its picture is to be believed.
    """

    def __init__(
        self, cluster: Cluster, clock: Clock, metrics: WatchMetrics, keep: Keep = KEEP_LITTLE
    ) -> None:
        """Open nothing yet; `keep` is what stays of pods and nodes, the labels of pods apart."""
        self._keep = keep
        self.healths: dict[str, WatchHealth] = {}
        self._cluster = cluster
        self._clock = clock
        self._metrics = metrics
        self._left_out = LeftOut(clock, metrics)

    def open(
        self,
        resource: Resource[T],
        selection: Selection | None = None,
        *,
        pod_labels: bool = False,
    ) -> ListWatch[T]:
        """A watch of these objects; `pod_labels` as in Keep."""
        return ListWatch(
            self._cluster,
            resource,
            self._clock,
            selection=selection,
            keep=replace(self._keep, pod_labels=pod_labels),
            on_restart=partial(self._note, resource.plural),
            on_unreadable=partial(self._left_out.note, resource.plural),
        )

    def pods(self) -> PodWatch:
        """Of all pods."""
        return PodWatch(self)

    def nodes(self) -> ListWatch[Node]:
        """Of all nodes."""
        watch = self.open(NODES)
        self.healths[NODES.plural] = watch.health
        return watch

    def _note(self, resource: str, cause: Restart, error: ClusterError | None) -> None:
        self._metrics.restarts.labels(resource, cause.value).inc()
        if cause is not Restart.ENDED:
            log.warning(
                "watch starts again", resource=resource, cause=cause.value, error=str(error)
            )
