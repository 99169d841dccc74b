"""The columns of resource.k8s.io."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.objects import JsonObject, part
from bailiff.embedded.tables.columns import AGE, NAME, Column, age_of, field

if TYPE_CHECKING:
    from datetime import datetime


def _claim_state(claim: JsonObject, _now: datetime) -> str:
    going = "deletionTimestamp" in claim["metadata"]
    words = ["deleted"] if going else []
    if part(claim, "status").get("allocation") is not None:
        words.append("allocated")
        if part(claim, "status").get("reservedFor"):
            words.append("reserved")
    elif not going:
        words.append("pending")
    return ",".join(words)


def _time_added(rule: JsonObject, now: datetime) -> str:
    added = part(rule, "spec", "taint").get("timeAdded")
    return age_of(added, now) if added else ""


DEVICE_COLUMNS: dict[str, tuple[Column, ...]] = {
    "resourceslices.resource.k8s.io": (
        NAME,
        Column("Node", field("spec", "nodeName")),
        Column("Driver", field("spec", "driver")),
        Column("Pool", field("spec", "pool", "name")),
        AGE,
    ),
    "resourceclaims.resource.k8s.io": (NAME, Column("State", _claim_state), AGE),
    "devicetaintrules.resource.k8s.io": (
        NAME,
        Column("Key", field("spec", "taint", "key")),
        Column("Value", field("spec", "taint", "value")),
        Column("Effect", field("spec", "taint", "effect")),
        Column("TimeAdded", _time_added),
        AGE,
    ),
}
