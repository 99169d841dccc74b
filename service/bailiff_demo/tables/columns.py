"""What a column is, and the cells that many kinds share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from bailiff_demo.objects import JsonObject, parse_time, part

NONE, UNKNOWN = "<none>", "<unknown>"

Cell: TypeAlias = Callable[[JsonObject, datetime], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: its head.
        cell: makes a cell from the object and the present.
        type: of the cells.
        wide: shown only by `-o wide`.
        format: `name` marks the column that names the object.
    """

    name: str
    cell: Cell
    type: str = "string"
    wide: bool = False
    format: str = ""

    def definition(self) -> JsonObject:
        """metav1.TableColumnDefinition."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": int(self.wide),
        }


def age_of(text: str | None, now: datetime) -> str:
    """How long ago that was, for people."""
    instant = parse_time(text)
    return UNKNOWN if instant is None else human_duration((now - instant).total_seconds())


def human_duration(seconds: float) -> str:
    """Two units at most, fewer as it gets longer (apimachinery/pkg/util/duration)."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 120:
        return f"{max(whole, 0)}s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    for bound, text in (
        (minutes < 10, _two(minutes, "m", whole % 60, "s")),
        (minutes < 180, f"{minutes}m"),
        (hours < 8, _two(hours, "h", minutes % 60, "m")),
        (hours < 48, f"{hours}h"),
        (days < 8, _two(days, "d", hours % 24, "h")),
        (days < 730, f"{days}d"),
        (days < 2920, _two(days // 365, "y", days % 365, "d")),
    ):
        if bound:
            return text
    return f"{days // 365}y"


def _two(major: int, unit: str, minor: int, minor_unit: str) -> str:
    return f"{major}{unit}{minor}{minor_unit}" if minor else f"{major}{unit}"


def field(*path: str, default: object = "") -> Cell:
    """The value at a path."""

    def cell(obj: JsonObject, _now: datetime) -> object:
        value = part(obj, *path[:-1]).get(path[-1])
        return default if value is None else value

    return cell


def count(*path: str) -> Cell:
    """The number at a path, 0 for none."""
    return field(*path, default=0)


def age(obj: JsonObject, now: datetime) -> str:
    """Since its creation."""
    return age_of(obj["metadata"].get("creationTimestamp"), now)


def labels_text(labels: dict[str, str] | None) -> str:
    """`a=b,c=d`."""
    return ",".join(f"{k}={v}" for k, v in sorted((labels or {}).items())) or NONE


def selector_text(selector: JsonObject | None) -> str:
    """A metav1.LabelSelector on one line."""
    selector = selector or {}
    terms = [f"{k}={v}" for k, v in sorted((selector.get("matchLabels") or {}).items())]
    for expression in selector.get("matchExpressions") or []:
        values = ",".join(sorted(expression.get("values") or []))
        key, operator = expression.get("key", ""), expression.get("operator", "").lower()
        terms.append(f"{key} {operator} ({values})" if values else f"{key} {operator}")
    return ",".join(terms) or NONE


NAME = Column("Name", field("metadata", "name"), format="name")
AGE = Column("Age", age)
