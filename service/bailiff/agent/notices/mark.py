"""Marks in the memory in use, of which cgroup v1 tells as soon as one is crossed.

Source: Documentation/admin-guide/cgroup-v1/memory.rst, "Memory thresholds", and
linuxCgroupNotifier in pkg/kubelet/eviction/threshold_notifier_linux.go.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_USAGE = "memory.usage_in_bytes"
_CONTROL = "cgroup.event_control"


class UsageMarks:
    """The marks in one cgroup; others take their place by `move`. Close it.

    The kernel tells of each crossing, up and down alike: what that means is for the round to say.
    """

    def __init__(self, cgroup: Path) -> None:
        """Nothing is marked yet.

        Args:
            cgroup: its folder, of the memory controller.

        Raises:
            OSError: it cannot be watched, as where there is no such controller.
        """
        self._cgroup = cgroup
        self._told: int | None = None
        # That it can be is found out at the start, and not by the first round that needs it.
        os.close(os.open(cgroup / _CONTROL, os.O_WRONLY | os.O_CLOEXEC))

    @property
    def descriptor(self) -> int | None:
        """Becomes readable when a mark is crossed; another after each `move`."""
        return self._told

    def move(self, marks: Sequence[int]) -> None:
        """Have these marks instead of the last.

        Args:
            marks: bytes in use, page cache included.

        Raises:
            OSError: the kernel takes no such mark, or the cgroup is gone; there is none then.
        """
        self.close()
        told = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        try:
            usage = os.open(self._cgroup / _USAGE, os.O_RDONLY | os.O_CLOEXEC)
            try:
                for mark in marks:
                    self._register(told, usage, mark)
            finally:
                # The kernel has looked it up, and holds on to the cgroup alone.
                os.close(usage)
        except BaseException:
            os.close(told)
            raise
        self._told = told

    def take(self) -> bool:
        """Whether it was crossed since this was last asked, or the cgroup is gone."""
        if self._told is None:
            return False
        try:
            return os.eventfd_read(self._told) > 0
        except BlockingIOError:
            return False

    def close(self) -> None:
        """Mark nothing any more."""
        if self._told is not None:
            os.close(self._told)
            self._told = None

    def _register(self, told: int, usage: int, mark: int) -> None:
        control = os.open(self._cgroup / _CONTROL, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(control, f"{told} {usage} {mark}".encode())
        finally:
            os.close(control)
