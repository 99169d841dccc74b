"""A memory cgroup of its own for a process: its bound, and the most that it ever used."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

_MEMORY = Path("/sys/fs/cgroup/memory")
MIB = 1024 * 1024
# Seconds that the kernel has to notice that the last process of a cgroup has ended.
_PATIENCE = 5.0


def why_not() -> str | None:
    """Why no memory cgroup can be made here; None: one can."""
    if not (_MEMORY / "memory.limit_in_bytes").exists():
        return "needs the memory controller of cgroup v1, mounted at /sys/fs/cgroup/memory"
    if not os.access(_MEMORY, os.W_OK):
        return f"needs the right to make a cgroup under {_MEMORY}: run it as root"
    return None


class MemoryCgroup:
    """One cgroup.

    Args:
        folder: of the cgroup, which is there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def wrap(self, *command: str) -> list[str]:
        """The command line that runs another one inside, from its first instruction on."""
        enter = f'echo $$ > "{self._folder}/cgroup.procs" && exec "$@"'
        return ["/bin/sh", "-c", enter, "sh", *command]

    @property
    def peak(self) -> int:
        """The most bytes that were used so far, page cache included."""
        return int((self._folder / "memory.max_usage_in_bytes").read_text())

    @property
    def anonymous(self) -> int:
        """Bytes that its processes hold now and that are no cache."""
        lines = (self._folder / "memory.stat").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("rss "))

    def forget_peak(self) -> None:
        """Count the most from now on."""
        (self._folder / "memory.max_usage_in_bytes").write_text("0")


@contextlib.contextmanager
def memory_cgroup(most: int) -> Iterator[MemoryCgroup]:
    """A cgroup whose processes get `most` bytes; the kernel kills what wants more."""
    folder = _MEMORY / f"bailiff-{secrets.token_hex(4)}"
    folder.mkdir()
    try:
        (folder / "memory.limit_in_bytes").write_text(str(most))
        yield MemoryCgroup(folder)
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    ends = time.monotonic() + _PATIENCE
    while True:
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.05)
        else:
            return
