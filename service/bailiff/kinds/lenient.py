"""Null as Go's decoder takes it, for every type that we decode.

To Go (encoding/json, and so to the API server) a null is the zero value: an absent field, an empty
text or number in a list or a map, an empty object in a list. msgspec refuses null wherever a type
does not name it, and types that did would hand it on to the rules. So from each type a second one
is made that takes null everywhere; what was decoded into that is filled up, written as JSON again
and decoded into the first. Only fields that the type has are looked at: what is unknown is skipped
by the decoder, whatever it holds.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from bailiff.kinds.quantity import QuantityText

if TYPE_CHECKING:
    from bailiff.kinds.type_paths import TypeForm

# Takes a value that is not null, and gives it back as it is to be; objects change in place.
Repair: TypeAlias = Callable[[Any], Any]

# Without infinity, which is none of JSON's numbers and would be written as null.
_Float = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]


class Lenient(NamedTuple):
    """How a type is read where null is allowed.

    Attributes:
        type: to decode into. Every field may be absent or null, whole numbers may be floats.
        zero: makes Go's zero value; None where we have none for the type, so that null is refused.
        fill: puts zero values in the place of nulls; None: nothing within can be null.
        round: makes 5.0 to 5, which to JSON are one number; None: there is no whole number within.
    """

    type: TypeForm
    zero: Callable[[], Any] | None = None
    fill: Repair | None = None
    round: Repair | None = None


def lenient(kind: TypeForm) -> Lenient:
    """The lenient way to read a type. What is no type of Kubernetes' JSON is read as it is."""
    origin: object = get_origin(kind)
    args = get_args(kind)
    if origin is Annotated:
        return _bounded(kind, args[0])
    if origin in (Union, types.UnionType):
        others = [arg for arg in args if arg is not types.NoneType]
        return lenient(others[0]) if len(others) == 1 else Lenient(kind)
    if origin is list or (origin is tuple and args[1:] == (...,)):
        return _list(lenient(args[0]))
    if origin in (dict, Mapping):
        return _map(args[0], lenient(args[1]))
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _struct(kind)
    return _PLAIN.get(kind, Lenient(kind))


def _whole(number: object) -> object:
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _quantity_text(value: object) -> object:
    """A number as the text that it is to Go: `cpu: 1` and `cpu: "1"` are the same."""
    return value if isinstance(value, str) else repr(value)


# A quantity may be a number; as null it is none at all, which is 0 (Quantity.UnmarshalJSON).
_QUANTITY = Lenient(str | int | _Float, lambda: "0", _quantity_text)


def _bounded(kind: TypeForm, base: TypeForm) -> Lenient:
    if kind == QuantityText:
        return _QUANTITY
    if base is int:
        return _bounded_int(kind)
    if base is float:
        return _bounded_float(kind)
    made = lenient(base)
    if isinstance(made.type, types.GenericAlias):
        # Too long a list or map is refused before more is done about it.
        return made._replace(type=Annotated[(made.type, *get_args(kind)[1:])])
    return made


def _bounded_int(kind: TypeForm) -> Lenient:
    return Lenient(Union[kind, _Float], int, None, _whole)  # noqa: UP007 - from a variable


def _bounded_float(kind: TypeForm) -> Lenient:
    metas = (meta for meta in get_args(kind)[1:] if isinstance(meta, Meta))
    has_end = any(meta.le is not None or meta.lt is not None for meta in metas)
    return Lenient(kind if has_end else _Float, float)


_PLAIN: dict[TypeForm, Lenient] = {
    str: Lenient(str, str),
    bool: Lenient(bool, bool),
    float: Lenient(_Float, float),
    int: _bounded_int(int),
    # As text, because the lenient type is no place to round a fraction of a second.
    datetime: Lenient(str),
}


def _or_null(kind: TypeForm) -> TypeForm:
    if kind is msgspec.Raw:  # it is null by itself, and nothing beside another type
        return kind
    return Union[kind, None]  # noqa: UP007 - from a variable


def _list(item: Lenient) -> Lenient:
    zero = item.zero
    through = None if item.fill is None else _each(item.fill)

    def fill(items: list[Any]) -> list[Any]:
        if zero is not None and None in items:
            items = [zero() if one is None else one for one in items]
        return items if through is None else through(items)

    kind = types.GenericAlias(list, (_or_null(item.type),))
    return Lenient(kind, list, fill, None if item.round is None else _each(item.round))


def _each(repair: Repair) -> Callable[[list[Any]], list[Any]]:
    return lambda items: [None if one is None else repair(one) for one in items]


def _map(key: TypeForm, item: Lenient) -> Lenient:
    values = _list(item)

    def fill(found: dict[Any, Any]) -> dict[Any, Any]:
        if item.fill is None and None not in found.values():
            return found
        return _with_values(found, values.fill)

    kind = types.GenericAlias(dict, (key, _or_null(item.type)))
    if values.round is None:
        return Lenient(kind, dict, fill)
    return Lenient(kind, dict, fill, lambda found: _with_values(found, values.round))


def _with_values(found: dict[Any, Any], repair: Repair | None) -> dict[Any, Any]:
    values = [*found.values()]
    return dict(zip(found, repair(values) if repair else values, strict=True))


def _struct(kind: type[Struct]) -> Lenient:
    inner = {field.name: lenient(field.type) for field in fields(kind)}
    names = {field.name: field.encode_name for field in fields(kind)}
    config = kind.__struct_config__
    if config.tag_field is not None:
        # Go's empty text is no kind, and no kind is any.
        inner["tag_"] = Lenient(str, fill=lambda text: text or None)
        names["tag_"] = config.tag_field
    made = msgspec.defstruct(
        kind.__name__,
        [(name, _or_null(part.type), None) for name, part in inner.items()],
        rename=names,
        omit_defaults=True,
        forbid_unknown_fields=config.forbid_unknown_fields,
        gc=False,
    )
    fills = {name: part.fill for name, part in inner.items() if part.fill is not None}
    rounds = {name: part.round for name, part in inner.items() if part.round is not None}
    return Lenient(made, made, _fields(fills), _fields(rounds))


def _fields(repairs: Mapping[str, Repair]) -> Repair | None:
    if not repairs:
        return None
    items = tuple(repairs.items())

    def repair(value: Struct) -> Struct:
        for name, each in items:
            found = getattr(value, name)
            if found is not None:
                setattr(value, name, each(found))
        return value

    return repair
