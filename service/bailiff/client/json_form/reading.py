"""REST's JSON, and objects as Kubernetes and kubectl write them, as messages."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from bailiff.client.errors import FieldError
from bailiff.client.json_form import shapes

if TYPE_CHECKING:
    from google.protobuf.struct_pb2 import Struct

    from bailiff.client.json_form.shapes import FieldDescriptor

M = TypeVar("M", bound=Message)
_LARGEST = sys.float_info.max


class UnreadableError(ValueError):
    """A value that the message cannot hold.

    Attributes:
        field: where it is, and what is wrong with it.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.field = FieldError(path, reason)


def read(value: object, kind: type[M], *, strict: bool = True, path: str = "$") -> M:
    """A message.

    Args:
        value: a mapping of JSON's names, or such a message already. Times may be `datetime` in
            place of texts.
        kind: of the message.
        strict: refuse fields that a message of Bailiff's own has not. Objects of Kubernetes may
            always have more.
        path: where the value stands, for the error.

    Raises:
        UnreadableError: the message cannot hold it.
    """
    message = kind()
    _Reader(strict=strict).fill(message, value, path)
    return message


class _Reader:
    def __init__(self, *, strict: bool) -> None:
        self._strict = strict

    def fill(self, message: Message, value: object, path: str) -> None:
        """Put a value into an empty message."""
        if isinstance(value, type(message)):
            message.CopyFrom(value)
            return
        name = message.DESCRIPTOR.full_name
        special = _SPECIAL.get(name)
        if special is not None:
            _told(special, message, value, path)
        elif not isinstance(value, Mapping):
            raise UnreadableError(path, f"expected an object, got {type(value).__name__}")
        elif name == shapes.SUBJECT:
            self._subject(message, value, path)
        else:
            self._object(message, value, path)

    def _object(self, message: Message, value: Mapping[str, Any], path: str) -> None:
        named = {shapes.name_in_json(message.DESCRIPTOR, f): f for f in message.DESCRIPTOR.fields}
        _check_kind(message, value, path)
        if message.DESCRIPTOR.full_name == shapes.VOLUME:
            value = {"name": value.get("name"), "volumeSource": value}
        for name, part in value.items():
            field = named.get(name)
            if part is None:
                continue
            if field is None or field.name == shapes.OTHERS:
                self._unknown(message, name, part, path)
            else:
                self._field(message, field, part, f"{path}.{name}")

    def _unknown(self, message: Message, name: str, part: object, path: str) -> None:
        others = message.DESCRIPTOR.fields_by_name.get(shapes.OTHERS)
        if others is not None and isinstance(part, Mapping):
            where = f"{path}.{name}"
            section = getattr(message, shapes.OTHERS)[_typed(name, str, path)]
            _told(_fill_struct, section, part, where)
        elif self._strict and not shapes.is_of_kubernetes(message.DESCRIPTOR):
            fields = (shapes.name_in_json(message.DESCRIPTOR, f) for f in message.DESCRIPTOR.fields)
            allowed = ", ".join(field for field in fields if field != shapes.OTHERS)
            raise UnreadableError(f"{path}.{name}", f"unknown field, allowed are {allowed}")

    def _subject(self, message: Any, value: Mapping[str, Any], path: str) -> None:
        by_kind = {field.json_name: field for field in message.DESCRIPTOR.fields}
        field = by_kind.get(str(value.get("kind")))
        if field is None:
            _told(_fill_struct, message.other, value, path)
            return
        place = getattr(message, field.name)
        place.SetInParent()
        self._object(place, {name: part for name, part in value.items() if name != "kind"}, path)

    def _field(self, message: Message, field: FieldDescriptor, part: Any, path: str) -> None:
        if shapes.is_map(field):
            self._map(getattr(message, field.name), field, part, path)
        elif shapes.is_repeated(field):
            self._list(getattr(message, field.name), field, part, path)
        elif field.message_type is not None:
            place = getattr(message, field.name)
            place.SetInParent()
            self.fill(place, part, path)
        else:
            setattr(message, field.name, _scalar(field, part, path))

    def _list(self, place: Any, field: FieldDescriptor, part: Any, path: str) -> None:
        if not isinstance(part, Sequence) or isinstance(part, str | bytes):
            raise UnreadableError(path, f"expected an array, got {type(part).__name__}")
        for index, item in enumerate(part):
            where = f"{path}[{index}]"
            if field.message_type is not None:
                self.fill(place.add(), item if item is not None else {}, where)
            else:
                place.append(_scalar(field, "" if item is None else item, where))

    def _map(self, place: Any, field: FieldDescriptor, part: Any, path: str) -> None:
        if not isinstance(part, Mapping):
            raise UnreadableError(path, f"expected an object, got {type(part).__name__}")
        of_values = shapes.values_of(field)
        for key, item in part.items():
            where = f"{path}[{json.dumps(_encodable(key, path))}]"
            if of_values.message_type is not None:
                self.fill(place[key], item, where)
            else:
                place[key] = _scalar(of_values, "" if item is None else item, where)


