"""Fields that look like one that a rule reads, and values of such that Kubernetes does not have.

A pod whose tolerations stand under `toleration:` has none, and would be said to go; a taint with
the effect `NoExecut` would be said to evict nobody. The API server would refuse both, or warn; a
file has met no API server.
"""

from __future__ import annotations

import difflib
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

import msgspec

from bailiff.decisions.validity import refused_words
from bailiff.kinds import Annotations, ManagedFieldsEntry, Taint, Toleration
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where every name is somebody's own.
_FREE = (Annotations, ManagedFieldsEntry)
# How alike names must be, as difflib counts it from 0 to 1. No two fields of the same Kubernetes
# object are: so a field that no rule reads, or a newer one, is not taken for a misspelt one.
_ALIKE = 0.8


def misspelt(value: dict[str, Any], kind: type[Value]) -> list[str]:
    """What to say of each such field: where it stands, and what may be meant.

    Args:
        value: an object as a YAML or JSON parser returned it.
        kind: what it will be decoded to.
    """
    return list(dict.fromkeys(_of_struct(value, kind, "$")))


def refused(value: object, path: str = "$") -> Iterator[str]:
    """What to say of each value within an object that the API server would refuse."""
    if isinstance(value, Taint | Toleration):
        yield from (f"{path}.{field}: {said}" for field, said in refused_words(value))
    elif isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            yield from refused(getattr(value, field.name), f"{path}.{field.encode_name}")
    elif isinstance(value, tuple):
        for index, one in enumerate(value):
            yield from refused(one, f"{path}[{index}]")


def _of_struct(value: dict[Any, Any], kind: type[Value], path: str) -> list[str]:
    fields = _fields(kind)
    said = []
    for name, item in value.items():
        if name in fields:
            said += _inside(item, fields[name], f"{path}.{name}")
        elif (meant := _meant(str(name), tuple(fields))) is not None:
            said.append(f"{path}.{name} is not a field of Kubernetes: is {meant} meant?")
    return said


def _inside(item: object, kind: type[Value] | None, path: str) -> list[str]:
    if kind is None:
        return []
    if isinstance(item, dict):
        return _of_struct(item, kind, path)
    if isinstance(item, list):
        each = (_inside(one, kind, f"{path}[{index}]") for index, one in enumerate(item))
        return [said for one in each for said in one]
    return []


@cache
def _meant(name: str, fields: tuple[str, ...]) -> str | None:
    by_lower = {field.lower(): field for field in fields if not _extends(name, field)}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=_ALIKE)
    return by_lower[found[0]] if found else None


def _extends(name: str, field: str) -> bool:
    """Whether it is the field's name and a word: what belongs to it, as `restartPolicyRules`."""
    return name.startswith(field) and name[len(field) :][:1].isupper()


@cache
def _fields(kind: type[Value]) -> dict[str, type[Value] | None]:
    """The fields that are read, each with the type of the objects in it, if any."""
    return {one.encode_name: _values_in(one.type) for one in msgspec.structs.fields(kind)}


def _values_in(annotation: Any) -> type[Value] | None:  # noqa: ANN401 - any annotation
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return None if annotation in _FREE else annotation
    if get_origin(annotation) in (tuple, Union, UnionType):
        found = (_values_in(one) for one in get_args(annotation))
        return next((one for one in found if one is not None), None)
    return None
