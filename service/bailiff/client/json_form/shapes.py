"""Where the JSON of REST and Kubernetes is not protobuf's own (docs/api/grpc-objects.md)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from google._upb import _message
    from google.protobuf import descriptor

    # The stubs know two implementations, of which either may be there.
    Descriptor: TypeAlias = descriptor.Descriptor | _message.Descriptor
    EnumDescriptor: TypeAlias = descriptor.EnumDescriptor | _message.EnumDescriptor
    FieldDescriptor: TypeAlias = descriptor.FieldDescriptor | _message.FieldDescriptor

TIMESTAMP: Final = "google.protobuf.Timestamp"
STRUCT: Final = "google.protobuf.Struct"
QUANTITY: Final = "bailiff.v1.Quantity"
VOLUME: Final = "bailiff.v1.Volume"
SUBJECT: Final = "bailiff.v1.Subject"
REPORTS: Final = "bailiff.v1.Reports"
# What is nothing but JSON, which the message holds as bytes.
RAW: Final = frozenset(
    {"bailiff.v1.FieldsV1", "bailiff.v1.Summary", "bailiff.v1.KubeletConfiguration"}
)
# The field for what the protos have no message for, by the name it has in JSON.
OTHERS: Final = "others"
# Kubernetes' own kinds: their fields that no rule reads are passed over, as the server does.
_KUBERNETES = ("bailiff/v1/kubernetes.proto", "bailiff/v1/resource.proto")


def is_of_kubernetes(message: Descriptor) -> bool:
    """Whether a message is an object of Kubernetes, or a part of one."""
    return message.file.name in _KUBERNETES


def is_map(field: FieldDescriptor) -> bool:
    """Whether a field is a map, which is a message to protobuf."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def values_of(field: FieldDescriptor) -> FieldDescriptor:
    """What the values of a map are."""
    assert field.message_type is not None  # noqa: S101 - a map is a message
    return field.message_type.fields_by_name["value"]


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field is a list; a map is not."""
    return field.is_repeated and not is_map(field)


def name_in_json(message: Descriptor, field: FieldDescriptor) -> str:
    """How REST calls a field."""
    if message.full_name == REPORTS:
        # Systems go by their names there.
        return field.name.replace("_", "-")
    return field.json_name


def enum_prefix(enum: EnumDescriptor) -> str:
    """What the names of an enum begin with over gRPC and not over REST, as `VERDICT_`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", enum.name).upper() + "_"
