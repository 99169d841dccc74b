"""What readers are put together from: the values that are no messages of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias

import msgspec
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct
from msgspec import Meta
from msgspec import inspect as types

from bailiff.grpc_api.counting import spend
from bailiff.grpc_api.errors import FieldError, snake
from bailiff.grpc_api.fields import OTHERS, enum_names
from bailiff.grpc_api.wire import parse, read_within
from bailiff.kinds import DecodeError, decode
from bailiff.kinds.decode_errors import from_validation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from google.protobuf.descriptor import FieldDescriptor

    from bailiff.grpc_api.fields import Field, Structure
    from bailiff.grpc_api.wire import WireClass

Read: TypeAlias = "Callable[[Any], Any]"

# How a map's entry begins: with the tag of its key, as Go and all that we know of write it.
_KEY = b"\x0a"


def missing(name: str) -> NoReturn:
    """Refuse a question for what it lacks; raises FieldError."""
    raise FieldError("required", name)


def too_long(most: int, name: str = "") -> NoReturn:
    """Refuse a text; raises FieldError."""
    raise FieldError(f"at most {most} characters are allowed", name)


def check(kind: Any, value: Any, name: str) -> Any:  # noqa: ANN401 - any type with bounds
    """A value that its type may not allow.

    Raises:
        FieldError: it does not.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        found = from_validation(error, kind)
        raise FieldError(found.reason, name + found.path.removeprefix("$")) from error


def text_bound(kind: types.Type) -> int | None:
    """How many characters a text may have, where that is all that its type says."""
    if isinstance(kind, types.StrType) and kind == types.StrType(max_length=kind.max_length):
        return kind.max_length
    return None


def read_text(kind: types.Type) -> Read:
    """A text, or a number, in a list or a message of its own."""
    longest = text_bound(kind)
    if longest is None and isinstance(kind, types.StrType) and kind != types.StrType():
        declared = _declared(kind)
        return lambda value: check(declared, value, "")

    def read(value: Any) -> Any:  # noqa: ANN401 - what protobuf read
        return value if longest is None or len(value) <= longest else too_long(longest)

    return read


def _declared(kind: types.StrType) -> Any:  # noqa: ANN401 - a type
    """With all its bounds, such as a quantity has."""
    bounds = Meta(min_length=kind.min_length, max_length=kind.max_length, pattern=kind.pattern)
    return Annotated[str, bounds]


def read_enum(kind: types.Type, place: FieldDescriptor) -> Read:
    """A member of an enumeration from its number; 0 is that nothing was said."""
    members = {number: member for member, number in enum_names(kind, place).items()}

    def read(number: int) -> Any:  # noqa: ANN401 - a member
        if number not in members:
            raise FieldError(f"must be one of {', '.join(members.values())}, is {number}")
        return members[number]

    return read


def read_entry(wire: WireClass) -> Read:
    """An entry of a map: its key and its value."""

    def read(data: bytes) -> tuple[str, Any]:
        entry = parse(wire, data)
        return entry.key, entry.value

    return read


def read_map(name: str, entry: Read, value: Read) -> Read:
    """A map of messages; an error names the key."""

    def read(entries: Sequence[bytes]) -> dict[str, Any]:
        spend(len(entries), name)
        found = dict(map(entry, entries))
        return {key: read_within(f"{name}[{key!r}]", value, one) for key, one in found.items()}

    return read


def read_held(wire: WireClass, text: Read) -> Read:
    """What a message holds that is nothing but a text, as resource.Quantity is."""
    return lambda data: text(parse(wire, data).string)


def read_entries(entry: Read, structure: Structure) -> Read:
    """Those entries of a map of texts that a structure has fields for, however long the others."""
    default = structure()
    known = tuple(
        _KEY + bytes([len(name)]) + name.encode() for name in structure.__struct_encode_fields__
    )

    def read(entries: Sequence[bytes]) -> Any:  # noqa: ANN401 - a value of the structure
        found = [one for one in entries if one.startswith(known) or not one.startswith(_KEY)]
        return msgspec.convert(dict(map(entry, found)), structure) if found else default

    return read


def read_json(structure: Structure, wire: WireClass) -> Read:
    """What a message holds that is nothing but JSON, as metav1.FieldsV1 is."""

    def read(data: bytes) -> Any:  # noqa: ANN401 - a value of the structure
        raw = parse(wire, data).raw
        try:
            return decode(raw, structure) if raw else structure()
        except DecodeError as error:
            raise FieldError(error.reason, f"raw{error.path.removeprefix('$')}") from error

    return read


def refuse_others(
    known: Collection[str], structure: Structure, entry: Read
) -> Callable[[Sequence[bytes]], None]:
    """What refuses sections that a question has not, in the words of REST for unknown fields.

    It raises FieldError for the first of them.
    """
    allowed = ", ".join(structure.__struct_encode_fields__)

    def refuse(entries: Sequence[bytes]) -> None:
        for name, _ in map(entry, entries):
            if name not in known:
                told = f"unknown field, allowed are {allowed}"
                raise FieldError(told, f"{OTHERS}[{name!r}]")

    return refuse


def read_other(field: Field, entry: Read) -> Read:
    """A structure that the message has no field for, from the map of those."""
    if not isinstance(field.kind, types.StructType):
        raise TypeError(f"{field.name} can be no google.protobuf.Struct")
    kind: Any = field.kind.cls

    def read(entries: Sequence[bytes]) -> Any:  # noqa: ANN401 - a value of the structure
        data = dict(map(entry, entries)).get(field.written)
        if data is None:
            return missing(f"{OTHERS}[{field.written!r}]") if field.is_required else field.default
        try:
            return decode(json_format.MessageToJson(parse(Struct, data)).encode(), kind)
        except DecodeError as error:
            path = snake(error.path).removeprefix("$")
            raise FieldError(error.reason, f"{OTHERS}[{field.written!r}]{path}") from error

    return read
