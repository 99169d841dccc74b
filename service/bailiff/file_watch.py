"""Files that are read at the start, and looked at again and again while the process runs.

What is compared is their content, not their times: a mounted ConfigMap or Secret is swapped by a
symbolic link.

A file that is written in place may be seen half written. So a change counts once two looks in a row
have shown the same. At the start the first look counts: nothing is in force that could stay.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

# Seconds between two looks. The kubelet takes up to a minute to bring a changed volume.
LOOK_EVERY = 5.0
# Of one file: as much as a ConfigMap or Secret may have.
MAX_BYTES = 1024 * 1024


def see(path: Path, max_bytes: int = MAX_BYTES) -> bytes | str:
    """The content of a file; as text, why it cannot be had.

    Blocks as long as a disk does, and never for the other end of a FIFO.

    Args:
        path: of a regular file, or a symbolic link to one.
        max_bytes: it may be so long, and is refused where it is longer.
    """
    try:
        content = read_regular(path, max_bytes + 1)
    except OSError as error:
        return error.strerror or str(error)
    return content if len(content) <= max_bytes else f"larger than {max_bytes} bytes"


def read_regular(path: Path, most: int) -> bytes:
    """The first bytes of a file, `most` at most; see `see` of what it blocks for.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    # Without O_NONBLOCK the opening of a FIFO waits for its other end.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


class FileWatch(Generic[T]):
    """Looks at one file, or at several that belong together.

    Attributes:
        seen: what the look has shown that counted last; at first, what the first look has shown.
    """

    def __init__(self, look: Callable[[], T], every: float = LOOK_EVERY) -> None:
        """Look for the first time.

        Args:
            look: gives the content, or why it cannot be had, to be compared by ==. Called here, and
                in a thread from then on.
            every: seconds between two looks, above 0.
        """
        self._look, self._every = look, every
        self.seen = self._before = look()

    async def change(self) -> T:
        """Wait until two looks in a row have shown the same, and that is not `seen`; then it is."""
        while True:
            await asyncio.sleep(self._every)
            before, self._before = self._before, await asyncio.to_thread(self._look)
            if self._before == before != self.seen:
                self.seen = self._before
                return self.seen
