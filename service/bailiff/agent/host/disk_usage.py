"""What a folder takes of its file system, within bounds of time and files.

Source: GetDirUsage in github.com/google/cadvisor, fs/fs.go: each inode once, by the blocks that it
has, on this one file system, without following links.
"""

from __future__ import annotations

import os
import stat
import time
from typing import NamedTuple

_BLOCK = 512
# Looks at the clock once in so many files.
_LOOK_EVERY = 256


class Taken(NamedTuple):
    """By one folder.

    Attributes:
        used: bytes.
        inodes: files and folders.
    """

    used: int
    inodes: int


class TooLargeError(Exception):
    """There are more files than may be counted in the time for it."""


class Counter:
    """Counts folders until so many files have been seen, or the time is over.

    Whoever counts in a thread holds Python's lock for one file at a time.
    """

    def __init__(self, seconds: float, files: int) -> None:
        """Begin now.

        Args:
            seconds: for all folders together.
            files: in all folders together.
        """
        self._until = time.monotonic() + seconds
        self._left = files

    def count(self, folder: str) -> Taken | None:
        """What it takes; None: it is not there.

        Raises:
            TooLargeError: the files or the time are used up.
        """
        try:
            top = os.lstat(folder)
        except (OSError, ValueError):
            return None
        if not stat.S_ISDIR(top.st_mode):
            return None
        seen = {top.st_ino}
        used, folders = top.st_blocks * _BLOCK, [folder]
        while folders:
            used += self._count_in(folders.pop(), top.st_dev, seen, folders)
        return Taken(used, len(seen))

    def _count_in(self, folder: str, device: int, seen: set[int], folders: list[str]) -> int:
        used = 0
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    used += self._count_one(entry, device, seen, folders)
        except OSError:
            # It was removed meanwhile, or may not be read.
            return used
        return used

    def _count_one(
        self, entry: os.DirEntry[str], device: int, seen: set[int], folders: list[str]
    ) -> int:
        self._left -= 1
        late = self._left % _LOOK_EVERY == 0 and time.monotonic() > self._until
        if self._left < 0 or late:
            raise TooLargeError
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            return 0
        if found.st_dev != device or found.st_ino in seen:
            return 0
        seen.add(found.st_ino)
        if stat.S_ISDIR(found.st_mode):
            folders.append(entry.path)
        return found.st_blocks * _BLOCK
