"""Reading the kernel's small files: what is missing, too long or no number was not measured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Bytes: of all that is read here the longest is memory.stat, with some 2 KiB, and /proc/meminfo.
_LONGEST = 64 * 1024


def text_of(path: Path | str) -> str:
    """The text of a file; empty where it cannot be read, or is longer than any such file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            data = os.read(file, _LONGEST)
        finally:
            os.close(file)
    except (OSError, ValueError):
        return ""
    return data.decode("ascii", "replace") if len(data) < _LONGEST else ""


def number_of(path: Path | str) -> int | None:
    """The one number that a file holds; None: it holds none, or one below 0."""
    return whole(text_of(path).strip())


def whole(text: str) -> int | None:
    """A number as the kernel writes it: digits alone."""
    # Python would take digits of other scripts, underscores and signs as well.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else None


# Of the largest uint64.
_DIGITS = 20


def fields_of(text: str) -> dict[str, int]:
    """Lines of a name and a number, as memory.stat has them; a unit behind is passed over."""
    found = {}
    for line in text.splitlines():
        parts = line.split()
        value = whole(parts[1]) if len(parts) > 1 else None
        if value is not None:
            found[parts[0].rstrip(":")] = value
    return found
