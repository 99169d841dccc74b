"""Answers from the core's values to protobuf, whatever their types.

For a type and its message a writer is put together once, from the names and types of the fields. A
value whose type has no message travels as google.protobuf.Struct, as the REST API would write it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct
from msgspec import inspect as types

from bailiff.grpc_api.errors import snake
from bailiff.grpc_api.fields import (
    OTHERS,
    Field,
    Structure,
    enum_names,
    fields_of,
    is_map,
    is_time,
    is_union,
    message_of,
)
from bailiff.grpc_api.generated import Function
from bailiff.grpc_api.times import write_time
from bailiff.grpc_api.wire import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from google.protobuf.descriptor import Descriptor, FieldDescriptor

# What writes a value, given whatever is kept while one answer is written.
Write: TypeAlias = "Callable[[Any, Any], bytes]"


class Writers:
    """Writes messages.

    Args:
        special: how values of some types are written, in place of what would be made for them.
    """

    def __init__(self, special: Mapping[Structure, Write]) -> None:
        self._special = special
        self._made: dict[tuple[Structure, str], Write] = {}

    def of(self, structure: Structure, message: Descriptor) -> Write:
        """What makes bytes of a structure.

        Raises:
            TypeError: a field of the structure has no place in the message, or another type.
        """
        if structure in self._special:
            return self._special[structure]
        return self.plain(structure, message)

    def plain(self, structure: Structure, message: Descriptor) -> Write:
        """The same, with nothing special about the structure itself."""
        key = structure, message.full_name
        if key not in self._made:
            self._made[key] = self._make(structure, message)
        return self._made[key]

    def _make(self, structure: Structure, message: Descriptor) -> Write:
        if is_union(message):
            return self._one_of(message)
        function = Function(f"write_{structure.__name__}", "value", "kept")
        fields = fields_of(structure, message)
        values = [
            f"{field.name}={self._expression(function, field, field.place)}"
            for field in fields
            if field.place is not None
        ]
        others = [field for field in fields if field.place is None]
        if others:
            entry = WHOLE.class_of(message_of(message.fields_by_name[OTHERS]))
            values.append(f"{OTHERS}={function.name_of(write_others(others, entry))}(value)")
        wire = function.name_of(WHOLE.class_of(message))
        return function.returning(f"{wire}({', '.join(values)}).SerializeToString()")

    def _expression(self, function: Function, field: Field, place: FieldDescriptor) -> str:
        """What stands for one field in the message, in Python."""
        here = f"value.{field.name}"
        if is_map(place):
            entry = function.name_of(WHOLE.class_of(message_of(place)))
            pairs = f"{here}.items()"
            return f"[{entry}(key=k, value=v).SerializeToString() for k, v in {pairs}]"
        if is_time(place):
            write = f"{function.name_of(write_time)}"
            return f"[{write}(v) for v in {here}]" if field.is_list else f"{write}({here})"
        if place.enum_type is not None:
            number = f"{function.name_of(enum_names(field.kind, place))}.get"
            return f"[{number}(v) for v in {here}]" if field.is_list else f"{number}({here})"
        if not isinstance(field.kind, types.StructType):
            return here
        write = function.name_of(self.of(field.kind.cls, field.message))
        if field.is_list:
            return f"[{write}(v, kept) for v in {here}]"
        if field.is_optional:
            return f"None if (v := {here}) is None else {write}(v, kept)"
        return f"{write}({here}, kept)"

    def _one_of(self, message: Descriptor) -> Write:
        """A value of one of several types, each in the field that its tag names."""
        wire = WHOLE.class_of(message)
        found: dict[type, tuple[str, Write]] = {}

        def write(value: msgspec.Struct, kept: Any) -> bytes:  # noqa: ANN401 - see Write
            structure = type(value)
            if structure not in found:
                found[structure] = self._arm(structure, message)
            name, write_arm = found[structure]
            data: bytes = wire(**{name: write_arm(value, kept)}).SerializeToString()
            return data

        return write

    def _arm(self, structure: Structure, message: Descriptor) -> tuple[str, Write]:
        name = snake(str(structure.__struct_config__.tag))
        place = message.fields_by_name.get(name)
        if place is None or name == OTHER:
            return OTHER, write_struct
        return name, self.of(structure, message_of(place))


OTHER = "other"


def write_struct(value: msgspec.Struct, _kept: object = None) -> bytes:
    """A google.protobuf.Struct."""
    data: bytes = json_format.Parse(msgspec.json.encode(value), Struct()).SerializeToString()
    return data


def write_others(fields: list[Field], entry: Any) -> Callable[[Any], list[bytes]]:  # noqa: ANN401 - a WireClass
    """The entries of the map for fields that a message has no fields for."""

    def write(value: Any) -> list[bytes]:  # noqa: ANN401 - any structure with these fields
        found = ((field.written, getattr(value, field.name)) for field in fields)
        return [
            entry(key=written, value=write_struct(part)).SerializeToString()
            for written, part in found
            if part is not None
        ]

    return write
