"""resource.k8s.io: slices, DeviceTaintRules, claims and their templates (pkg/apis/resource).

What a driver or a person meets is refused; limits of numbers and expressions (CEL) are not read.
"""

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
    fill,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff_demo.objects import JsonObject

_MAX_DEVICES = 128
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
    pool, devices = part(spec, "pool"), spec.get("devices") or []
    causes = _check_names("spec.driver", spec.get("driver", ""))
    causes += _check_names("spec.pool.name", pool.get("name", ""))
    size = "resourceSliceCount"
    causes += check_count(f"spec.pool.{size}", pool.get(size, 0), 1)
    given = [f"`{name}`" for name in _PLACES if spec.get(name)]
    if len(given) != 1:
        text = f"exactly one of {', '.join(_PLACES)} is required"
        causes.append(Cause.invalid("spec", "{" + ", ".join(given) + "}", text))
    if len(devices) > _MAX_DEVICES:
        causes.append(Cause.too_many("spec.devices", len(devices), _MAX_DEVICES))
    causes += check_duplicates("spec.devices", [device.get("name", "") for device in devices])
    for index, device in enumerate(devices):
        place = f"spec.devices[{index}]"
        causes += check_label_name(f"{place}.name", device.get("name", ""))
        for number, taint in enumerate(device.get("taints") or []):
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
    causes = check_taint(part(rule, "spec", "taint"), "spec.taint", DEVICE_EFFECTS)
    for name in selector.keys() & {"driver", "pool"}:
        causes += _check_names(f"{field}.{name}", selector[name])
    if "device" in selector:
        causes += check_label_name(f"{field}.device", selector["device"])
    return causes


def check_rule_status(new: JsonObject, _old: JsonObject) -> list[Cause]:
    """Causes against a rule's status, whose conditions say when and why."""
    causes: list[Cause] = []
    for index, condition in enumerate(part(new, "status").get("conditions") or []):
        place, allowed = f"status.conditions[{index}]", ("False", "True", "Unknown")
        causes += check_key(f"{place}.type", condition.get("type", ""))
        causes += check_one_of(f"{place}.status", condition.get("status", ""), allowed)
        causes += [
            Cause.required(f"{place}.{name}")
            for name in ("lastTransitionTime", "reason")
            if not condition.get(name)
        ]
    return causes


def _check_names(field: str, name: str) -> list[Cause]:
    """Causes against the name of a driver, or of a pool: subdomains between slashes."""
    if not name:
        return [Cause.required(field)]
    pieces = name.split("/") if field.endswith(("pool", "pool.name")) else [name]
    wrong = [piece for piece in pieces if not is_dns_subdomain(piece.lower())]
    return [Cause.invalid(field, piece, SUBDOMAIN_RULE) for piece in wrong]


def default_claim(claim: JsonObject) -> None:
    """How many devices a request of a claim, or of a template, wants."""
    for _, request in _requests(claim):
        for wanted in (request.get("exactly"), *(request.get("firstAvailable") or [])):
            if wanted is not None:
                fill(wanted, allocationMode="ExactCount")
                if wanted["allocationMode"] == "ExactCount":
                    fill(wanted, count=1)


def _requests(claim: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    path = ("spec", "spec") if claim["kind"] == "ResourceClaimTemplate" else ("spec",)
    for index, request in enumerate(part(claim, *path, "devices").get("requests") or []):
        yield f"{'.'.join(path)}.devices.requests[{index}]", request


def check_claim(claim: JsonObject) -> list[Cause]:
    """Causes against a ResourceClaim, or a template."""
    causes: list[Cause] = []
    for place, request in _requests(claim):
        causes += check_label_name(f"{place}.name", request.get("name", ""))
        if (request.get("exactly") is None) == (not request.get("firstAvailable")):
            text = "exactly one of `exactly` or `firstAvailable` is required"
            causes.append(Cause.required(place, text))
    return causes


def check_spec_is_fixed(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change of what is claimed: there is none that is allowed."""
    if new.get("spec") == old.get("spec"):
        return []
    return [Cause.invalid("spec", new.get("spec"), "field is immutable")]


def check_claim_status(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a claim's status: an allocation is given once, users come after it."""
    status, given = part(new, "status"), part(old, "status").get("allocation")
    allocation, causes = status.get("allocation"), []
    if status.get("reservedFor") and allocation is None:
        text = "may not be specified when `allocated` is not set"
        causes.append(Cause.forbidden("status.reservedFor", text))
    if None not in (allocation, given) and allocation != given:
        causes.append(Cause.invalid("status.allocation", allocation, "field is immutable"))
    return causes
