"""Log lines as all of Bailiff writes them, without the library that the other processes have.

structlog brings rich with it, and 7 MiB, of which the agent has 40 in all.
"""

from __future__ import annotations

import io
import os
import select
import stat
import sys
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Characters of a traceback, the last.
_LONGEST_TRACEBACK = 2000
# Bytes of a line: what a pipe takes without a wait once it is writable (PIPE_BUF).
_LONGEST_LINE = 4096
# Characters that are left of each fact where all together are too long; 0: none is told.
_SHORTER = (1500, 200, 20, 0)
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def _now() -> datetime:
    return datetime.now(UTC)


class Log:
    """One line an entry: JSON, or text on a terminal, see configure_logs of bootstrap/process.py.

    Attributes:
        always: facts of every line, as the mode of a dry run.
        passing: tells facts of the moment, as which trace a line belongs to.
    """

    def __init__(
        self,
        out: TextIO | None = None,
        *,
        text: bool = False,
        level: str = "info",
        now: Callable[[], datetime] = _now,
    ) -> None:
        """Write to `out`, by default standard error, what has this level or a higher one."""
        self._out = sys.stderr if out is None else out
        self._unblocked = _opened_anew(self._out)
        self._text = text
        self._least = _LEVELS.get(level, _LEVELS["info"])
        self._now = now
        self.always: dict[str, object] = {}
        self.passing: Callable[[], Mapping[str, str]] = dict

    @staticmethod
    def of_environment(environment: Mapping[str, str] = os.environ) -> Log:
        """As BAILIFF_LOG_FORMAT (text, json) and BAILIFF_LOG_LEVEL choose."""
        chosen = environment.get("BAILIFF_LOG_FORMAT")
        text = chosen == "text" if chosen else sys.stderr.isatty()
        return Log(text=text, level=environment.get("BAILIFF_LOG_LEVEL", "info").lower())

    def debug(self, event: str, **facts: object) -> None:
        """What nobody needs but who looks for a fault."""
        self._write("debug", event, facts)

    def info(self, event: str, **facts: object) -> None:
        """Something that was to be expected."""
        self._write("info", event, facts)

    def warning(self, event: str, **facts: object) -> None:
        """Something that somebody should look at."""
        self._write("warning", event, facts)

    def error(self, event: str, **facts: object) -> None:
        """A fault."""
        self._write("error", event, facts)

    def exception(self, event: str, **facts: object) -> None:
        """A fault of ours, with its place."""
        told = traceback.format_exc()[-_LONGEST_TRACEBACK:]
        self._write("error", event, {**facts, "exception": told})

    def _write(self, level: str, event: str, facts: dict[str, object]) -> None:
        if _LEVELS[level] < self._least:
            return
        at = self._now().isoformat().replace("+00:00", "Z")
        said = {**facts, **self.passing(), **self.always}
        line = self._line(at, level, event, said)
        for most in _SHORTER:
            if len(line) <= _LONGEST_LINE:
                break
            line = self._line(at, level, event, _cut(said, most))
        self._print(line)

    def _line(self, at: str, level: str, event: str, said: Mapping[str, object]) -> bytes:
        if self._text:
            line = " ".join([at, f"[{level}]", event, *(f"{k}={v}" for k, v in said.items())])
            return line.encode(errors="replace") + b"\n"
        entry = {**said, "event": event, "level": level, "timestamp": at}
        try:
            return msgspec.json.encode(entry, enc_hook=str) + b"\n"
        except UnicodeEncodeError:
            # Half a character, as of a file's name that is no UTF-8.
            return self._line(at, level, event, {name: ascii(one) for name, one in said.items()})

    def _print(self, line: bytes) -> None:
        """Nobody is evicted later because nobody reads the log: then lines are lost."""
        try:
            if self._unblocked is not None:
                os.write(self._unblocked, line)
            elif self._takes_more():
                print(line.decode(errors="replace"), end="", file=self._out, flush=True)
        except OSError:
            # Nobody reads, or whoever has read is gone.
            return

    def _takes_more(self) -> bool:
        """A pipe that does has room for 4096 bytes, which are written without a wait."""
        try:
            return bool(select.select([], [self._out], [], 0)[1])
        except (io.UnsupportedOperation, ValueError):
            # It is no file, as in tests, or its number is above 1023.
            return True


def _opened_anew(out: TextIO) -> int | None:
    """The same terminal or pipe, by a descriptor that never waits; None: it cannot be.

    Of a socket, and of a pipe of another user, there is none; to a file nobody waits long, and
    whoever else writes to it goes by its place in it.
    """
    try:
        mode = os.fstat(out.fileno()).st_mode
        if not stat.S_ISCHR(mode) and not stat.S_ISFIFO(mode):
            return None
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        return os.open(f"/proc/self/fd/{out.fileno()}", flags)
    except (OSError, io.UnsupportedOperation, ValueError):
        return None


def _cut(said: Mapping[str, object], most: int) -> dict[str, object]:
    """Each fact as text of at most so many characters; more facts than fit are none."""
    if not most:
        return {"cut": True}
    return {name: _shortened(str(value), most) for name, value in said.items()}


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
