"""The types that all shapes are made of."""

from __future__ import annotations

from typing import Annotated

import msgspec

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Texts = dict[str, str]
Amounts = dict[str, str | int | float]
# RFC 3339, as metav1.Time and metav1.MicroTime.
_DATE, _CLOCK = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d(\.\d+)?"
Time = Annotated[str, msgspec.Meta(pattern=rf"^{_DATE}[Tt]{_CLOCK}([Zz]|[+-]\d\d:\d\d)$")]


class Shape(msgspec.Struct, rename="camel", gc=False):
    """The base of all shapes."""


class OwnerReference(Shape):
    """metav1.OwnerReference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class Meta(Shape):
    """metav1.ObjectMeta."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: Int64 = 0
    labels: Texts | None = None
    annotations: Texts | None = None
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()


class Condition(Shape):
    """Any condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: Time | None = None
    observed_generation: Int64 = 0


class Object(Shape):
    """What every object has."""

    api_version: str = ""
    kind: str = ""
    metadata: Meta = msgspec.field(default_factory=Meta)


class Expression(Shape):
    """metav1.LabelSelectorRequirement."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class Selector(Shape):
    """metav1.LabelSelector."""

    match_labels: Texts | None = None
    match_expressions: tuple[Expression, ...] = ()


class Reference(Shape):
    """v1.ObjectReference."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""
    field_path: str = ""
