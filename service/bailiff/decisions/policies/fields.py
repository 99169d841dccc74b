"""What the settings of the policies are made of: their base, bounds of values, label selectors."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from bailiff.kinds.names import LABEL_PATTERN, MAX_LABEL, MAX_SUBDOMAIN, SUBDOMAIN_PATTERN

_MAX_SECONDS = 365 * 24 * 3600.0
_MAX_RATE = 10_000.0
# One in eleven days; of much less the arithmetic of instants makes nothing.
_MIN_RATE = 1e-6

Seconds = Annotated[float, Meta(ge=0, le=_MAX_SECONDS)]
Rate = Annotated[float, Meta(ge=_MIN_RATE, le=_MAX_RATE)]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Fraction = Annotated[float, Meta(gt=0, le=1)]
Name = Annotated[str, Meta(min_length=1, max_length=253)]
NamespaceName = Annotated[str, Meta(pattern=LABEL_PATTERN, max_length=MAX_LABEL)]
ObjectName = Annotated[str, Meta(pattern=SUBDOMAIN_PATTERN, max_length=MAX_SUBDOMAIN)]


class Settings(
    Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """The base: a misspelt field is an error, not a policy that is silently off."""


class Operator(StrEnum):
    """Operators of a label selector (metav1.LabelSelectorOperator)."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


class Requirement(Settings, frozen=True):
    """One entry of matchExpressions.

    Attributes:
        key: of the label.
        operator: how to compare.
        values: for In and NotIn at least one, for the others none.
    """

    key: Name
    operator: Operator
    values: Annotated[tuple[str, ...], Meta(max_length=1000)] = ()


class LabelSelector(Settings, frozen=True):
    """metav1.LabelSelector; one without any requirement selects everything.

    Attributes:
        match_labels: labels that must be there, with these values.
        match_expressions: what else must hold.
    """

    match_labels: dict[str, str] = {}
    match_expressions: Annotated[tuple[Requirement, ...], Meta(max_length=100)] = ()
