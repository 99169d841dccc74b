"""What cgroup v2 tells of memory: `memory.events.local`, and a wire at the mark by `memory.high`.

Source: Documentation/admin-guide/cgroup-v2.rst, "Memory Interface Files". The kernel counts there
how often a cgroup was at its limits, and wakes whoever polls the file. In `memory.events` it also
counts for the cgroups within: there a container that fills its own limit with page cache, as many
do, would tell a hundred times a second.

It has no marks as cgroup v1 has; but `memory.high` makes it count, once so much is in use. Beyond
it the kernel also takes page cache back and slows down whoever takes more. So the wire is laid at
the next mark as soon as it has been tripped, and taken down after the last.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from bailiff.agent.notices.polled import Polled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_EVENTS = "memory.events.local"
_HIGH = "memory.high"
_CURRENT = "memory.current"
_NO_LIMIT = "max"
_MAX_BYTES = 4096


class MemoryEvents:
    """Those of one cgroup. Close it."""

    def __init__(self, cgroup: Path, *, lays_wire: bool) -> None:
        """Watch it.

        Args:
            cgroup: its folder; not the root, which has no such file.
            lays_wire: `memory.high` is ours to write; whatever stands there is replaced.

        Raises:
            OSError: it has no such files, or they may not be written.
        """
        self._cgroup = cgroup
        self._lays_wire = lays_wire
        # Those that have not been reached, in rising order; the wire is laid at the first.
        self._marks: tuple[int, ...] = ()
        # How often a wire had been tripped when this one was laid, and when that was last told.
        self._tripped = self._heard = 0
        self._file = os.open(cgroup / _EVENTS, os.O_RDONLY | os.O_CLOEXEC)
        self._polled = Polled()
        try:
            if lays_wire:
                # One that an agent has left that was killed slows the pods down for nothing.
                self._write(_NO_LIMIT)
            self._heard = self._take_note()
            self._polled.add(self._file)
        except BaseException:
            self.close()
            raise

    @property
    def descriptor(self) -> int:
        """Becomes readable when something was counted."""
        return self._polled.descriptor

    def move(self, marks: Sequence[int]) -> None:
        """Lay the wire at the first of these marks, where there is a wire.

        Args:
            marks: bytes in use that have not been reached, page cache included; in rising order.

        Raises:
            OSError: the cgroup is gone, or may not be written any more.
        """
        if self._lays_wire:
            self._lay(marks)

    def take(self) -> bool:
        """Whether the wire was tripped since this was last asked; it is laid further on then.

        Where none lies, whatever is counted tells. Where one does, a limit that is reached is
        mostly full of page cache, which the kernel drops a hundred times a second.

        Raises:
            OSError: the cgroup is gone, or may not be written any more.
        """
        if not self._polled.told():
            return False
        tripped, heard = self._take_note(), self._heard
        self._heard = tripped
        if not self._marks:
            return True
        if tripped > self._tripped:
            # Page cache may have been taken back since, so that no more is in use than the mark.
            self._lay(self._marks[1:])
        return tripped > heard

    def close(self) -> None:
        """Take the wire down, and watch nothing any more."""
        with contextlib.suppress(OSError):
            if self._lays_wire:
                self._write(_NO_LIMIT)
        self._polled.close()
        os.close(self._file)

    def _lay(self, marks: Sequence[int]) -> None:
        """At the first that is beyond what is in use.

        At one that is not, the kernel would have us take memory back before the write returns.
        """
        in_use = int(self._read(_CURRENT)) if marks else 0
        self._marks = tuple(one for one in marks if one > in_use)
        # Not by the file that is polled, which would forget what it has to tell.
        self._tripped = _times_tripped(self._read(_EVENTS))
        self._write(str(self._marks[0]) if self._marks else _NO_LIMIT)

    def _take_note(self) -> int:
        """How often a wire was tripped; the kernel tells of what comes after this."""
        return _times_tripped(os.pread(self._file, _MAX_BYTES, 0))

    def _read(self, name: str) -> bytes:
        file = os.open(self._cgroup / name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(file, _MAX_BYTES)
        finally:
            os.close(file)

    def _write(self, text: str) -> None:
        # Kernels from 6.16 on take no memory back while we wait where we ask not to wait.
        file = os.open(self._cgroup / _HIGH, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


def _times_tripped(events: bytes) -> int:
    return int(events.partition(b"high ")[2].partition(b"\n")[0])
