"""Checks of single fields that several kinds share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds.names import (
    KEY_RULE,
    LABEL_RULE,
    VALUE_RULE,
    is_dns_label,
    is_label_key,
    is_label_value,
)
from bailiff_demo.errors import Cause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff_demo.objects import JsonObject

NODE_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
DEVICE_EFFECTS = ("NoExecute", "NoSchedule", "None")


def fill(obj: JsonObject, **defaults: object) -> None:
    """Set what is missing; an empty string counts as missing, as it does in Go."""
    for name, value in defaults.items():
        if obj.get(name, "") == "":
            obj[name] = value


def check_key(field: str, key: str) -> list[Cause]:
    """Causes against the key of a label, a taint or a condition."""
    return [] if is_label_key(key) else [Cause.invalid(field, key, KEY_RULE)]


def check_value(field: str, value: str) -> list[Cause]:
    """Causes against the value of a label or a taint."""
    return [] if is_label_value(value) else [Cause.invalid(field, value, VALUE_RULE)]


def check_label_name(field: str, name: str) -> list[Cause]:
    """Causes against a name that is a DNS label."""
    return [] if is_dns_label(name) else [Cause.invalid(field, name, LABEL_RULE)]


def check_labels(field: str, labels: dict[str, str]) -> list[Cause]:
    """Causes against labels."""
    return [
        cause
        for key, value in labels.items()
        for cause in (*check_key(field, key), *check_value(field, value))
    ]


def check_one_of(field: str, value: str, allowed: Sequence[str]) -> list[Cause]:
    """Causes against a value that must be one of these; a missing one is required."""
    if not value:
        return [Cause.required(field)]
    return [] if value in allowed else [Cause.not_supported(field, value, allowed)]


def check_taint(taint: JsonObject, place: str, effects: Sequence[str]) -> list[Cause]:
    """Causes against the taint of a node or a device."""
    return [
        *check_key(f"{place}.key", taint.get("key", "")),
        *check_value(f"{place}.value", taint.get("value", "")),
        *check_one_of(f"{place}.effect", taint.get("effect", ""), effects),
    ]


def check_duplicates(field: str, names: Sequence[str], suffix: str = "") -> list[Cause]:
    """Causes against every item of a list whose name stands there before."""
    causes, seen = [], set[str]()
    for index, name in enumerate(names):
        if name in seen:
            causes.append(Cause.duplicate(f"{field}[{index}]{suffix}", name))
        seen.add(name)
    return causes


def check_count(field: str, value: int | None, least: int = 0) -> list[Cause]:
    """Causes against a number that is too small; None is no number."""
    if value is None or value >= least:
        return []
    return [Cause.invalid(field, value, f"must be greater than or equal to {least}")]
