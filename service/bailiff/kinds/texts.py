"""How long the texts of Kubernetes' objects may be, so that no answer can be longer than its parts.

The bounds are those of the API server's validation, in characters, for texts that an answer may
repeat; it allows none of them more. What no answer repeats (phases, conditions of pods, owners,
labels) is bounded by the length of the question alone, because the API server sets it no bound, or
a larger one.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, get_args, get_origin

from msgspec import Meta, Struct
from msgspec.structs import fields

from bailiff.kinds.names import MAX_LABEL, MAX_QUALIFIED_NAME, MAX_SUBDOMAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bailiff.kinds.type_paths import TypeForm

# Names of objects (IsDNS1123Subdomain), and of pools of devices (PoolNameMaxLength in
# pkg/apis/resource/types.go).
ObjectName = Annotated[str, Meta(max_length=MAX_SUBDOMAIN)]
# Namespaces, devices, and the entries of spec.resourceClaims (IsDNS1123Label).
LabelName = Annotated[str, Meta(max_length=MAX_LABEL)]
# Drivers of devices (DriverNameMaxLength in pkg/apis/resource/types.go).
DriverName = Annotated[str, Meta(max_length=63)]
# UIDs. The API server makes them, of 36 characters (FillObjectMetaSystemFields in
# k8s.io/apiserver/pkg/registry/rest/meta.go); other servers of its API may make longer ones.
Uid = Annotated[str, Meta(max_length=MAX_SUBDOMAIN)]
# Keys of taints and tolerations (IsQualifiedName).
TaintKey = Annotated[str, Meta(max_length=MAX_QUALIFIED_NAME)]
# Values of taints (IsValidLabelValue) and of tolerations; for Lt and Gt those are int64s
# (ValidateTolerations in pkg/apis/core/validation/validation.go).
TaintValue = Annotated[str, Meta(max_length=MAX_LABEL)]
# Effects and operators: one of a few words, to which Kubernetes may add.
Word = Annotated[str, Meta(max_length=63)]


class BoundsError(ValueError):
    """A text is longer than Kubernetes allows.

    Attributes:
        field: the Python name of the field that holds it, which is protobuf's too.
        reason: how long it may be.
    """

    def __init__(self, field: str, most: int) -> None:
        self.field = field
        self.reason = f"at most {most} characters are allowed"
        super().__init__(f"{field}: {self.reason}")


def check_bounds(value: Struct) -> None:
    """Refuse texts that the type of a value does not allow.

    The decoder has checked what `decode` returns; this is for whoever fills a value by hand. Only
    the value's own fields are looked at, not those of values within.

    Raises:
        BoundsError: as said.
    """
    check = _check_of(type(value))
    if check is not None:
        check(value)


@cache  # As many as there are types.
def _check_of(kind: type[Struct]) -> Callable[[Struct], None] | None:
    bounds = tuple(_bounds_of(kind))
    if not bounds:
        return None
    least = min(most for _, most in bounds)
    may_be_absent = {field.name for field in fields(kind) if field.default is None}
    length = len if may_be_absent.isdisjoint(name for name, _ in bounds) else _length
    # With the first one twice a single field gives a tuple, too.
    texts_of = attrgetter(bounds[0][0], *(name for name, _ in bounds))

    def check(value: Struct) -> None:
        # Nearly all are shorter than the shortest bound: no look at each then.
        if max(map(length, texts_of(value))) <= least:
            return
        for name, most in bounds:
            if length(getattr(value, name)) > most:
                raise BoundsError(name, most)

    return check


def _length(text: str | None) -> int:
    """For types whose texts may be absent."""
    return len(text) if text else 0


def _bounds_of(kind: type[Struct]) -> Iterator[tuple[str, int]]:
    """The fields of a type that hold a bounded text or none, each with its bound."""
    for field in fields(kind):
        for arm in (field.type, *get_args(field.type)):
            most = _most(arm)
            if most is not None:
                yield field.name, most


def _most(kind: TypeForm) -> int | None:
    origin: object = get_origin(kind)
    if origin is not Annotated or get_args(kind)[0] is not str:
        return None
    metas = (meta for meta in get_args(kind)[1:] if isinstance(meta, Meta))
    return next((meta.max_length for meta in metas if meta.max_length is not None), None)
