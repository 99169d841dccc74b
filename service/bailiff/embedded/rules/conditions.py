"""metav1.Condition (apimachinery/pkg/apis/meta/v1/validation: ValidateConditions)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bailiff.embedded.errors import Cause
from bailiff.embedded.rules.names import check_key

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject

_STATUSES = ("False", "True", "Unknown")
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_TEXT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    f"used for validation is '{_REASON}')"
)
_MAX_MESSAGE = 32 * 1024


def check_conditions(conditions: list[JsonObject], field: str) -> list[Cause]:
    """Causes against conditions of the strict kind, which say when and why."""
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        place, kind = f"{field}[{index}]", condition.get("type", "")
        if kind in seen:
            causes.append(Cause.duplicate(f"{place}.type", kind))
        seen.add(kind)
        causes += _check_condition(condition, place)
    return causes


def _check_condition(condition: JsonObject, place: str) -> list[Cause]:
    causes = check_key(f"{place}.type", condition.get("type", ""))
    if (status := condition.get("status", "")) not in _STATUSES:
        causes.append(Cause.not_supported(f"{place}.status", status, _STATUSES))
    if not condition.get("lastTransitionTime"):
        causes.append(Cause.required(f"{place}.lastTransitionTime"))
    if not (reason := condition.get("reason", "")):
        causes.append(Cause.required(f"{place}.reason"))
    elif not re.fullmatch(_REASON, reason):
        causes.append(Cause.invalid(f"{place}.reason", reason, _REASON_TEXT))
    if len(condition.get("message", "")) > _MAX_MESSAGE:
        text = f"Too long: may not be more than {_MAX_MESSAGE} bytes"
        causes.append(Cause("FieldValueTooLong", f"{place}.message", text))
    return causes
