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

    def told(self) -> dict[int, bool]:
        """Which files have something to tell, and of each whether it is of no more use.

        PSI tells of a trigger whose cgroup has been removed by POLLERR alone; kernfs sets POLLERR
        together with POLLPRI with each change (kernfs_generic_poll in fs/kernfs/file.c).
        """
        found = self._epoll.poll(0)
        return {file: not mask & select.EPOLLPRI for file, mask in found}

    def remove(self, file: int) -> None:
        """Watch this one no more."""
        self._epoll.unregister(file)

    def close(self) -> None:
        """Watch nothing any more."""
        self._epoll.close()
