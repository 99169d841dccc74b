"""What cgroup v2 tells of memory: `memory.events`, and a wire at the mark by `memory.high`.

Source: Documentation/admin-guide/cgroup-v2.rst, "Memory Interface Files". The kernel counts there
how often a cgroup was at its limits, and wakes whoever polls the file. It has no marks as cgroup v1
has; but `memory.high` makes it count, once so much is in use. Beyond it the kernel also takes page
cache back and slows down whoever takes more. So the wire is laid at the next mark as soon as it has
been tripped, and taken down after the last.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from bailiff.agent.notices.polled import Polled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_EVENTS = "memory.events"
_HIGH = "memory.high"
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
        self._file = os.open(cgroup / _EVENTS, os.O_RDONLY | os.O_CLOEXEC)
        self._polled = Polled()
        try:
            if lays_wire:
                # One that an agent has left that was killed slows the pods down for nothing.
                self._write(_NO_LIMIT)
            self._read()
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
            self._lay(tuple(marks))

    def take(self) -> bool:
        """Whether something was counted since this was last asked; a wire is laid further on.

        Raises:
            OSError: the cgroup is gone, or may not be written any more.
        """
        if not self._polled.told():
            return False
        # First the wire: who is slowed down is slowed down until then.
        if self._marks:
            self._lay(self._marks[1:])
        self._read()
        return True

    def close(self) -> None:
        """Take the wire down, and watch nothing any more."""
        with contextlib.suppress(OSError):
            if self._marks:
                self._lay(())
        self._polled.close()
        os.close(self._file)

    def _lay(self, marks: tuple[int, ...]) -> None:
        self._write(str(marks[0]) if marks else _NO_LIMIT)
        self._marks = marks

    def _read(self) -> None:
        """The kernel tells of what comes after the last reading."""
        os.pread(self._file, _MAX_BYTES, 0)

    def _write(self, text: str) -> None:
        file = os.open(self._cgroup / _HIGH, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)
