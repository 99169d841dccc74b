"""The messages as the server reads and writes them: nested ones stay bytes.

Pods of one cluster repeat themselves: the same tolerations, the same node, the same answer. A
nested message that is kept as bytes is a dictionary key, so that what repeats is converted once
(`Interned`); and an answer that repeats is serialised once. The classes here are the published
ones but for that. They are derived from the published descriptors, so they cannot drift from
them, and to a caller there is no difference: a nested message is a length and bytes on the wire.
Where it comes in pieces, which protobuf allows and merges, their bytes are put together.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from bailiff.grpc_api.counting import check_fields, spend
from bailiff.grpc_api.errors import FieldError, MalformedError, RefusedError
from bailiff.grpc_api.services import FILES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from google.protobuf.descriptor import Descriptor, FileDescriptor

M = TypeVar("M")
T = TypeVar("T")

# Made at run time, so that no static type can be told; a wrong field name raises AttributeError.
WireMessage: TypeAlias = Any
WireClass: TypeAlias = Any

# Pods differ in these, so bytes would gain nothing where they are read.
STRUCTURED = frozenset({"bailiff.v1.Neighbours", "bailiff.v1.Pod", "bailiff.v1.ObjectMeta"})

_Field = descriptor_pb2.FieldDescriptorProto


class Wire:
    """The wire classes of all messages of the service.

    Args:
        structured: the messages that stay messages where others hold them.
        files: with services; they and those that they import have the messages.

    Attributes:
        structured: the same.
    """

    def __init__(
        self,
        structured: frozenset[str] = frozenset(),
        files: Iterable[FileDescriptor] = FILES,
    ) -> None:
        self.structured = structured
        self._pool = descriptor_pool.DescriptorPool()
        self._pool_of_pieces = descriptor_pool.DescriptorPool()
        seen: set[str] = set()
        for one in (one for file in files for one in _files(file, seen)):
            self._pool.Add(_with_bytes(one, structured))
            self._pool_of_pieces.Add(_with_bytes(one, structured, in_pieces=True))

    def class_of(self, message: Descriptor) -> WireClass:
        """The class that reads and writes the same bytes as a published one."""
        made = _class(self._pool, message)
        _PIECES.setdefault(made, _class(self._pool_of_pieces, message))
        return made


# By wire class the one that keeps the pieces of a nested message apart, as a list.
_PIECES: dict[WireClass, WireClass] = {}


def _class(pool: descriptor_pool.DescriptorPool, message: Descriptor) -> WireClass:
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(message.full_name))


def _files(file: FileDescriptor, seen: set[str]) -> Iterator[FileDescriptor]:
    """A file of ours and those that it imports, which come first."""
    if file.package == "bailiff.v1" and file.name not in seen:
        seen.add(file.name)
        for dependency in file.dependencies:
            yield from _files(dependency, seen)
        yield file


def _with_bytes(
    file: FileDescriptor, structured: frozenset[str], in_pieces: bool = False
) -> descriptor_pb2.FileDescriptorProto:
    proto = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(proto)
    del proto.service[:]
    kept = [name for name in proto.dependency if name.startswith("bailiff/")]
    proto.dependency[:] = kept
    for message in proto.message_type:
        _flatten(message, structured, in_pieces)
    return proto


def _flatten(
    message: descriptor_pb2.DescriptorProto, structured: frozenset[str], in_pieces: bool
) -> None:
    for field in message.field:
        if field.type == _Field.TYPE_MESSAGE and field.type_name[1:] not in structured:
            _make_bytes(message, field)
            if in_pieces:
                field.label = _Field.LABEL_REPEATED
    if in_pieces:
        _drop_oneofs(message)
    for entry in message.nested_type:
        # A map is a list of its entries on the wire, and here too: no field calls it a map.
        entry.options.ClearField("map_entry")
        _flatten(entry, structured, in_pieces)


def _drop_oneofs(message: descriptor_pb2.DescriptorProto) -> None:
    """Each field by itself: a list cannot be one of several."""
    del message.oneof_decl[:]
    for field in message.field:
        field.ClearField("proto3_optional")
        field.ClearField("oneof_index")


def _make_bytes(message: descriptor_pb2.DescriptorProto, field: _Field) -> None:
    """Turn a nested message into bytes that keep its presence."""
    field.type = _Field.TYPE_BYTES
    field.ClearField("type_name")
    if field.label == _Field.LABEL_REPEATED or field.HasField("oneof_index"):
        return
    field.proto3_optional = True
    field.oneof_index = len(message.oneof_decl)
    message.oneof_decl.add(name=f"_{field.name}")


# As short questions are read, and as all else is read and written.
SHORT = Wire(STRUCTURED)
WHOLE = Wire()


def parse(wire: WireClass, data: bytes) -> WireMessage:
    """One message.

    Raises:
        MalformedError: the bytes are none.
        FieldError: it has far too many fields.
    """
    check_fields(data)
    try:
        message = wire.FromString(data)
    except DecodeError as error:
        name = wire.DESCRIPTOR.name
        raise MalformedError(f"not a valid {name} message, or text that is not UTF-8") from error
    # A piece that another has replaced; or an empty text that was written, as Go does.
    if message.ByteSize() < len(data) and wire in _PIECES:
        _join_pieces(message, _PIECES[wire].FromString(data))
    return message


def _join_pieces(message: WireMessage, pieces: WireMessage) -> None:
    """Put together what came in several pieces: their bytes one after the other are the whole."""
    for field, (name, is_list, is_message) in zip(
        message.DESCRIPTOR.fields, _fields_of(pieces.DESCRIPTOR), strict=True
    ):
        found = getattr(pieces, name)
        if is_message:
            whole = getattr(message, name)
            for one, its_pieces in zip(whole, found, strict=True) if is_list else [(whole, found)]:
                _join_pieces(one, its_pieces)
        elif is_list and not field.is_repeated and len(found) > 1:
            setattr(message, name, b"".join(found))


@cache
def _fields_of(message: Descriptor) -> list[tuple[str, bool, bool]]:
    return [(one.name, one.is_repeated, one.message_type is not None) for one in message.fields]


def read_within(path: str, read: Callable[[M], T], message: M) -> T:
    """Read a nested message; an error names its path.

    Raises:
        RefusedError: as `read`.
    """
    try:
        return read(message)
    except RefusedError as error:
        error.move_under(path)
        raise


def read_all(
    path: str, read: Callable[[M], T], messages: Collection[M], most: int | None = None
) -> list[T]:
    """Read every entry of a list; an error names its place.

    Raises:
        FieldError: there are more than `most`, or too many together with all others of the
            question; looked at before any is read.
        RefusedError: as `read`.
    """
    if most is not None and len(messages) > most:
        raise FieldError(f"at most {most} are allowed, there are {len(messages)}", path)
    spend(len(messages), path)
    values: list[T] = []
    try:
        for message in messages:
            values.append(read(message))  # noqa: PERF401 - the length tells which one failed
    except RefusedError as error:
        error.move_under(f"{path}[{len(values)}]")
        raise
    return values


class Interned(Generic[T]):
    """Converts bytes to a frozen value, the same bytes once.

    Holds at most MAX_ENTRIES of at most MAX_BYTES each, and starts anew when full: callers who
    send nothing twice cost a dictionary insertion and no memory beyond that.

    Attributes:
        known: the value for bytes that were converted already, or None: the short way for what
            is read for every pod.
    """

    MAX_ENTRIES = 4096
    MAX_BYTES = 512

    def __init__(self, convert: Callable[[bytes], T]) -> None:
        self._convert = convert
        self._values: dict[bytes, T] = {}
        self.known = self._values.get

    def __call__(self, data: bytes) -> T:
        """The value.

        Raises:
            RefusedError: as the conversion; nothing is kept then.
        """
        value = self._values.get(data)
        if value is None:
            value = self._convert(data)
            if len(data) <= self.MAX_BYTES:
                if len(self._values) >= self.MAX_ENTRIES:
                    self._values.clear()
                self._values[data] = value
        return value
