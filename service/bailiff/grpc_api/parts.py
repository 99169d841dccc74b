"""A long answer in parts, which merge to the whole.

Protobuf merges messages of one type by joining their lists and merging the messages that they hold
in turn. So an answer is cut between the entries of its lists, also those of the reports in it, and
never within an entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.grpc_api.errors import AnswerTooLargeError
from bailiff.grpc_api.wire import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from google.protobuf.descriptor import Descriptor

# Bytes of a part, unless one entry has more: a part keeps others from the connection for as long as
# it takes to send, and costs no more to send than its bytes.
PART_BYTES = 1024 * 1024
# Bytes that stand before an entry at most: its field's number and its length.
_HEAD = 8


def parts(data: bytes, message: Descriptor, most: int) -> Iterator[bytes]:
    """The parts of a serialised message, in the order in which to merge them.

    Args:
        data: the message.
        message: what it is.
        most: bytes that no part may exceed.

    Raises:
        AnswerTooLargeError: one entry of a list has more.
    """
    for part in _parts(data, message, min(PART_BYTES, most // 2)):
        if len(part) > most:
            raise AnswerTooLargeError(
                f"one entry of the answer has {len(part)} bytes, at most {most} are sent in one "
                "message: ask for less, or without a trace"
            )
        yield part


def _parts(data: bytes, message: Descriptor, size: int) -> Iterator[bytes]:
    if len(data) <= size:
        yield data
        return
    wire = WHOLE.class_of(message)
    short = wire()
    for field, value in wire.FromString(data).ListFields():
        nested = message.fields_by_name[field.name].message_type
        if field.is_repeated:
            for chunk in _chunks(value, size):
                yield wire(**{field.name: chunk}).SerializeToString()
        elif nested is not None:
            for part in _parts(value, nested, size):
                yield wire(**{field.name: part}).SerializeToString()
        else:
            setattr(short, field.name, value)
    if short.ByteSize():
        yield short.SerializeToString()


def _chunks(entries: Sequence[bytes], size: int) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    length = 0
    for entry in entries:
        taken = len(entry) + _HEAD
        if chunk and length + taken > size:
            yield chunk
            chunk, length = [], 0
        chunk.append(entry)
        length += taken
    yield chunk
