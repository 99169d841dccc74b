"""A resource as a stream of events that never ends and misses nothing.

Theory of operation. A watch continues from a resource version, so nothing is missed as long as
the server remembers that version; when it does not (410 Gone, HTTP or event), the only way on is
to read everything again and tell the consumer: a new Replaced. Every failure therefore answers
two questions, in the tables below: is the version still good, and may the next try start at
once? The first version comes from a list, or from a watch that sends its objects first; a watch
from no version at all would begin anywhere, and is never started.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Generic, TypeVar

from bailiff.cluster import request as requests
from bailiff.cluster.backoff import Backoff
from bailiff.cluster.errors import (
    ClusterError,
    InvalidError,
    RequestTimeoutError,
    ResponseError,
)
from bailiff.cluster.keeping import KEEP_LITTLE, Keep
from bailiff.cluster.lines import LineSplitter, LineTooLongError
from bailiff.cluster.request import Selection
from bailiff.cluster.slimming import slimmer_for
from bailiff.cluster.unreadable import Unreadable
from bailiff.cluster.watch_events import (
    Bookmark,
    HasMetadata,
    InitialEvents,
    ObjectEvent,
    Replaced,
    WatchEvent,
    decode_event,
)
from bailiff.cluster.watch_health import (
    RELISTS,
    Restart,
    RewoundError,
    WatchHealth,
    restart_for,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bailiff.clock import Clock
    from bailiff.cluster.client import Cluster
    from bailiff.cluster.request import Request
    from bailiff.cluster.resource import Resource
    from bailiff.cluster.wire import Inflow

T = TypeVar("T", bound=HasMetadata)

# A watch that ends sooner was not healthy, whatever it ended with (client-go calls it a "very
# short watch"). Seconds.
_HEALTHY_LIFE = 1.0
# Retry-After is believed up to this: a mirror that sleeps for long is no mirror. Seconds.
_MAX_RETRY_AFTER = 60.0


def _tell_nobody(_cause: Restart, _error: ClusterError | None) -> None:
    pass


def _count_nobody(_object: Unreadable) -> None:
    pass


class ListWatch(Generic[T]):
    """The events of one resource, for one consumer.

    Use: `async with aclosing(list_watch.events()) as events: async for event in events: ...`.
    It survives every ClusterError; it ends only when it is closed or cancelled. Pods, nodes,
    slices and claims come slim: of a pod's conditions only those in slimming.KEPT_CONDITIONS, of
    a node's labels only its zone, and nothing of its status, of slices and claims no labels and
    annotations. An object that cannot be decoded comes as Unreadable, and the watch goes on behind
    it.

    All pods are watched, those that have ended too. A watch that asked for less
    (`status.phase!=Succeeded`) would be told DELETED of a pod that leaves the selection, just as
    of one that is deleted (convertToWatchEvent in k8s.io/apiserver,
    pkg/storage/cacher/cache_watcher.go), and could not say which of the two it was.

    Args:
        cluster: where to.
        resource: what.
        clock: for health and backoff.
        selection: which of them; all by default.
        random: for jitter.
        keep: what stays of pods and nodes.
        on_restart: told of every restart, its cause, and the error behind it if there was one.
        on_unreadable: told of every object that cannot be decoded, as often as it is met.
    """

    def __init__(
        self,
        cluster: Cluster,
        resource: Resource[T],
        clock: Clock,
        *,
        selection: Selection | None = None,
        random: Random | None = None,
        keep: Keep = KEEP_LITTLE,
        on_restart: Callable[[Restart, ClusterError | None], None] = _tell_nobody,
        on_unreadable: Callable[[Unreadable], None] = _count_nobody,
    ) -> None:
        settings = cluster.settings
        self.health = WatchHealth()
        self._cluster = cluster
        self._resource = resource
        self._clock = clock
        self._selection = selection or Selection()
        self._random = random or SystemRandom()
        self._on_restart = on_restart
        self._on_unreadable = on_unreadable
        self._slim = slimmer_for(resource.kind, keep)
        self._objects_first = settings.watch_initial_events
        self._expired_at = float("-inf")
        self._backoff = Backoff(
            clock,
            self._random,
            smallest=settings.backoff_min,
            largest=settings.backoff_max,
            reset=settings.backoff_reset,
        )

    async def events(self) -> AsyncGenerator[WatchEvent[T], None]:
        """The events, from a Replaced on, for ever."""
        self.health.wanted(self._clock.monotonic())
        while True:
            began = self._clock.monotonic()
            error: ClusterError | None = None
            was_open = False
            try:
                async with aclosing(self._until_failure()) as events:
                    async for event in events:
                        yield event
            except ClusterError as caught:
                error = caught
            finally:
                was_open = self.health.connected
                self.health.lost(self._clock.monotonic())
            lived = self._clock.monotonic() - began if was_open else 0.0
            await asyncio.sleep(self._after(error, lived))

    async def _until_failure(self) -> AsyncGenerator[WatchEvent[T], None]:
        initial: InitialEvents[T] | None = None
        if self.health.resource_version:
            await self._check_version()
        elif self._objects_first:
            initial = InitialEvents()
        else:
            yield await self._listed()
        async with (
            await self._cluster.open(self._request(objects_first=initial is not None)) as stream,
            aclosing(self._decoded(stream)) as decoded,
        ):
            self.health.opened(self._clock.monotonic())
            async for seen in decoded:
                event = seen if initial is None else initial.take(seen)
                if event is None:
                    continue
                if isinstance(event, Replaced):
                    initial = None
                self._note(event)
                if not isinstance(event, Bookmark):
                    yield event

    async def _check_version(self) -> None:
        # A watch from a version that the server has not reached yet is accepted and stays
        # silent until it has, so that everything up to there would be missed. That happens
        # when etcd was restored from a backup, or when this is another cluster by now.
        version = await self._cluster.current_version(self._resource, self._selection)
        self.health.heard(self._clock.monotonic())
        if _is_older(version, self.health.resource_version):
            raise RewoundError(f"watch: version {version} after {self.health.resource_version}")

    async def _listed(self) -> Replaced[T]:
        listing = await self._cluster.list_readable(self._resource, self._selection, self._slim)
        replaced = Replaced(listing.items, listing.resource_version, listing.unreadable)
        for one in listing.unreadable:
            self._on_unreadable(one)
        self.health.heard(self._clock.monotonic())
        self._note(replaced)
        return replaced

    def _request(self, *, objects_first: bool) -> Request:
        settings = self._cluster.settings
        life = int(self._random.uniform(settings.watch_timeout_min, settings.watch_timeout_max))
        if objects_first:
            return requests.watch_from_start(self._resource, self._selection, life)
        return requests.watch(self._resource, self._selection, life, self.health.resource_version)

    async def _decoded(self, stream: Inflow) -> AsyncGenerator[ObjectEvent[T] | Bookmark, None]:
        splitter = LineSplitter(self._cluster.settings.max_event_bytes)
        began = self._clock.monotonic()
        while chunk := await stream.read():
            self.health.heard(self._clock.monotonic())
            for line in _lines(splitter, chunk):
                event = decode_event(line, self._resource.kind, self._slim)
                if isinstance(event, Unreadable):
                    self._on_unreadable(event)
                yield event
            self._check_initial(began)

    def _check_initial(self, began: float) -> None:
        # A server that does not know sendInitialEvents ignores it, and its bookmark never comes.
        bound = self._cluster.settings.watch_initial_timeout
        if not self.health.resource_version and self._clock.monotonic() - began > bound:
            raise RequestTimeoutError(f"watch: no end of the initial events within {bound:g} s")

    def _note(self, event: WatchEvent[T] | Bookmark) -> None:
        version, known = _version_of(event), self.health.resource_version
        if not version:
            raise ResponseError("watch: an event without resourceVersion")
        if _is_older(version, known):
            raise RewoundError(f"watch: version {version} after {known}")
        self.health.told(version, whole=isinstance(event, Replaced))

    def _after(self, error: ClusterError | None, lived: float) -> float:
        """Tell of the failure, forget what it spoiled, and say how long to wait.

        `lived` is how long the watch was open, in seconds; 0: it was not.
        """
        restart = restart_for(error)
        if self._cannot_send_objects_first(error):
            restart, self._objects_first = Restart.UNSUPPORTED, False
        self.health.last_error = error or self.health.last_error
        self._on_restart(restart, error)
        if restart in RELISTS:
            self.health.spoiled()
        if self._at_once(restart, lived):
            return 0.0
        asked = error.retry_after if error is not None else None
        return max(self._backoff.next(), min(asked or 0.0, _MAX_RETRY_AFTER))

    def _cannot_send_objects_first(self, error: ClusterError | None) -> bool:
        starting = self._objects_first and not self.health.resource_version
        return starting and isinstance(error, InvalidError | RequestTimeoutError)

    def _at_once(self, restart: Restart, lived: float) -> bool:
        if restart is Restart.EXPIRED:
            # Once in a healthy stretch: a server that forgets every version must not be
            # listed in a loop.
            before, self._expired_at = self._expired_at, self._clock.monotonic()
            return self._expired_at - before > self._cluster.settings.backoff_reset
        # A watch of what never changes is IDLE again and again: that is no failure, and waits that
        # grow with each time would leave it closed for a minute.
        return restart is Restart.UNSUPPORTED or (
            restart in {Restart.ENDED, Restart.IDLE} and lived >= _HEALTHY_LIFE
        )


def _lines(splitter: LineSplitter, chunk: bytes) -> list[bytes]:
    try:
        return splitter.feed(chunk)
    except LineTooLongError as error:
        raise ResponseError(f"watch: {error}") from error


def _version_of(event: WatchEvent[T] | Bookmark) -> str:
    match event:
        case Replaced(resource_version=version) | Bookmark(resource_version=version):
            return version
        case Unreadable(metadata=metadata):
            return metadata.resource_version
    return event.object.metadata.resource_version


def _is_older(one: str, other: str) -> bool:
    # Versions are decimal numbers without leading zeros that may be compared (KEP-5504). A
    # server that has others, as some aggregated ones do, is taken at its word.
    numbers = one.isdigit() and other.isdigit()
    return numbers and (len(one), one) < (len(other), other)
