"""Lines out of chunks. No I/O: bytes go in, lines come out."""

from __future__ import annotations


class LineTooLongError(Exception):
    """A line exceeds its bound."""


class LineSplitter:
    """Splits a stream of JSON lines, however it is cut into chunks.

    A line that spans many chunks is joined once, when its end is there.

    Args:
        max_bytes: the longest line without its end, in bytes.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max = max_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without their ends; empty lines are dropped.

        Raises:
            LineTooLongError: a line exceeds its bound; the splitter is of no more use.
        """
        *ends, rest = chunk.split(b"\n")
        if ends and self._parts:
            ends[0] = b"".join([*self._parts, ends[0]])
            self._parts, self._size = [], 0
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
        longest = max(self._size, max(map(len, ends), default=0))
        if longest > self._max:
            raise LineTooLongError(f"a line exceeds {self._max} bytes")
        return [line for line in ends if line.strip()]
