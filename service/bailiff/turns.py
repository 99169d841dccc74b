"""How questions leave each other their turn: a face answers all of them on one event loop."""

from __future__ import annotations

# Work up to here is done where it arrives, more in a thread. In bytes of a question, of which this
# many are about 20 ms of work where objects come as protobuf, and a tenth of that as JSON, of which
# a thread costs a few per cent.
_LONG = 64 * 1024
# What an object costs besides its bytes, in bytes: there may be many that are next to empty.
_OBJECT = 128


def is_long(length: int, objects: int = 0) -> bool:
    """Whether the answer to a question is to be worked out in a thread.

    Args:
        length: of the question, in bytes.
        objects: how many it is about.
    """
    return length + _OBJECT * objects > _LONG
