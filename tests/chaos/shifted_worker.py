"""`bailiff worker` on a machine whose wall clock is wrong, as `python -m ... FILE FLAGS`.

The file holds by how much, and is read with every look at the clock, so that a test steps the
clock of a process that runs. The event loop's clock goes on, as it does where NTP or a person sets
the time.
"""

from __future__ import annotations

import mmap
import struct
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from unittest import mock

from bailiff import cli
from bailiff.bootstrap import work
from bailiff.clock import SystemClock

SHIFTED_WORKER = "tests.chaos.shifted_worker"
_SECONDS = struct.Struct("d")


class WallClock:
    """The wall clock of such a machine, as whoever sets it sees it.

    Attributes:
        file: holds by how many seconds it is ahead.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        file.write_bytes(_SECONDS.pack(0.0))

    def set_ahead(self, seconds: float) -> None:
        """Step it, to so many seconds ahead of the true time; less than 0 is behind it."""
        # In place: the worker has mapped the file.
        with self.file.open("r+b") as file:
            file.write(_SECONDS.pack(seconds))


class ShiftedClock(SystemClock):
    """The clock of the worker there."""

    def __init__(self, file: Path) -> None:
        with file.open("rb") as opened:
            self._ahead = mmap.mmap(opened.fileno(), _SECONDS.size, access=mmap.ACCESS_READ)

    def now(self) -> datetime:
        """See Clock."""
        (ahead,) = _SECONDS.unpack(self._ahead[:])
        return datetime.now(UTC) + timedelta(seconds=ahead)


def main() -> None:
    """The command line, but for the clock."""
    file, *flags = sys.argv[1:]
    sys.argv = ["bailiff", "worker", *flags]
    shifted = partial(work.work, machine=ShiftedClock(Path(file)))
    with mock.patch.object(work, "work", shifted):
        cli.main()


if __name__ == "__main__":
    main()
