"""A message as REST's JSON."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from bailiff.client.json_form import shapes

if TYPE_CHECKING:
    from bailiff.client.json_form.shapes import FieldDescriptor


def write(message: Message) -> Any:
    """Values as `json.dumps` takes them."""
    special = _SPECIAL.get(message.DESCRIPTOR.full_name)
    if special is not None:
        return special(message)
    return _fields(message)


def _fields(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {}
    of_kubernetes = shapes.is_of_kubernetes(message.DESCRIPTOR)
    for field, value in message.ListFields():
        if of_kubernetes and _is_no_time(field, value):
            continue
        if field.name == shapes.OTHERS and shapes.is_map(field):
            written.update({name: write(part) for name, part in value.items()})
        else:
            written[shapes.name_in_json(message.DESCRIPTOR, field)] = _value(field, value)
    return written


def _is_no_time(field: FieldDescriptor, value: Any) -> bool:
    """Go writes a time that is not set as an empty message."""
    kind = field.message_type
    return kind is not None and kind.full_name == shapes.TIMESTAMP and not value.ListFields()


def _value(field: FieldDescriptor, value: Any) -> Any:
    if shapes.is_map(field):
        of_values = shapes.values_of(field)
        return {key: _item(of_values, part) for key, part in value.items()}
    if shapes.is_repeated(field):
        return [_item(field, part) for part in value]
    return _item(field, value)


def _item(field: FieldDescriptor, value: Any) -> Any:
    if isinstance(value, Message):
        return write(value)
    if field.enum_type is not None:
        name = field.enum_type.values_by_number[value].name
        return name.removeprefix(shapes.enum_prefix(field.enum_type))
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def _raw(message: Any) -> Any:
    return json.loads(message.raw or b"null")


def _volume(message: Any) -> dict[str, Any]:
    return {"name": message.name, **write(message.volume_source)}


def _subject(message: Message) -> dict[str, Any]:
    for field, value in message.ListFields():
        if isinstance(value, Struct):
            return _struct(value)
        return {"kind": field.json_name} | _fields(value)
    return {}


def _struct(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = json_format.MessageToDict(message)
    return written


def _time(message: Any) -> str:
    text: str = message.ToJsonString()
    return text


_SPECIAL = {
    shapes.TIMESTAMP: _time,
    shapes.STRUCT: _struct,
    shapes.QUANTITY: lambda message: message.string,
    shapes.VOLUME: _volume,
    shapes.SUBJECT: _subject,
    **dict.fromkeys(shapes.RAW, _raw),
}
