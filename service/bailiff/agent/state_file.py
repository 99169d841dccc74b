"""What an agent has to know after a restart, in a file on the node.

Since when thresholds are met, when each image was last used (CRI does not tell), and of which
pods the API server has not been told yet that their containers were stopped. Whoever may write the
file is root on the node.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from bailiff.agent.settings import OptionError
from bailiff.file_watch import read_regular

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bailiff.agent.log import Log

# Bytes: ten thousand images at 100 each, and room for as much again.
_LONGEST = 2 * 2**20


class Untold(Struct, frozen=True, kw_only=True):
    """A pod whose containers were stopped while the API server was away.

    Attributes:
        namespace: of the pod.
        name: of the pod.
        uid: of the pod.
        message: of its eviction.
        cause: the signal that was low.
        grace_period_seconds: that its containers were given.
        keeps_pod: its object is to stay.
        at: when, in UTC; absent: an agent of before 0.1.1 has not kept it.
    """

    namespace: str
    name: str
    uid: str
    message: str
    cause: str
    grace_period_seconds: int
    keeps_pod: bool = False
    at: datetime | None = None


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All of it.

    Attributes:
        pressure: as the worker's annotation has it, see decisions/pressure/memory.py.
        images: as decisions/pressure/garbage_images.py has it, as JSON.
        untold: whom the API server does not know of yet.
    """

    pressure: str = ""
    images: msgspec.Raw = msgspec.Raw(b"null")
    untold: tuple[Untold, ...] = ()


def _to_nobody(_why: str) -> None:
    pass


class StateFile:
    """The file; with no path nothing is kept."""

    def __init__(
        self, path: Path | None, log: Log, complain: Callable[[str], object] = _to_nobody
    ) -> None:
        """Nothing is read yet.

        Args:
            path: of it; None: nothing is kept.
            log: hears of what cannot be kept.
            complain: is told as well; empty: it can be.
        """
        self._path = path
        self._log = log
        self._complain = complain
        self._written = b""
        self._failed = False
        self._lock: int | None = None

    def read(self) -> Remembered:
        """What was kept; nothing where there is no file, or one of no use."""
        if self._path is None:
            return Remembered()
        try:
            data = read_regular(self._path, _LONGEST)
            found = msgspec.json.decode(data, type=Remembered)
        except FileNotFoundError:
            return Remembered()
        except (OSError, ValueError, RecursionError) as error:
            self._log.warning("nothing is remembered", file=str(self._path), error=str(error))
            return Remembered()
        self._written = data
        return found

    def write(self, remembered: Remembered) -> None:
        """Keep this, in place of what was kept; a file that cannot be written is told of once."""
        data = msgspec.json.encode(remembered)
        if self._path is None or data == self._written:
            return
        try:
            self._replace(data)
        except OSError as error:
            if not self._failed:
                self._log.warning("not remembered", file=str(self._path), error=str(error))
            self._failed = True
            self._complain(str(error))
            return
        self._written, self._failed = data, False
        self._complain("")

    def lock(self) -> None:
        """Keep others from going by this file, for as long as this process lives.

        Raises:
            OSError: another agent does; of two on one node each would evict for the same lack.
            OptionError: there is no such folder.
        """
        if self._path is None or self._lock is not None:
            return
        beside = self._path.with_name(f"{self._path.name}.lock")
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            self._lock = os.open(beside, flags, 0o600)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise OptionError(f"--state-file: there is no folder {beside.parent}") from error
        except OSError as error:
            # Where nothing can be written, as on a full disk, nothing is kept, and that is told of.
            self._log.warning("not locked", file=str(beside), error=str(error))
            self._complain(str(error))
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            self._lock = None
            raise OSError(f"another agent goes by {self._path}") from error

    def _replace(self, data: bytes) -> None:
        """In one go: half a file would be no file."""
        assert self._path is not None  # noqa: S101 - the one caller has looked
        beside = self._path.with_name(f"{self._path.name}.new")
        # What an agent has left that was killed, or somebody has put there: a pipe would block.
        beside.unlink(missing_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
        except BaseException:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise
