"""The frames of HTTP/2, cut out of what comes: h2 gets them one by one, and no GOAWAY.

Source: RFC 9113, sections 4.1 and 6.8. To h2 a connection is over with a GOAWAY, and what comes
after it is an error; a runtime that ends in peace sends one, and then finishes what it was asked.
And h2 looks at the length of a frame when all of it is there: up to 16 MiB, which we have not
allowed, and for which somebody who speaks no HTTP/2 would be waited for.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from h2.exceptions import FrameTooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD_BYTES = 9
# SETTINGS_MAX_FRAME_SIZE where nobody says otherwise, as we do not.
_MAX_FRAME_BYTES = 2**14
_GOAWAY_TYPE = 7
_GOAWAY = struct.Struct(">II")
_STREAM_BITS = 2**31 - 1


class GoAway(NamedTuple):
    """The end of a connection.

    Attributes:
        last_stream: the last one that is answered.
        code: of RFC 9113, section 7; 0: no error.
    """

    last_stream: int
    code: int


class Frames:
    """What has come, until a frame of it is whole."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def cut(self, data: bytes) -> Iterator[bytes]:
        """Each frame that is whole now, with its head.

        Raises:
            FrameTooLargeError: the next frame is longer than 16,384 bytes.
        """
        self._rest += data
        while len(self._rest) >= _HEAD_BYTES:
            length = int.from_bytes(self._rest[:3], "big")
            if length > _MAX_FRAME_BYTES:
                raise FrameTooLargeError(f"a frame of {length} bytes")
            whole = _HEAD_BYTES + length
            if len(self._rest) < whole:
                return
            yield bytes(self._rest[:whole])
            del self._rest[:whole]


def goaway_in(frame: bytes) -> GoAway | None:
    """None: it is another frame, or one that h2 will refuse."""
    if frame[3] != _GOAWAY_TYPE or len(frame) < _HEAD_BYTES + _GOAWAY.size:
        return None
    last_stream, code = _GOAWAY.unpack_from(frame, _HEAD_BYTES)
    return GoAway(last_stream & _STREAM_BITS, code)
