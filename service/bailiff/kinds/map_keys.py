"""Which key of a map an error is about: the decoder says `[...]` of all of them.

It is looked for only once something is wrong, in what was sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from msgspec.structs import fields

from bailiff.kinds.type_paths import TypeForm

# Whether a value can be read as this type.
Fits: TypeAlias = Callable[[object, TypeForm], bool]

# What the decoder says in place of a key.
ANY_KEY = "[...]"
_ANY = "..."
_STEP = re.compile(r"\.([^.\[]+)|\[(\.\.\.|\d+)\]")
# Of a key that an error quotes.
_MAX_QUOTED = 100


def find_value(path: str, whole: object, kind: TypeForm, fits: Fits) -> tuple[str, object]:
    """The path with the keys of maps, as `$.limits["cpu"]`, and the value that stands there.

    Where the path leads nowhere, as below a field that is named by who is wrong, it stays as it is,
    and the value is None.

    Args:
        path: of an error.
        whole: what was read, as a JSON or YAML parser returned it.
        kind: the type of the whole.
        fits: whether a part can be read.
    """
    named, value, form = "$", whole, kind
    for step in _STEP.finditer(path):
        field, index = step.groups()
        form = _bare(form)
        try:
            key = _wrong_key(value, form, fits) if index == _ANY else field or int(index)
            value, form = value[key], _inner(form, field)  # type: ignore[index]
        except (TypeError, LookupError, AttributeError):
            return path, None
        named += f"[{json.dumps(str(key)[:_MAX_QUOTED])}]" if index == _ANY else step.group()
    return named, value


def _wrong_key(found: Any, form: TypeForm, fits: Fits) -> str:  # noqa: ANN401 - as it was sent
    """By halves, so that each entry is read about twice; KeyError: this is no map."""
    entries = list(found.items()) if _is_map(form) else []
    while len(entries) > 1:
        half = entries[: len(entries) // 2]
        entries = entries[len(half) :] if fits(dict(half), form) else half
    key: str
    for key, value in entries:
        if not fits({key: value}, form):
            return key
    raise KeyError


def _inner(outer: TypeForm, field: str | None) -> TypeForm:
    """The type of a field, or of what a list or a map holds."""
    if field is None:
        args = get_args(outer) or (Any,)
        return args[-1] if _is_map(outer) else args[0]
    return next((one.type for one in fields(outer) if one.encode_name == field), Any)


def _is_map(form: TypeForm) -> bool:
    origin: object = get_origin(form)
    return origin is Mapping


def _bare(form: TypeForm) -> TypeForm:
    """For `X | None` the X, without bounds."""
    origin: object = get_origin(form)
    while origin in (Annotated, Union, UnionType):
        form = next(part for part in get_args(form) if part is not NoneType)
        origin = get_origin(form)
    return form
