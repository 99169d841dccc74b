"""How much a folder and all in it take on the disk, as du counts it.

Source: DiskUsage in pkg/volume/util/fs/fs.go. Whoever runs in a pod may put millions of files
there, links that lead elsewhere, and folders in folders without end. So a walk takes a little time
after another, holds a bounded amount of memory, and between two of its turns no folder of the pod,
which could not be unmounted then. What it cannot count in full it does not tell at all.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from bailiff.agent.readings.file_systems import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_BLOCK = 512
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK
# It is gone by now, or has made room for something else, such as a link.
_ANOTHER = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
# Entries between two looks whether the walk is to end: some milliseconds.
_STRETCH = 1024


class Bounds(NamedTuple):
    """Up to where something is counted.

    Attributes:
        inodes: in the whole tree; 5,000,000 take half a minute and more.
        entries: of one folder, which is gone through at one go; 1,000,000 take seven seconds.
        links: inodes with several names, which have to be remembered; some 100 bytes each.
        held: bytes of names of folders that are still to be looked at.
    """

    inodes: int = 5_000_000
    entries: int = 1_000_000
    links: int = 50_000
    held: int = 4 * 1024 * 1024


BOUNDS = Bounds()


class _NotMeasuredError(Exception):
    """It cannot be counted in full."""


class _Level:
    """A folder, and those in it that are still to be looked at, packed: there may be very many."""

    __slots__ = ("at", "names", "path")

    def __init__(self, path: bytes, names: bytes) -> None:
        self.path = path
        self.names = names
        self.at = 0

    @property
    def size(self) -> int:
        return len(self.path) + len(self.names)

    def next(self) -> bytes | None:
        if self.at >= len(self.names):
            return None
        end = self.names.index(b"\0", self.at)
        name = self.names[self.at : end]
        self.at = end + 1
        return self.path + b"/" + name


def never() -> bool:
    """Nobody wants a walk to end early."""
    return False


class Walk:
    """Adds up one tree."""

    def __init__(
        self, top: str, bounds: Bounds = BOUNDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare.

        Args:
            top: the folder, as this process sees it. It counts, too; a link is not followed.
            bounds: beyond which nothing is told.
            clock: in seconds, never stepped.
        """
        above, _, name = top.rpartition("/")
        self._levels = [_Level(os.fsencode(above), os.fsencode(name) + b"\0")]
        self._bounds = bounds
        self._clock = clock
        self._bytes = self._inodes = 0
        self._held = self._levels[0].size
        self._links: set[int] = set()
        self.device: int | None = None
        self._whole = self._failed = False

    @property
    def usage(self) -> Usage | None:
        """What was counted; None: not yet all, or it cannot be."""
        return Usage(self._bytes, self._inodes) if self._whole else None

    def go_on(self, until: float, stopped: Callable[[], bool] = never) -> bool:
        """Look at folders until the time is up, a folder more than that at most.

        Args:
            until: by the clock.
            stopped: asked now and then; once it says so this walk is over.

        Returns:
            Whether there is nothing left to do.
        """
        try:
            while (folder := self._next()) is not None:
                self._look_at(folder, stopped)
                if self._clock() >= until:
                    return False
        except (_NotMeasuredError, OSError, ValueError):
            self._levels.clear()
            self._failed = True
        # One that is not there takes nothing, but was not measured.
        self._whole = not self._failed and self.device is not None
        return True

    def _next(self) -> bytes | None:
        while self._levels:
            level = self._levels[-1]
            path = level.next()
            if path is not None:
                return path
            self._levels.pop()
            self._held -= level.size
        return None

    def _look_at(self, path: bytes, stopped: Callable[[], bool]) -> None:
        try:
            folder = os.open(path, _FLAGS)
        except OSError as error:
            if error.errno in _ANOTHER:
                return
            raise
        try:
            status = os.fstat(folder)
            if self.device is None:
                self.device = status.st_dev
            if status.st_dev == self.device:
                self._add(status)
                self._enter(path, folder, stopped)
        finally:
            os.close(folder)

    def _enter(self, path: bytes, folder: int, stopped: Callable[[], bool]) -> None:
        names = bytearray()
        with os.scandir(folder) as entries:
            left = self._bounds.entries
            while stretch := list(islice(entries, _STRETCH)):
                left -= len(stretch)
                if left < 0 or stopped():
                    raise _NotMeasuredError
                self._count(stretch, names)
        if names:
            self._push(_Level(path, bytes(names)))

    def _count(self, entries: Iterable[os.DirEntry[str]], names: bytearray) -> None:
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    names += os.fsencode(entry.name) + b"\0"
                else:
                    self._add(entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                continue
        if self._held + len(names) > self._bounds.held:
            raise _NotMeasuredError

    def _add(self, status: os.stat_result) -> None:
        if status.st_dev != self.device:
            return
        # A folder has a link for each folder in it, and only one name.
        if status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode):
            if status.st_ino in self._links:
                return
            self._links.add(status.st_ino)
        self._inodes += 1
        self._bytes += status.st_blocks * _BLOCK
        if self._inodes > self._bounds.inodes or len(self._links) > self._bounds.links:
            raise _NotMeasuredError

    def _push(self, level: _Level) -> None:
        self._held += level.size
        if self._held > self._bounds.held:
            raise _NotMeasuredError
        self._levels.append(level)
