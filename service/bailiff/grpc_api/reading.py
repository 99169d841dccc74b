"""Questions from protobuf to the core's values, whatever their types.

For a type and its message a reader is put together once, from the names and types of the fields. An
empty time in a Kubernetes object is Go's zero time and counts as not set, as JSON's null does; Go
writes nothing at all for an absent pointer. A message that is nothing but a text or JSON, as
Kubernetes' Quantity and FieldsV1 are, stands for what it holds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import inspect as types

from bailiff.grpc_api.fields import (
    OTHERS,
    Field,
    Structure,
    fields_of,
    is_map,
    is_time,
    message_of,
)
from bailiff.grpc_api.generated import Function
from bailiff.grpc_api.read_parts import (
    check,
    missing,
    read_entries,
    read_entry,
    read_enum,
    read_held,
    read_json,
    read_map,
    read_other,
    read_text,
    refuse_others,
    text_bound,
    too_long,
)
from bailiff.grpc_api.times import read_time
from bailiff.grpc_api.wire import (
    SHORT,
    STRUCTURED,
    WHOLE,
    Interned,
    Wire,
    parse,
    read_all,
    read_within,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from google.protobuf.descriptor import Descriptor, FieldDescriptor

Read: TypeAlias = "Callable[[Any], Any]"

_KUBERNETES = "bailiff.kinds."


class Readers:
    """Reads messages; one for a process, so that what repeats is converted once.

    Args:
        wire: the classes that parse them.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._made: dict[tuple[Structure, str], Read] = {}

    def parser(self, message: Descriptor) -> Callable[[bytes], Any]:
        """What makes a message of bytes, for a reader that is made by `of_message`.

        It raises MalformedError where the bytes are no such message, and FieldError where it has
        far too many fields.
        """
        return partial(parse, self._wire.class_of(message))

    def of(self, structure: Structure, message: Descriptor) -> Read:
        """What makes a structure from a nested message.

        That is a message where the wire classes leave it one, and bytes otherwise. It raises
        MalformedError where the bytes are no such message, and FieldError where a field is missing,
        or not as its type allows.

        Raises:
            TypeError: a field of the structure has no place in the message, or another type.
        """
        key = structure, message.full_name
        if key not in self._made:
            self._made[key] = self._make(structure, message)
        return self._made[key]

    def of_message(self, structure: Structure, message: Descriptor) -> Read:
        """What makes a structure from a message that was parsed; errors as `of`."""
        function = Function(f"read_{structure.__name__}", "message")
        fields = fields_of(structure, message)
        values = [
            f"{field.name}={self._expression(function, structure, message, field)}"
            for field in fields
            if field.inlined is None
        ]
        values += self._embedded(function, structure, fields)
        made = f"{function.name_of(structure)}({', '.join(values)})"
        if OTHERS in message.fields_by_name:
            known = frozenset(field.written for field in fields if field.place is None)
            entry = self._entry(message.fields_by_name[OTHERS])
            refuse = refuse_others(known, structure, entry)
            made = f"(v := message.{OTHERS}) and {function.name_of(refuse)}(v) or {made}"
        return function.returning(made)

    def _embedded(
        self, function: Function, structure: Structure, fields: tuple[Field, ...]
    ) -> Iterator[str]:
        """The values of fields that stand in an embedded message, a mapping for each of those."""
        for place in {
            field.inlined.name: field.inlined for field in fields if field.inlined
        }.values():
            inner, message = Function(f"read_{place.name}", "message"), message_of(place)
            values = (
                f"{field.name}={self._expression(inner, structure, message, field)}"
                for field in fields
                if field.inlined is not None and field.inlined.name == place.name
            )
            read = inner.returning(f"dict({', '.join(values)})")
            parsed = partial(parse, self._wire.class_of(message))
            within = f"{function.name_of(read_within)}({place.name!r}, {function.name_of(read)}"
            yield f"**{within}, {function.name_of(parsed)}(message.{place.name}))"

    def _make(self, structure: Structure, message: Descriptor) -> Read:
        wire = self._wire.class_of(message)
        if set(message.fields_by_name) == {"raw"}:
            return Interned(read_json(structure, wire))
        read = self.of_message(structure, message)
        if message.full_name in self._wire.structured:
            return read
        if message.full_name in STRUCTURED:
            return lambda data: read(parse(wire, data))
        return Interned(lambda data: read(parse(wire, data)))

    def _expression(
        self, function: Function, structure: Structure, message: Descriptor, field: Field
    ) -> str:
        """The value of one field, in Python."""
        place, default = field.place, function.name_of(field.default)
        if place is None:
            entry = self._entry(message.fields_by_name[OTHERS])
            return f"{function.name_of(read_other(field, entry))}(message.{OTHERS})"
        here = f"message.{field.name}"
        if field.is_list or is_map(place):
            return f"{self._list(function, field, place)} if (v := {here}) else {default}"
        if field.is_required and place.has_presence:
            default = f"{function.name_of(missing)}({field.name!r})"
        if self._is_told_empty(structure, field, place):
            return f"{self._value(function, field, place, 'v')} if (v := {here}) else {default}"
        value = self._value(function, field, place, f"(v := {here})")
        # A text, word or number whose absence is told has a default of its own.
        is_told = place.has_presence and (field.is_required or place.message_type is None)
        if field.is_optional or is_told:
            return f"{value} if message.HasField({field.name!r}) else {default}"
        return value

    def _is_told_empty(self, structure: Structure, field: Field, place: FieldDescriptor) -> bool:
        """Whether an empty message stands for the absent one, which is quicker to see.

        So it is with times of Kubernetes' objects, and with structures whose absence is not told
        from the one that has nothing.
        """
        if is_time(place):
            return structure.__module__.startswith(_KUBERNETES)
        stays_bytes = place.message_type is not None and (
            place.message_type.full_name not in self._wire.structured
        )
        return stays_bytes and not field.is_optional and not field.is_required

    def _list(self, function: Function, field: Field, place: FieldDescriptor) -> str:
        """The value of a list or a map, which is `v`."""
        all_of, name = function.name_of(read_all), repr(field.name)
        if is_map(place) and isinstance(field.kind, types.StructType):
            return f"{function.name_of(read_entries(self._entry(place), field.kind.cls))}(v)"
        if is_map(place):
            entry, value = self._entry(place), self._map_value(field, place)
            if value is not None:
                return f"{function.name_of(read_map(field.name, entry, value))}(v)"
            found = f"dict({all_of}({name}, {function.name_of(entry)}, v, {field.most}))"
            if field.kind == _TEXTS:
                return found
            declared = function.name_of(field.declared)
            return f"{function.name_of(check)}({declared}, {found}, {name})"
        item = function.name_of(self._item(field, place))
        values = f"tuple({all_of}({name}, {item}, v, {field.most}))"
        if field.is_bounded and text_bound(field.kind) is None:
            return (
                f"{function.name_of(check)}({function.name_of(field.declared)}, {values}, {name})"
            )
        return values

    def _value(self, function: Function, field: Field, place: FieldDescriptor, v: str) -> str:
        """The value of a field that is there; `v` is it as it stands in the message."""
        name = repr(field.name)
        if place.message_type is not None or place.enum_type is not None:
            read = self._item(field, place)
            within = f"{function.name_of(read_within)}({name}, {function.name_of(read)}"
            if isinstance(read, Interned):
                return f"({function.name_of(read.known)}({v}) or {within}, v))"
            return f"{within}, {v})"
        longest = text_bound(field.kind)
        if longest is not None:
            refuse = f"{function.name_of(too_long)}({longest}, {name})"
            return f"(v if len({v}) <= {longest} else {refuse})"
        if field.is_bounded:
            return f"{function.name_of(check)}({function.name_of(field.declared)}, {v}, {name})"
        return v

    def _item(self, field: Field, place: FieldDescriptor) -> Read:
        if is_time(place):
            return read_time
        if place.enum_type is not None:
            return read_enum(field.kind, place)
        if place.message_type is not None:
            return self._of_message_or_text(field.kind, place.message_type)
        return read_text(field.kind)

    def _of_message_or_text(self, kind: types.Type, message: Descriptor) -> Read:
        if isinstance(kind, types.StructType):
            return self.of(kind.cls, message)
        if not isinstance(kind, types.StrType) or set(message.fields_by_name) != {"string"}:
            raise TypeError(f"{message.full_name} is no {type(kind).__name__}")
        return Interned(read_held(self._wire.class_of(message), read_text(kind)))

    def _map_value(self, field: Field, place: FieldDescriptor) -> Read | None:
        """What reads a map's values; None: they are texts, as they stand."""
        value = message_of(place).fields_by_name["value"].message_type
        if value is not None and isinstance(field.kind, types.DictType):
            return self._of_message_or_text(field.kind.value_type, value)
        if value is not None or not _is_of_texts(field.kind):
            raise TypeError(f"{place.full_name} is no map of texts or of messages")
        return None

    def _entry(self, place: FieldDescriptor) -> Read:
        return Interned(read_entry(self._wire.class_of(message_of(place))))


_TEXTS = types.DictType(types.StrType(), types.StrType())


def _is_of_texts(kind: types.Type) -> bool:
    return (
        isinstance(kind, types.DictType)
        and isinstance(kind.key_type, types.StrType)
        and isinstance(kind.value_type, types.StrType)
    )


# A parser is one call of C, in which no other thread of the process runs: of a long question no
# message is parsed together with those that hold it, so that no call takes long.
READERS = Readers(SHORT)
LONG_READERS = Readers(WHOLE)
