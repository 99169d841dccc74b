"""The changes of the store, read one after the other.

Watches share the store's history instead of each having a queue: a slow reader costs no memory,
cannot hold up a writer, and is told 410 once its place has left the history.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiff_demo.store import Bucket, Change


class Watch:
    """The changes to one bucket after a version, in order, none left out.

    Use it as a context manager, so that the bucket forgets it.

    Attributes:
        wake: set when there may be something to read.
        ended: somebody called end().
    """

    def __init__(self, bucket: Bucket, version: int, wake: asyncio.Event | None = None) -> None:
        self._bucket = bucket
        self._position = bucket.position_after(version)
        self.wake = wake or asyncio.Event()
        self.ended = False

    def __enter__(self) -> Watch:
        self._bucket.watches.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._bucket.watches.discard(self)

    @property
    def caught_up(self) -> bool:
        """Nothing is left to read."""
        return self._position == self._bucket.end

    def end(self) -> None:
        """Let the reader finish."""
        self.ended = True
        self.wake.set()

    def read(self, limit: int = 256) -> list[Change]:
        """What there is now, at most `limit` changes.

        Raises:
            ApiError: 410, the reader fell behind.
        """
        changes = self._bucket.changes(self._position, limit)
        self._position += len(changes)
        return changes

    async def wait(self) -> None:
        """Until there is something to read or the watch has been ended."""
        while self.caught_up and not self.ended:
            self.wake.clear()
            await self.wake.wait()
