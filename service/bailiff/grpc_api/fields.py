"""How the fields of the core's values and of the published messages go together: by name.

A value of the core is an immutable structure, and the message for it has a field of the same name
for each of its fields. So a face needs to know no type of the core, and a system that is added adds
its messages to the protos and nothing here.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
from msgspec import inspect as types

from bailiff.kinds import INT64_MAX, INT64_MIN
from bailiff.kinds.protobuf import NOT_IN_PROTOBUF

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

Structure: TypeAlias = type[msgspec.Struct]

_WHOLE_NUMBERS = {(None, None), (INT64_MIN, INT64_MAX), (-(2**31), 2**31 - 1)}
# A map from names to google.protobuf.Struct in which a message takes the fields that it has not.
OTHERS = "others"
# How a field is called whose message is embedded in Kubernetes' JSON, after the name of the whole.
_EMBEDDED = "_source"
STRUCT = "google.protobuf.Struct"
TIMESTAMP = "google.protobuf.Timestamp"


class Field(NamedTuple):
    """A field of a structure and where it stands in a message.

    Attributes:
        name: in Python and in protobuf.
        written: in JSON.
        declared: its type, with its bounds.
        kind: the same as msgspec sees it; of a list the type of the items.
        is_list: whether it is a list.
        most: how many items a list may have; None: nobody says.
        is_optional: None stands for its absence.
        is_required: it has to be there.
        default: what stands for its absence otherwise.
        place: its field in the message; None: it goes with the others.
        inlined: the field of the message in whose own message it is; None: it is in this one.
    """

    name: str
    written: str
    declared: Any
    kind: types.Type
    is_list: bool
    most: int | None
    is_optional: bool
    is_required: bool
    default: Any
    place: FieldDescriptor | None
    inlined: FieldDescriptor | None

    @property
    def is_bounded(self) -> bool:
        """Whether its type allows less than protobuf's does."""
        kind = self.kind
        if isinstance(kind, types.IntType):
            return (kind.ge, kind.le) not in _WHOLE_NUMBERS
        if isinstance(kind, types.EnumType):
            # Words that are texts in the message, so that there may be more of them.
            return self.place is not None and self.place.enum_type is None
        return isinstance(kind, types.StrType) and kind != types.StrType()

    @property
    def message(self) -> Descriptor:
        """The message that it is of, for a structure; TypeError where it is of none."""
        if self.place is None:
            raise TypeError(f"{self.name} has no field in the protos")
        return message_of(self.place)


@cache  # as many as there are types
def fields_of(structure: Structure, message: Descriptor) -> tuple[Field, ...]:
    """The fields of a structure, in a message.

    Raises:
        TypeError: the message has no place for one.
    """
    (info,) = types.multi_type_info([structure])
    if not isinstance(info, types.StructType):
        raise TypeError(f"{structure} is no structure")
    declared = {field.name: field.type for field in msgspec.structs.fields(structure)}
    return tuple(
        _field(one, declared[one.name], message) for one in info.fields if not _is_absent(one.type)
    )


def _is_absent(kind: types.Type) -> bool:
    return isinstance(kind, types.Metadata) and kind.extra == NOT_IN_PROTOBUF.extra


def _field(found: types.Field, declared: Any, message: Descriptor) -> Field:  # noqa: ANN401 - a type
    kind, is_optional = _without_none(found.type)
    is_list = isinstance(kind, types.VarTupleType)
    place, inlined = _place(found.name, message)
    if is_optional and place is not None and not place.has_presence:
        raise TypeError(f"{place.full_name} cannot be absent: it is not optional")
    return Field(
        name=found.name,
        written=found.encode_name,
        declared=declared,
        kind=kind.item_type if isinstance(kind, types.VarTupleType) else kind,
        is_list=is_list,
        most=kind.max_length if isinstance(kind, types.VarTupleType) else None,
        is_optional=is_optional,
        is_required=found.required,
        default=() if is_list and found.required else _default(found),
        place=place,
        inlined=inlined,
    )


def _place(name: str, message: Descriptor) -> tuple[FieldDescriptor | None, FieldDescriptor | None]:
    """Where a field stands, and in which field's own message, if not in this one.

    Kubernetes' JSON has the fields of an embedded structure beside those of the one that it is
    embedded in, as of a Volume its VolumeSource; its protobuf has a message for it.
    """
    place = message.fields_by_name.get(name)
    if place is not None or OTHERS in message.fields_by_name:
        return place, None
    embedded = message.fields_by_name.get(snake_case(message.name) + _EMBEDDED)
    if embedded is not None and name in message_of(embedded).fields_by_name:
        return message_of(embedded).fields_by_name[name], embedded
    raise TypeError(f"the message {message.name} has no field {name}")


def _without_none(kind: types.Type) -> tuple[types.Type, bool]:
    if not isinstance(kind, types.UnionType):
        return kind, False
    arms = [one for one in kind.types if not isinstance(one, types.NoneType)]
    if len(arms) > 1:
        raise TypeError(f"protobuf has no field that is one of {arms}")
    return arms[0], len(arms) < len(kind.types)


def _default(found: types.Field) -> Any:  # noqa: ANN401 - of the field's type
    if found.default_factory is not msgspec.NODEFAULT:
        return found.default_factory()
    return None if found.default is msgspec.NODEFAULT else found.default


def message_of(place: FieldDescriptor) -> Descriptor:
    """The message that a field is of, or an entry of a map; TypeError where it is of none."""
    if place.message_type is None:
        raise TypeError(f"{place.full_name} is no message")
    return place.message_type


def is_message(place: FieldDescriptor, name: str) -> bool:
    """Whether a field is of the message of this full name."""
    return place.message_type is not None and place.message_type.full_name == name


def is_time(place: FieldDescriptor) -> bool:
    """Whether a field is an instant."""
    return is_message(place, TIMESTAMP)


def is_map(place: FieldDescriptor) -> bool:
    """Whether a field is a map."""
    return place.message_type is not None and bool(place.message_type.GetOptions().map_entry)


def is_union(message: Descriptor) -> bool:
    """Whether a message is one of several.

    Every optional field has a oneof of its own, too, which protoc calls `_` and its name.
    """
    return any(not one.name.startswith("_") for one in message.oneofs)


def enum_names(kind: types.Type, place: FieldDescriptor) -> dict[Any, int]:
    """The members of an enumeration with their numbers; protobuf's names begin with its own.

    Raises:
        TypeError: it is another enumeration than the field's.
    """
    if not isinstance(kind, types.EnumType) or place.enum_type is None:
        raise TypeError(f"{place.full_name} is no enumeration")
    prefix = snake_case(place.enum_type.name).upper()
    values = place.enum_type.values_by_name
    return {member: values[f"{prefix}_{member.name}"].number for member in kind.cls}


def snake_case(name: str) -> str:
    """The name of a message as that of a field."""
    return re.sub(r"(?<=[a-z0-9])[A-Z]", r"_\g<0>", name).lower()
