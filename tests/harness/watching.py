"""A raw watch, line by line, without our ListWatch in between; and a ListWatch that counts."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bailiff.cluster import PODS, Cluster, ListWatch, Request, Restart, Unreadable
from bailiff.kinds import Pod

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bailiff.clock import Clock
    from bailiff.cluster.wire import Inflow
    from tests.harness.objects import Object

# What is waited for comes at once, or never; a slow machine gets this many seconds.
PATIENCE = 20.0
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Watch:
    """The events of one raw watch."""

    def __init__(self, stream: Inflow) -> None:
        self._stream = stream
        self._rest = b""
        self._lines: list[bytes] = []

    async def next(self) -> Object | None:
        """The next event; None when the server has ended the watch in good order."""
        async with asyncio.timeout(PATIENCE):
            while not self._lines:
                chunk = await self._stream.read()
                if not chunk:
                    return None
                *self._lines, self._rest = (self._rest + chunk).split(b"\n")
        event: Object = json.loads(self._lines.pop(0))
        return event

    async def take(self, count: int) -> list[Object]:
        """As many events as asked for."""
        events = [await self.next() for _ in range(count)]
        return [event for event in events if event is not None]

    async def rest(self) -> list[Object]:
        """All that come until the server ends the watch."""
        events: list[Object] = []
        while (event := await self.next()) is not None:
            events.append(event)
        return events


class CountedWatch(ListWatch[Pod]):
    """A ListWatch of pods that counts why it started again, and keeps what it could not decode."""

    def __init__(self, cluster: Cluster, clock: Clock, **options: Any) -> None:
        self.restarts: Counter[Restart] = Counter()
        self.unreadable: list[Unreadable] = []
        super().__init__(
            cluster,
            PODS,
            clock,
            on_restart=lambda cause, _: self.restarts.update([cause]),
            on_unreadable=self.unreadable.append,
            **options,
        )


@asynccontextmanager
async def watching(cluster: Cluster, namespace: str, **query: str) -> AsyncIterator[Watch]:
    """A watch of the pods of a namespace; query parameters as Kubernetes names them."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    async with await cluster.open(Request("GET", path, {"watch": "true"} | query)) as stream:
        yield Watch(stream)


def told(event: Object) -> tuple[str, str]:
    """Type and name of an event."""
    return event["type"], event["object"]["metadata"].get("name", "")
