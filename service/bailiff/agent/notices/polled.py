"""Files of the kernel that tell of a change by POLLPRI, as a descriptor for an event loop.

Event loops look for what can be read, and such a file always can be. So each stands in an epoll of
its own, which looks for POLLPRI alone, and is itself readable when there is some.
"""

from __future__ import annotations

import select


class Polled:
    """One or more such files. Close it; the files are the caller's."""

    def __init__(self) -> None:
        """Watch nothing yet."""
        self._epoll = select.epoll()

    @property
    def descriptor(self) -> int:
        """Becomes readable when one of the files has something to tell."""
        return self._epoll.fileno()

    def add(self, file: int) -> None:
        """Watch this one, too.

        Raises:
            OSError: it cannot be watched.
        """
        self._epoll.register(file, select.EPOLLPRI)

    def told(self) -> dict[int, int]:
        """Which files have something to tell, with what epoll says of each.

        A file of PSI says it once, and the event loop may have been the one that asked.
        """
        return dict(self._epoll.poll(0))

    def remove(self, file: int) -> None:
        """Watch this one no more."""
        self._epoll.unregister(file)

    def close(self) -> None:
        """Watch nothing any more."""
        self._epoll.close()