def _check_kind(message: Message, value: Mapping[str, Any], path: str) -> None:
    """An object of another kind would be read as an empty one."""
    wanted, kind = message.DESCRIPTOR.name, value.get("kind")
    if "metadata" in message.DESCRIPTOR.fields_by_name and kind not in (None, "", wanted):
        raise UnreadableError(f"{path}.kind", f"expected {wanted}, got {kind}")


def _scalar(field: FieldDescriptor, part: Any, path: str) -> Any:
    if field.enum_type is not None:
        prefix = shapes.enum_prefix(field.enum_type)
        known = field.enum_type.values_by_name.get(f"{prefix}{part}")
        return known.number if known is not None else 0
    if field.cpp_type == field.CPPTYPE_STRING:
        return _text(field, part, path)
    if field.cpp_type == field.CPPTYPE_BOOL:
        return _typed(part, bool, path)
    if field.cpp_type in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
        return _finite(_typed(part, (int, float), path), path)
    return _integer(field, part, path)


def _text(field: FieldDescriptor, part: Any, path: str) -> str | bytes:
    if field.type == field.TYPE_BYTES:
        return part if isinstance(part, bytes) else _decoded(_typed(part, str, path), path)
    return _encodable(part, path)


def _encodable(part: Any, path: str) -> str:
    """A text that protobuf takes: JSON may have halves of characters, UTF-8 may not."""
    text: str = _typed(part, str, path)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnreadableError(path, "expected text that UTF-8 can have") from None
    return text


def _finite(number: float, path: str) -> float:
    if not -_LARGEST <= number <= _LARGEST:
        raise UnreadableError(path, "expected a finite number")
    return float(number)


def _integer(field: FieldDescriptor, part: Any, path: str) -> int:
    number = _typed(part, (int, float), path)
    bits = 31 if field.cpp_type == field.CPPTYPE_INT32 else 63
    if number != number // 1 or not -(2**bits) <= number < 2**bits:
        raise UnreadableError(path, "expected a whole number within the field's bounds")
    return int(number)


def _decoded(part: str, path: str) -> bytes:
    try:
        return base64.b64decode(part, validate=True)
    except ValueError as error:
        raise UnreadableError(path, str(error)) from None


def _typed(part: Any, kinds: type | tuple[type, ...], path: str) -> Any:
    if not isinstance(part, kinds) or (isinstance(part, bool) and kinds is not bool):
        wanted = kinds.__name__ if isinstance(kinds, type) else "number"
        raise UnreadableError(path, f"expected {wanted}, got {type(part).__name__}")
    return part


def _told(fill: Any, message: Message, value: Any, path: str) -> None:
    try:
        fill(message, value)
    except (TypeError, ValueError, OverflowError, RecursionError, json_format.Error) as error:
        raise UnreadableError(path, str(error)) from None


def _fill_raw(message: Any, value: Any) -> None:
    message.raw = value if isinstance(value, bytes) else json.dumps(value, allow_nan=False).encode()


def _fill_quantity(message: Any, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"expected a quantity, got {type(value).__name__}")
    message.string = str(value)


def _fill_time(message: Any, value: Any) -> None:
    if isinstance(value, datetime):
        # Without a zone a time is UTC, as protobuf has it.
        message.FromDatetime(value.astimezone(UTC) if value.tzinfo else value)
        return
    if not isinstance(value, str):
        raise TypeError(f"expected an RFC 3339 time, got {type(value).__name__}")
    message.FromJsonString(value.upper())


def _fill_struct(message: Struct, value: Any) -> None:
    json_format.ParseDict(dict(value), message)
    # Numbers that JSON cannot have are told here, not when the message is sent.
    json_format.MessageToDict(message)


_SPECIAL = {
    shapes.TIMESTAMP: _fill_time,
    shapes.STRUCT: _fill_struct,
    shapes.QUANTITY: _fill_quantity,
    **dict.fromkeys(shapes.RAW, _fill_raw),
}
