"""JSON of a whole cluster read and written a part at a time.

To read or write many megabytes in one go is one call of C, in which no other thread of the process
runs: a tenth of a second and more for 20,000 claims. Here every item of the long lists is a call of
its own, so that whoever does this in a thread keeps nobody waiting. What comes out is the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import msgspec
from msgspec import Raw, Struct
from msgspec import inspect as types

from bailiff.kinds.decode_errors import DecodeError, DepthError, unknown_field
from bailiff.kinds.decoding import (
    check_form,
    check_size,
    decode,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

T = TypeVar("T")

# What may hold more values is refused (see `check_size`): to find the items of a list that holds
# nothing but empty ones takes so long.
MAX_MARKS = 1_000_000
# Bytes that are read in one go, 20 ms at worst.
_SMALL = 64 * 1024
# Items written at a time, about 1 ms.
_PART = 256
_NULL = b"null"
_ONE_TYPE = re.compile(r"^Expected `([^`|]+)`(?=, got)")


class _Field(NamedTuple):
    """A field as it is written.

    Attributes:
        name: in Python.
        written: in JSON.
        kind: its type.
        item: the type of its items, if it is a list of structures.
        most: how many items it may have; None: any number.
        default: what is left out; NODEFAULT where it is always written.
    """

    name: str
    written: str
    kind: Any
    item: type[Struct] | None
    most: int | None
    default: object


def decode_in_turns(data: bytes, kind: type[T]) -> T:
    """As `decode`, item by item where the value is a structure with lists of structures.

    Raises:
        DecodeError: as `decode`; or the JSON may hold more than MAX_MARKS values.
    """
    check_size(data, MAX_MARKS)
    return _decode(data, kind)


def _decode(data: bytes, kind: type[T]) -> T:
    if len(data) <= _SMALL:
        return decode(data, kind)
    parts, known = _split(data), cast("Any", kind)
    fields = {field.written: field for field in _fields(known)}
    _check_names(known, parts, fields)
    values = {
        fields[name].name: _read(fields[name], bytes(part))
        for name, part in parts.items()
        if name in fields and bytes(part) != _NULL
    }
    for field in fields.values():
        if field.name not in values and field.default is msgspec.NODEFAULT:
            raise DecodeError("required, and missing or null", f"$.{field.written}")
    return kind(**values)


def _split(data: bytes) -> dict[str, Raw]:
    """The fields of an object, as they are written; DecodeError as `decode`."""
    try:
        return msgspec.json.decode(data, type=dict[str, Raw])
    except RecursionError as error:
        raise DepthError(malformed=True) from error
    except msgspec.ValidationError as error:
        check_form(data)
        raise DecodeError(str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        check_form(data)
        raise DecodeError(str(error), malformed=True) from error


def encode_in_turns(value: Struct) -> bytes:
    """The JSON of a structure, a part of each long list at a time."""
    return b"".join(_write(value))


def _check_names(
    kind: type[Struct], parts: Mapping[str, Raw], fields: Mapping[str, _Field]
) -> None:
    """Refuse an object that says it is of another kind, or has a field that it may not have."""
    config = kind.__struct_config__
    name = config.tag_field
    if name is not None and name in parts:
        decode(b'{"%b":%b}' % (name.encode(), bytes(parts[name])), kind)
    if config.forbid_unknown_fields:
        unknown = next((one for one in parts if one not in fields), None)
        if unknown is not None:
            raise unknown_field(kind, "$", unknown)


def _read(field: _Field, data: bytes) -> Any:  # noqa: ANN401 - of the field's type
    try:
        if field.item is not None:
            return _read_all(field, data)
        if isinstance(field.kind, type) and issubclass(field.kind, Struct):
            return _decode(data, field.kind)
        return decode(data, field.kind)
    except DecodeError as error:
        raise _within(error, f"$.{field.written}") from error


def _read_all(field: _Field, data: bytes) -> tuple[Any, ...]:
    items = decode(data, list[Raw])
    if field.most is not None and len(items) > field.most:
        raise DecodeError(f"Expected `array` of length <= {field.most}")
    return tuple(_read_item(field.item, index, bytes(one)) for index, one in enumerate(items))


def _read_item(kind: Any, index: int, data: bytes) -> Any:  # noqa: ANN401 - of this type
    try:
        # As Go does it: a null in a list is the zero value.
        return _decode(b"{}" if data == _NULL else data, kind)
    except DecodeError as error:
        raise _within(error, f"$[{index}]") from error


def _within(error: DecodeError, path: str) -> DecodeError:
    """As `decode` of the whole tells it: that a part may be null; of what is no JSON no place."""
    if error.malformed:
        return error
    reason = error.reason
    if error.path == "$":
        reason = _ONE_TYPE.sub(r"Expected `\1 | null`", reason)
    return DecodeError(reason, path + error.path[1:])


def _write(value: Struct) -> Iterator[bytes]:
    before = b"{"
    for field in _fields(type(value)):
        part = getattr(value, field.name)
        if field.default is not msgspec.NODEFAULT and part == field.default:
            continue
        yield before + msgspec.json.encode(field.written) + b":"
        yield from _write_part(field, part)
        before = b","
    yield b"}" if before == b"," else b"{}"


def _write_part(field: _Field, part: Any) -> Iterator[bytes]:  # noqa: ANN401 - any value
    if field.item is not None and len(part) > _PART:
        yield b"["
        for start in range(0, len(part), _PART):
            written = msgspec.json.encode(part[start : start + _PART])[1:-1]
            yield b"," + written if start else written
        yield b"]"
    elif isinstance(part, Struct) and not part.__struct_config__.tag:
        yield from _write(part)
    else:
        yield msgspec.json.encode(part)


@lru_cache(maxsize=256)  # the types of questions and answers
def _fields(kind: type[Any]) -> tuple[_Field, ...]:
    (info,) = types.multi_type_info([kind])
    if not isinstance(info, types.StructType):
        raise TypeError(f"{kind} is no structure")
    declared = {field.name: field for field in msgspec.structs.fields(kind)}
    return tuple(_field(one, declared[one.name]) for one in info.fields)


def _field(found: types.Field, declared: msgspec.structs.FieldInfo) -> _Field:
    kind, item, most = found.type, None, None
    if isinstance(kind, types.VarTupleType) and isinstance(kind.item_type, types.StructType):
        item, most = kind.item_type.cls, kind.max_length
    default = declared.default
    if default is msgspec.NODEFAULT and declared.default_factory is not msgspec.NODEFAULT:
        default = declared.default_factory()
    return _Field(found.name, found.encode_name, _bare(kind, declared), item, most, default)


def _bare(kind: types.Type, declared: msgspec.structs.FieldInfo) -> Any:  # noqa: ANN401 - a type
    """The type of a field; of one that may be absent as well, the type that it has otherwise."""
    if isinstance(kind, types.UnionType):
        found = [one.cls for one in kind.types if isinstance(one, types.StructType)]
        return found[0] if len(found) == 1 else declared.type
    return kind.cls if isinstance(kind, types.StructType) else declared.type
