"""A trigger of PSI: the kernel tells when tasks have waited for memory for so long.

Source: Documentation/accounting/psi.rst, "Monitoring for pressure thresholds".
"""

from __future__ import annotations

import errno
import os
import select
from typing import TYPE_CHECKING

from bailiff.agent.notices.polled import Polled

if TYPE_CHECKING:
    from pathlib import Path

# The second for whoever has no CAP_SYS_RESOURCE: the kernel looks for those once in two seconds.
_WINDOWS_MICROSECONDS = (1_000_000, 2_000_000)


class StallTrigger:
    """One trigger on one file, as `/proc/pressure/memory` or a cgroup's `memory.pressure`.

    Close it. The kernel tells once in a window at most.
    """

    def __init__(self, file: Path, stall_milliseconds: int) -> None:
        """Set it.

        Args:
            file: of stalls of memory.
            stall_milliseconds: so long within a second some task has to wait; from 1 to 1,000.
                Within two where we lack CAP_SYS_RESOURCE.

        Raises:
            OSError: there is no such file, or the kernel takes no trigger from us.
        """
        self._file = os.open(file, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._polled = Polled()
        try:
            _set(self._file, stall_milliseconds * 1000)
            self._polled.add(self._file)
        except BaseException:
            self.close()
            raise

    @property
    def descriptor(self) -> int:
        """Becomes readable when tasks have waited for so long."""
        return self._polled.descriptor

    def take(self) -> bool:
        """Whether they have; to be asked when the descriptor is readable, and not else.

        Raises:
            OSError: the cgroup is gone, so that it will never tell again.
        """
        if self._polled.told().get(self._file, 0) & select.EPOLLERR:
            self._polled.remove(self._file)
            raise FileNotFoundError("the cgroup of the trigger is gone")
        # That the descriptor was readable is all there is to know: to ask for it takes it back
        # (psi_trigger_poll in kernel/sched/psi.c), and the event loop has asked.
        return True

    def close(self) -> None:
        """Let the kernel forget it."""
        self._polled.close()
        os.close(self._file)


def _set(file: int, stall_microseconds: int) -> None:
    first, second = (
        f"some {stall_microseconds} {window}\0".encode() for window in _WINDOWS_MICROSECONDS
    )
    try:
        os.write(file, first)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        os.write(file, second)
