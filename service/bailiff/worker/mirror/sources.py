"""Where a worker's picture of the cluster comes from."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol, TypeVar

from bailiff.cluster import HasMetadata

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from bailiff.cluster import WatchEvent

T = TypeVar("T", bound=HasMetadata)


class EventSource(Protocol[T]):
    """What a worker follows: a ListWatch, or a test's stand-in for one."""

    def events(self) -> AsyncGenerator[WatchEvent[T], None]:
        """See ListWatch."""
        ...


class Follower(Protocol):
    """Keeps something in step with the cluster: a DeviceFollowing, or a test's stand-in for one."""

    async def run(self) -> None:
        """Until cancelled."""


async def feed(watch: EventSource[T], apply: Callable[[WatchEvent[T]], Awaitable[None]]) -> None:
    """Hand over all events, each after the one before has been taken in, until cancelled."""
    async with contextlib.aclosing(watch.events()) as events:
        async for event in events:
            await apply(event)
