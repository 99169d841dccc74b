"""Kubernetes objects as JSON values: reading, copying and the form of their times.

A stored object is never changed: whoever wants another state makes a copy and writes that.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeAlias

from bailiff.kinds.quantity import parse_quantity

# JSON as it was parsed. The fields that anybody here reads are checked by shapes.py when they come
# in, so that whoever reads them later may rely on their types.
JsonObject: TypeAlias = dict[str, Any]


def clone(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A deep copy of a JSON value (copy.deepcopy takes ten times as long)."""
    if isinstance(value, dict):
        return {k: clone(v) for k, v in value.items()}
    if isinstance(value, list):
        return [clone(item) for item in value]
    return value


def without_nulls(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A copy in which null fields are absent, as Go's decoder takes them."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def part(obj: JsonObject, *path: str) -> JsonObject:
    """The object at a path; an empty one (not stored in obj) where there is none."""
    for name in path:
        obj = obj.get(name) or {}
    return obj


def labels_of(obj: JsonObject) -> dict[str, str]:
    """The object's labels."""
    return part(obj, "metadata", "labels")


def is_going(obj: JsonObject) -> bool:
    """Whether it has been deleted and still waits for a grace period or finalizers."""
    return obj["metadata"].get("deletionTimestamp") is not None


def has_finished(pod: JsonObject) -> bool:
    """Whether a pod runs no more, be it there or not."""
    return part(pod, "status").get("phase") in ("Succeeded", "Failed")


def find_condition(obj: JsonObject, kind: str) -> JsonObject | None:
    """The status condition of that type."""
    conditions: list[JsonObject] = part(obj, "status").get("conditions") or []
    return next((c for c in conditions if c.get("type") == kind), None)


def is_ready(obj: JsonObject) -> bool:
    """Whether its condition Ready holds."""
    condition = find_condition(obj, "Ready")
    return condition is not None and condition.get("status") == "True"


def set_condition(obj: JsonObject, condition: JsonObject, now: datetime) -> None:
    """Add or replace a status condition; its transition time moves only with its status."""
    conditions: list[JsonObject] = obj.setdefault("status", {}).setdefault("conditions", [])
    old = find_condition(obj, condition["type"])
    stamped = {**condition, "lastTransitionTime": format_time(now)}
    if old is None:
        conditions.append(stamped)
        return
    if old.get("status") == condition.get("status"):
        stamped["lastTransitionTime"] = old.get("lastTransitionTime", stamped["lastTransitionTime"])
    old.clear()
    old.update(stamped)


def is_quantity(value: object) -> bool:
    """Whether it is a text or number that Kubernetes takes for a quantity, such as `4Gi`."""
    if not isinstance(value, str | int | float):
        return False
    try:
        parse_quantity(str(value))
    except ValueError:
        return False
    return True


def format_time(instant: datetime) -> str:
    """metav1.Time: RFC 3339 in UTC, whole seconds."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str | None) -> datetime | None:
    """The instant; None for none or no time at all."""
    if not text:
        return None
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
