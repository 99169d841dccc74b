"""A watch that the policies may ask for, of few objects: the ConfigMap that pauses, Namespaces.

Theory of operation. Whoever is told learns three things: that nobody asked (no objects), that
nothing is known yet (UNKNOWN), or which objects there are. UNKNOWN is told in the very call that
asks for other objects, so that between two policies nobody acts on what belonged to the first. A
watch that is interrupted goes on from where it was; until then what was last seen holds. While one
of the objects cannot be decoded nothing is known: what it says may be the very pause.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from bailiff.cluster import (
    Changed,
    Deleted,
    HasMetadata,
    Replaced,
    Unreadable,
    WatchHealth,
)
from bailiff.decisions.policies import UNKNOWN, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.cluster import Resource, Selection, WatchEvent
    from bailiff.kinds import ObjectMeta
    from bailiff.worker.mirror.watching import Watches

T = TypeVar("T", bound=HasMetadata)


_Key = tuple[str, str]


class OptionalWatch(Generic[T]):
    """Follows the objects that are asked for, and hands over all of them after each change."""

    def __init__(
        self,
        resource: Resource[T],
        watches: Watches,
        tell: Callable[[tuple[T, ...] | Literal[Unknown.UNKNOWN]], None],
    ) -> None:
        """Ask for nothing yet.

        Args:
            resource: what may be asked for.
            watches: opens a watch, which is closed when something else is asked for.
            tell: told of what is known; must not block.
        """
        self._resource = resource
        self._watches = watches
        self._tell = tell
        self._healths = watches.healths
        self._wanted: Selection | None = None
        self._asked = asyncio.Event()
        self._objects: dict[_Key, T] = {}
        self._unreadable: set[_Key] = set()
        self.known = True
        self._healths[resource.plural] = WatchHealth()

    def ask(self, wanted: Selection | None) -> None:
        """Follow these from now on; None: none. What is followed already goes on undisturbed."""
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self._objects = {}
        self._unreadable = set()
        self.known = wanted is None
        self._tell(() if wanted is None else UNKNOWN)
        self._asked.set()

    async def run(self) -> None:
        """Follow what is asked for until cancelled."""
        while True:
            self._asked.clear()
            async with asyncio.TaskGroup() as group:
                following = group.create_task(
                    self._follow(self._wanted), name=f"watch {self._resource.plural}"
                )
                await self._asked.wait()
                following.cancel()

    async def _follow(self, wanted: Selection | None) -> None:
        self._healths[self._resource.plural] = WatchHealth()
        if wanted is None:
            return
        watch = self._watches.open(self._resource, wanted)
        self._healths[self._resource.plural] = watch.health
        async with contextlib.aclosing(watch.events()) as events:
            async for event in events:
                # Between a call of `ask` and the end of this task others are asked for already.
                if self._asked.is_set():
                    return
                self._take(event)

    def _take(self, event: WatchEvent[T]) -> None:
        match event:
            case Replaced(items=items, unreadable=unreadable):
                self._objects = {_key(item.metadata): item for item in items}
                self._unreadable = {_key(one.metadata) for one in unreadable}
            case Changed(object=item):
                self._forget(item.metadata)
                self._objects[_key(item.metadata)] = item
            case Deleted(object=item):
                self._forget(item.metadata)
            case Unreadable(metadata=metadata, deleted=deleted):
                self._forget(metadata)
                if not deleted:
                    self._unreadable.add(_key(metadata))
        self.known = not self._unreadable
        self._tell(tuple(self._objects.values()) if self.known else UNKNOWN)

    def _forget(self, metadata: ObjectMeta) -> None:
        self._objects.pop(_key(metadata), None)
        self._unreadable.discard(_key(metadata))


def _key(metadata: ObjectMeta) -> _Key:
    return metadata.namespace, metadata.name
