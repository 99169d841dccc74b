"""ResourceSlices and DeviceTaintRules (pkg/apis/resource: defaults, strategies, validation)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds.names import SUBDOMAIN_RULE, is_dns_subdomain
from bailiff_demo.errors import Cause
from bailiff_demo.objects import part
from bailiff_demo.rules.fields import (
    DEVICE_EFFECTS,
    check_count,
    check_duplicates,
    check_key,
    check_label_name,
    check_one_of,
    check_taint,
)

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

_MAX_DEVICES = 128
# Fewer where any of them has taints.
_MAX_TAINTED_DEVICES = 64
_MAX_TAINTS = 16
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")


def stamp_slice(new: JsonObject, _old: JsonObject | None, now: str) -> None:
    """A taint without a time was added now, on every write that brings it so."""
    for device in part(new, "spec").get("devices") or []:
        for taint in device.get("taints") or []:
            taint.setdefault("timeAdded", now)


def stamp_rule(new: JsonObject, old: JsonObject | None, now: str) -> None:
    """As stamp_slice; another effect begins anew unless the client says when."""
    taint = new.setdefault("spec", {}).setdefault("taint", {})
    taint.setdefault("timeAdded", now)
    before = part(old, "spec", "taint") if old is not None else taint
    changed = taint.get("effect") != before.get("effect")
    if changed and taint["timeAdded"] == before.get("timeAdded"):
        taint["timeAdded"] = now


def check_slice(obj: JsonObject) -> list[Cause]:
    """Causes against a ResourceSlice."""
    spec = part(obj, "spec")
    pool = part(spec, "pool")
    causes = check_name("spec.driver", spec.get("driver", ""), 63)
    causes += check_name("spec.pool.name", pool.get("name", ""), 253, separator="/")
    size = "resourceSliceCount"
    causes += check_count(f"spec.pool.{size}", pool.get(size, 0), 1)
    causes += check_count("spec.pool.generation", pool.get("generation", 0))
    given = [f"`{name}`" for name in _PLACES if spec.get(name)]
    if len(given) != 1:
        names = ", ".join(f"`{name}`" for name in _PLACES)
        text = f"exactly one of {names} is required"
        causes.append(Cause.invalid("spec", "{" + ", ".join(given) + "}", text))
    return causes + _check_devices(spec.get("devices") or [])


def _check_devices(devices: list[JsonObject]) -> list[Cause]:
    tainted = any(device.get("taints") for device in devices)
    limit = _MAX_TAINTED_DEVICES if tainted else _MAX_DEVICES
    if len(devices) > limit:
        return [Cause.too_many("spec.devices", len(devices), limit)]
    causes = check_duplicates("spec.devices", [device.get("name", "") for device in devices])
    for index, device in enumerate(devices):
        place, taints = f"spec.devices[{index}]", device.get("taints") or []
        causes += check_label_name(f"{place}.name", device.get("name", ""))
        if len(taints) > _MAX_TAINTS:
            causes.append(Cause.too_many(f"{place}.taints", len(taints), _MAX_TAINTS))
        for number, taint in enumerate(taints):
            causes += check_taint(taint, f"{place}.taints[{number}]", DEVICE_EFFECTS)
    return causes


def check_slice_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change: whose devices they are, and where, is fixed."""
    causes = []
    for path in (("spec", "pool", "name"), ("spec", "driver"), ("spec", "nodeName")):
        after, before = (part(obj, *path[:-1]).get(path[-1]) for obj in (new, old))
        if after != before:
            causes.append(Cause.invalid(".".join(path), after, "field is immutable"))
    return causes


def check_rule(rule: JsonObject) -> list[Cause]:
    """Causes against a DeviceTaintRule."""
    selector, field = part(rule, "spec", "deviceSelector"), "spec.deviceSelector"
    causes: list[Cause] = []
    if "driver" in selector:
        causes += check_name(f"{field}.driver", selector["driver"], 63)
    if "pool" in selector:
        causes += check_name(f"{field}.pool", selector["pool"], 253, separator="/")
    if "device" in selector:
        causes += check_label_name(f"{field}.device", selector["device"])
    return causes + check_taint(part(rule, "spec", "taint"), "spec.taint", DEVICE_EFFECTS)


def check_rule_status(new: JsonObject, _old: JsonObject) -> list[Cause]:
    """Causes against a rule's status, whose conditions say when and why."""
    causes: list[Cause] = []
    for index, condition in enumerate(part(new, "status").get("conditions") or []):
        place = f"status.conditions[{index}]"
        causes += check_key(f"{place}.type", condition.get("type", ""))
        allowed = ("False", "True", "Unknown")
        causes += check_one_of(f"{place}.status", condition.get("status", ""), allowed)
        causes += [
            Cause.required(f"{place}.{name}")
            for name in ("lastTransitionTime", "reason")
            if not condition.get(name)
        ]
    return causes


def check_name(field: str, name: str, longest: int, separator: str = "\0") -> list[Cause]:
    """Causes against the name of a driver, or of a pool: subdomains between separators."""
    if not name:
        return [Cause.required(field)]
    if len(name) > longest:
        text = f"Too long: may not be more than {longest} bytes"
        return [Cause("FieldValueTooLong", field, text)]
    wrong = [piece for piece in name.split(separator) if not is_dns_subdomain(piece.lower())]
    return [Cause.invalid(field, piece, SUBDOMAIN_RULE) for piece in wrong]
