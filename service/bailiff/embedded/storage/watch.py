"""A reader's place in a bucket's changes.

Watches share the bucket's history instead of each having a queue: a slow reader costs no memory,
cannot hold up a writer, and is told 410 once its place has left the history.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.embedded import errors

if TYPE_CHECKING:
    from bailiff.embedded.errors import ApiError
    from bailiff.embedded.storage.bucket import Bucket, Change


class Watch:
    """The changes to one bucket after a version, in order, none left out.

    Use it as a context manager, so that the bucket forgets it.
    """

    def __init__(self, bucket: Bucket, version: int, signal: asyncio.Event | None = None) -> None:
        """Begin.

        Args:
            bucket: what to watch.
            version: changes after this one are wanted.
            signal: set whenever there may be something to read; for a reader of many watches.

        Raises:
            ApiError: 410, they are not all there any more.
        """
        self._bucket = bucket
        self._position = bucket.position_after(version)
        self._wake = signal or asyncio.Event()
        self._error: ApiError | None = None
        self._ended = False

    def __enter__(self) -> Watch:
        self._bucket.watches.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._bucket.watches.discard(self)

    @property
    def ended(self) -> bool:
        """Somebody called end()."""
        return self._ended

    @property
    def caught_up(self) -> bool:
        """Nothing is left to read."""
        return self._position == self._bucket.end

    def wake(self) -> None:
        """Look again."""
        self._wake.set()

    def end(self, error: ApiError | None = None) -> None:
        """Let the reader finish; with an error it is told that."""
        self._ended = True
        self._error = error
        self._wake.set()

    def read(self, limit: int = 256) -> list[Change]:
        """What there is now, at most `limit` changes.

        Raises:
            ApiError: 410, the reader fell behind; or what end() was given.
        """
        if self._error is not None:
            raise self._error
        changes = self._bucket.changes(self._position, limit)
        if changes is None:
            message = f"too old resource version: the watch fell behind ({self._bucket.trimmed})"
            raise errors.expired(message)
        self._position += len(changes)
        return changes

    async def wait(self) -> None:
        """Until there is something to read or the watch has been ended."""
        while self.caught_up and not self._ended:
            self._wake.clear()
            await self._wake.wait()
