"""A process that is held still: it is there, and answers nobody."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Seconds, for a machine that is very busy.
_PATIENCE = 20.0


@contextlib.contextmanager
def held(pid: int) -> Iterator[None]:
    """Hold all its threads, from when the block begins until it ends.

    A signal is sent and not waited for: for some milliseconds its threads go on, and answer.
    """
    os.kill(pid, signal.SIGSTOP)
    try:
        until = time.monotonic() + _PATIENCE
        while not _stands_still(pid):
            assert time.monotonic() < until, f"{pid} goes on"
            time.sleep(0.001)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _stands_still(pid: int) -> bool:
    """Whether each of its threads is stopped (`T` in /proc/PID/task/TID/stat)."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state = (thread / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "T":
                return False
    return True
