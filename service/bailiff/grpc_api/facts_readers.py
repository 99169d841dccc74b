"""From the bytes of a message to the core's values: where it arrived, or in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.grpc_api.counting import begin_counting
from bailiff.grpc_api.errors import MalformedError
from bailiff.grpc_api.fields import is_map
from bailiff.grpc_api.reading import LONG_READERS, READERS
from bailiff.turns import is_long_protobuf

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

    from bailiff.grpc_api.fields import Structure


class FactsReader:
    """Reads messages of one type.

    Args:
        structure: what it reads.
        message: from what.

    Raises:
        TypeError: a field of the structure has no place in the message, or another type.
    """

    def __init__(self, structure: Structure, message: Descriptor) -> None:
        self._lists = [one.name for one in message.fields if _holds_objects(one)]
        self._parse = READERS.parser(message)
        self._read = READERS.of_message(structure, message)
        self._parse_long = LONG_READERS.parser(message)
        self._read_long = LONG_READERS.of_message(structure, message)

    def short(self, data: bytes) -> Any:  # noqa: ANN401 - of the structure's type
        """What it tells; None if it is to be read in a thread.

        Raises:
            RefusedError: a field is missing, or not as its type allows.
        """
        request = self._parsed_short(data)
        return None if request is None else self._read(request)

    def long(self, data: bytes) -> Any:  # noqa: ANN401 - as above
        """What it tells, however long it is, for a thread; errors as `short`."""
        begin_counting()
        return self._read_long(self._parse_long(data))

    def _parsed_short(self, data: bytes) -> Any:  # noqa: ANN401 - a WireMessage
        """The request; None if it is to be read in a thread, and nothing of it is kept till then.

        A malformed one, too: how long ones are read tells where it is at fault.
        """
        if is_long_protobuf(len(data)):
            return None
        try:
            request = self._parse(data)
        except MalformedError:
            return None
        objects = sum(len(getattr(request, name)) for name in self._lists)
        return None if is_long_protobuf(len(data), objects) else request


def _holds_objects(field: FieldDescriptor) -> bool:
    """Whether a field is a list of objects; a map has few entries, each of some length."""
    return field.is_repeated and field.message_type is not None and not is_map(field)
