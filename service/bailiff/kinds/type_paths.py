"""Which type a path of an error message leads to, so that the message can say what is allowed."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from msgspec import inspect as types

# A class, or what stands for a type in an annotation, as `X | None`; that has no static type.
TypeForm: TypeAlias = Any

_STEP = re.compile(r'\.([^.\[]+)|\["(?:[^"\\]|\\.)*"\]|\[')


def type_at(kind: TypeForm, path: str) -> types.Type | None:
    """The type of a field, for `X | None` the X, without bounds; None: the path leads nowhere.

    Args:
        kind: the type of the whole.
        path: where in it, as `$.pods[3].spec`.
    """
    found: types.Type | None = types.type_info(kind)
    for step in _STEP.findall(path):
        found = _inner(found, step)
    return _present(found)


def _inner(outer: types.Type | None, step: str) -> types.Type | None:
    match _present(outer):
        case types.CollectionType(item_type=item):
            return item
        case types.DictType(value_type=item):
            return item
        case types.StructType(fields=fields):
            return next((field.type for field in fields if field.encode_name == step), None)
        case _:
            return None


def _present(kind: types.Type | None) -> types.Type | None:
    """For `X | None` the X; without bounds and words."""
    if isinstance(kind, types.UnionType):
        kind = next(part for part in kind.types if not isinstance(part, types.NoneType))
    return kind.type if isinstance(kind, types.Metadata) else kind
