"""A question of the core, filled from what a user tells and from the objects that there are.

The core's table says which questions there are, and the types of what they are asked with say which
kinds of objects: so nothing here has to change for a further system.
"""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin

import msgspec

from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

V = TypeVar("V", bound=Value)


def filled(
    facts: type[V],
    told: Mapping[str, Any],
    of_sections: Mapping[str, Any],
    kinds: Collection[type[Value]],
    all_of: Callable[[type[Value]], tuple[Value, ...]],
) -> V:
    """A question, or a section of one.

    Args:
        facts: its type.
        told: what the user says, by the name of the field.
        of_sections: what the user says for whichever section has a field of this name.
        kinds: of Kubernetes objects.
        all_of: those of one kind, for each list of objects that is not told.

    Raises:
        msgspec.ValidationError: there is more of something than may be asked about.
    """
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(facts):
        if field.name in told:
            values[field.encode_name] = told[field.name]
        elif (kind := _listed(field.type, kinds)) is not None:
            values[field.encode_name] = all_of(kind)
        elif _is_section(field.type, kinds):
            values[field.encode_name] = filled(field.type, of_sections, {}, kinds, all_of)
    return msgspec.convert(values, facts)


def kinds_in(facts: type[Value], kinds: Collection[type[Value]]) -> Iterator[type[Value]]:
    """The kinds of objects that a question has lists of, its sections included."""
    for field in msgspec.structs.fields(facts):
        kind = _listed(field.type, kinds)
        if kind is not None:
            yield kind
        elif _is_section(field.type, kinds):
            yield from kinds_in(field.type, kinds)


def _listed(annotation: Any, kinds: Collection[type[Value]]) -> type[Value] | None:  # noqa: ANN401 - any annotation
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is not tuple:
        return None
    item = get_args(annotation)[0]
    return item if item in kinds else None


def _is_section(annotation: Any, kinds: Collection[type[Value]]) -> bool:  # noqa: ANN401 - as above
    if get_origin(annotation) in (Union, UnionType):
        return False
    return (
        isinstance(annotation, type) and issubclass(annotation, Value) and annotation not in kinds
    )
