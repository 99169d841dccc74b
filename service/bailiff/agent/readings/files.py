"""Small files of the kernel: read in whole or not at all, and numbers that are right or None."""

from __future__ import annotations

import os
from pathlib import Path

from bailiff.kinds.meta import INT64_MAX

# Bytes. The longest that is read as a rule is memory.stat, with some 3 KiB.
MOST = 64 * 1024
# Digits of the largest number, 2**63 - 1.
_DIGITS = 19
# A pipe that somebody has put there must not make us wait.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def read(path: str, most: int = MOST) -> bytes | None:
    """What is in a file; None: it is not there, may not be read, or is longer than `most` bytes."""
    try:
        file = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return None
    try:
        return _whole(file, most)
    except OSError:
        # That of a cgroup which is removed meanwhile answers ENODEV.
        return None
    finally:
        os.close(file)


def _whole(file: int, most: int) -> bytes | None:
    found = os.read(file, most + 1)
    # The kernel hands out some files in pieces, so only an empty piece is the end.
    while len(found) <= most:
        more = os.read(file, most + 1 - len(found))
        if not more:
            return found
        found += more
    return None


def number(text: bytes) -> int | None:
    """A count from 0 to 2**63 - 1 in decimal digits; None: it is something else, as `max` or -1."""
    digits = text.strip()
    if not digits.isdigit() or len(digits) > _DIGITS:
        return None
    value = int(digits)
    return value if value <= INT64_MAX else None


def number_in(path: str) -> int | None:
    """The number that a file consists of; None: there is no such file, or it is none."""
    text = read(path)
    return None if text is None else number(text)


def field(text: bytes, name: bytes) -> int | None:
    """The number behind a name at the start of a line, whatever unit follows.

    Args:
        text: lines, as of memory.stat and meminfo. They are searched, and not taken apart.
        name: with what sets it off, as `anon ` or `MemTotal:`.

    Returns:
        None where no line begins so, or no number follows.
    """
    line = line_of(text, name)
    words = None if line is None else line.split(None, 1)
    return number(words[0]) if words else None


def line_of(text: bytes, name: bytes) -> bytes | None:
    """What follows a name at the start of a line, to its end; None: no line begins so."""
    start = 0 if text.startswith(name) else text.find(b"\n" + name) + 1
    if not start and not text.startswith(name):
        return None
    start += len(name)
    end = text.find(b"\n", start)
    return text[start:] if end < 0 else text[start:end]


def is_there(path: str) -> bool:
    """Whether there is something, and we may see it."""
    return device(path) is not None


def device(path: str) -> int | None:
    """The number of the device that a path is on; None: nothing is there that we may see."""
    try:
        return Path(path).stat().st_dev
    except (OSError, ValueError):
        return None


def is_plain(name: str) -> bool:
    """Whether a name that others have given is that of one entry of a folder, and leads nowhere."""
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name
