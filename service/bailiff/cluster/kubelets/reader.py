"""Reads the summaries of many nodes again and again, each once an interval.

When in the interval a node's turn is, a hash of its name says: so the fleet is spread evenly, and a
node that is read late once is back in its place the next time.

Nodes wait in two lines. Those that hung the last time, which is to have failed after more than the
settings' patience, wait in the second, which has places of its own: however many nodes hang, the
others find all places of the first line. Who takes longer than the patience leaves its place there
at once: it goes on in the second line where there is room, and else is given up. So a place of the
first line is held for the patience at most, even when half of all nodes stop answering in one
moment.

Where it is this process that is slow, no more are begun until it has caught up: nodes are read
later, but no time runs out meanwhile for those that are under way.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol, TypeAlias

import structlog

from bailiff.cluster.kubelets.client import SummaryRead
from bailiff.cluster.kubelets.errors import (
    KubeletError,
    KubeletMalformedError,
    KubeletTimeoutError,
)
from bailiff.cluster.kubelets.settings import ReaderSettings

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.kinds import Node

Outcome: TypeAlias = SummaryRead | KubeletError
log = structlog.get_logger(__name__)

# Told of each node that was read, by its name; it must not raise.
SummaryListener: TypeAlias = Callable[[str, Outcome], None]

# Seconds; a clock that is asked may jump while the event loop waits by another.
_LONGEST_WAIT = 1.0
# Nodes that are due within the same moment are begun together, but so many of each line at most:
# whether the source is busy shows only when they are under way.
_SHORTEST_WAIT = 0.01
_AT_ONCE = 16


class SummarySource(Protocol):
    """Whoever reads one summary: Kubelets, or a test."""

    @property
    def is_busy(self) -> bool:
        """As Kubelets.is_busy."""
        ...

    async def summary(self, node: Node) -> SummaryRead:
        """As Kubelets.summary."""
        ...


def phase_of(name: str, interval: float) -> float:
    """When in each interval the turn of a node is; seconds from 0 to the interval.

    Args:
        name: of the node.
        interval: in seconds.
    """
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64 * interval


class _Line:
    """Nodes that wait, and places for those that are being read."""

    def __init__(self, places: int) -> None:
        self.waiting: deque[_Followed] = deque()
        self.places = places
        self.running = 0

    @property
    def has_room(self) -> bool:
        return self.running < self.places


@dataclass(eq=False, slots=True)
class _Followed:
    node: Node
    phase: float
    hung: bool = False
    gone: bool = False
    # While it is being read: where it has its place, and what cuts it short.
    line: _Line | None = None
    limit: asyncio.Timeout | None = None
    handle: asyncio.TimerHandle | None = None

    def cut(self) -> None:
        """Cut short what is under way; once, since a limit that has run out cannot be moved."""
        limit, self.limit = self.limit, None
        if limit is not None:
            limit.reschedule(asyncio.get_running_loop().time())


@dataclass(order=True, slots=True)
class _Due:
    at: float
    number: int
    whom: _Followed = field(compare=False)


class SummaryReader:
    """For a changing set of nodes. Belongs to one event loop; `run` is its task."""

    def __init__(
        self,
        source: SummarySource,
        listener: SummaryListener,
        clock: Clock,
        settings: ReaderSettings | None = None,
    ) -> None:
        """Follow no node yet.

        Args:
            source: reads one summary; raises KubeletError, within a time of its own.
            listener: is told of each node that was read, in the event loop.
            clock: says when a node is due.
            settings: how often, and how many at a time.
        """
        self._source = source
        self._listener = listener
        self._clock = clock
        self._settings = settings or ReaderSettings()
        self._first = _Line(self._settings.concurrency)
        self._second = _Line(self._settings.slow_concurrency)
        self._followed: dict[str, _Followed] = {}
        self._due: list[_Due] = []
        self._numbered = 0
        self._group: asyncio.TaskGroup | None = None
        self._changed = asyncio.Event()

    @property
    def running(self) -> int:
        """Nodes that are being read."""
        return self._first.running + self._second.running

    @property
    def waiting(self) -> int:
        """Nodes that are due, and wait for a place."""
        lines = (self._first, self._second)
        return sum(not one.gone for line in lines for one in line.waiting)

    def follow(self, node: Node) -> None:
        """Read this node from now on; or the node has changed, such as its address.

        Another of the same name begins anew: nothing is told of the one before any more.
        """
        name = node.metadata.name
        known = self._followed.get(name)
        if known is not None and known.node.metadata.uid == node.metadata.uid:
            known.node = node
            return
        self.unfollow(name)
        made = _Followed(node, phase_of(name, self._settings.interval))
        self._followed[name] = made
        self._schedule(made)
        self._changed.set()

    def unfollow(self, name: str) -> None:
        """Read this node no more; nothing is told of it from now on."""
        known = self._followed.pop(name, None)
        if known is not None:
            known.gone = True
            known.cut()

    async def run(self) -> None:
        """Read until cancelled; what is under way then is cancelled too."""
        async with asyncio.TaskGroup() as group:
            await self._read_on(group)

    async def _read_on(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        try:
            while True:
                self._line_up()
                self._begin()
                await self._wait()
        finally:
            # A group that ends takes no more tasks.
            self._group = None

    async def _wait(self) -> None:
        now = self._clock.monotonic()
        until = self._due[0].at - now if self._due else _LONGEST_WAIT
        if any(line.waiting and line.has_room for line in (self._first, self._second)):
            until = _SHORTEST_WAIT
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(max(until, _SHORTEST_WAIT), _LONGEST_WAIT)):
                await self._changed.wait()

    def _schedule(self, one: _Followed) -> None:
        """Its next turn is at its place in the interval, after now."""
        now, interval = self._clock.monotonic(), self._settings.interval
        wait = (one.phase - now) % interval
        self._numbered += 1
        heapq.heappush(self._due, _Due(now + (wait or interval), self._numbered, one))

    def _line_up(self) -> None:
        now = self._clock.monotonic()
        while self._due and self._due[0].at <= now:
            one = heapq.heappop(self._due).whom
            if not one.gone:
                (self._second if one.hung else self._first).waiting.append(one)

    def _begin(self) -> None:
        for line in (self._first, self._second):
            for _ in range(_AT_ONCE):
                one = self._next_of(line)
                if one is None or self._group is None:
                    break
                self._take_place(one, line)
                self._group.create_task(self._read(one))

    def _next_of(self, line: _Line) -> _Followed | None:
        while line.waiting and line.has_room and not self._source.is_busy:
            one = line.waiting.popleft()
            if not one.gone:
                return one
        return None

    def _take_place(self, one: _Followed, line: _Line) -> None:
        one.line = line
        line.running += 1
        if line is self._first:
            loop = asyncio.get_running_loop()
            one.handle = loop.call_later(self._settings.patience, self._lose_patience, one)

    def _leave_place(self, one: _Followed) -> None:
        if one.line is not None:
            one.line.running -= 1
        if one.handle is not None:
            one.handle.cancel()
        one.line = one.handle = None

    def _lose_patience(self, one: _Followed) -> None:
        if self._second.has_room:
            self._leave_place(one)
            self._take_place(one, self._second)
            self._begin()
        else:
            one.cut()

    async def _read(self, one: _Followed) -> None:
        began = self._clock.monotonic()
        try:
            outcome = await self._outcome(one)
        finally:
            one.limit = None
            self._leave_place(one)
            if not one.gone:
                self._schedule(one)
        if not one.gone:
            took = self._clock.monotonic() - began
            one.hung = isinstance(outcome, KubeletError) and took >= self._settings.patience
            self._listener(one.node.metadata.name, outcome)
        self._begin()

    async def _outcome(self, one: _Followed) -> Outcome:
        try:
            async with asyncio.timeout(None) as one.limit:
                return await self._source.summary(one.node)
        except KubeletError as error:
            # Without its traceback, which holds the answer for as long as somebody keeps the error.
            return type(error)(error.message)
        except TimeoutError:
            patience = self._settings.patience
            return KubeletTimeoutError(
                f"the kubelet of {one.node.metadata.name}: given up after {patience:g} s, since "
                f"{self._second.places} others take longer"
            )
        except Exception:
            # What one kubelet answers must not end the reading of all others. It is a fault of
            # ours, so that it is told with its place.
            log.exception("a kubelet's answer could not be read", node=one.node.metadata.name)
            return KubeletMalformedError("its answer could not be read, see the worker's log")
