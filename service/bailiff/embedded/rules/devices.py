"""ResourceSlices and DeviceTaintRules (pkg/apis/resource: defaults, strategies, validation)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.errors import Cause
from bailiff.embedded.objects import part
from bailiff.embedded.rules.conditions import check_conditions
from bailiff.embedded.rules.names import check_key, label, label_value, subdomain

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject

DEVICE_EFFECTS = ("NoExecute", "NoSchedule", "None")
_MAX_DEVICES = 128
# Fewer where any of them has taints or counters.
_MAX_ADVANCED_DEVICES = 64
_MAX_TAINTS = 16
_MAX_CONDITIONS = 8
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)


def stamp_slice(new: JsonObject, _old: JsonObject | None, now: str) -> None:
    """A taint without a time was added now, on every write that brings it so."""
    for device in part(new, "spec").get("devices") or []:
        for taint in device.get("taints") or []:
            taint.setdefault("timeAdded", now)


def create_rule(rule: JsonObject) -> None:
    """A new rule has no status yet."""
    rule["status"] = {}


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
    causes = check_driver("spec.driver", spec.get("driver", ""))
    causes += _check_pool_size(part(spec, "pool"))
    causes += check_place(spec)
    if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        text = "only one of `sharedCounters` or `devices` is allowed"
        causes.append(Cause.invalid("spec", "", text))
    return causes + _check_devices(spec.get("devices") or [])


def _check_pool_size(pool: JsonObject) -> list[Cause]:
    causes = check_pool("spec.pool.name", pool.get("name", ""))
    if (count := pool.get("resourceSliceCount", 0)) <= 0:
        field = "spec.pool.resourceSliceCount"
        causes.append(Cause.invalid(field, count, "must be greater than zero"))
    if (generation := pool.get("generation", 0)) < 0:
        text = "must be greater than or equal to zero"
        causes.append(Cause.invalid("spec.pool.generation", generation, text))
    return causes


def check_place(spec: JsonObject) -> list[Cause]:
    """Causes against how a slice says where its devices are."""
    given = [f"`{name}`" for name in _PLACES if spec.get(name)]
    causes = []
    if (node := spec.get("nodeName")) is not None:
        wrong = subdomain(node) if node else "must be either unset or set to a non-empty string"
        causes += [Cause.invalid("spec.nodeName", node, wrong)] if wrong else []
    for name in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(name) is False:
            text = "must be either unset or set to true"
            causes.append(Cause.invalid(f"spec.{name}", value=False, detail=text))
    if not given:
        causes.append(Cause.required("spec", _ONE_PLACE))
    elif len(given) > 1:
        text = f"{_ONE_PLACE}, but multiple fields are set"
        causes.append(Cause.invalid("spec", "{" + ", ".join(given) + "}", text))
    return causes


def _check_devices(devices: list[JsonObject]) -> list[Cause]:
    advanced = any(device.get("taints") or device.get("consumesCounters") for device in devices)
    limit = _MAX_ADVANCED_DEVICES if advanced else _MAX_DEVICES
    if len(devices) > limit:
        return [Cause.too_many("spec.devices", len(devices), limit)]
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, device in enumerate(devices):
        place, name = f"spec.devices[{index}]", device.get("name", "")
        if wrong := label(name):
            causes.append(Cause.invalid(f"{place}.name", name, wrong))
        causes += _check_taints(device.get("taints") or [], f"{place}.taints")
        if name in seen:
            causes.append(Cause.duplicate(place, name))
        seen.add(name)
    return causes


def _check_taints(taints: list[JsonObject], field: str) -> list[Cause]:
    if len(taints) > _MAX_TAINTS:
        return [Cause.too_many(field, len(taints), _MAX_TAINTS)]
    return [c for i, taint in enumerate(taints) for c in check_taint(taint, f"{field}[{i}]")]


def check_taint(taint: JsonObject, place: str) -> list[Cause]:
    """Causes against a device's taint; unlike a node's it needs not be unique."""
    causes = check_key(f"{place}.key", taint.get("key", ""))
    value, effect = taint.get("value", ""), taint.get("effect", "")
    if wrong := label_value(value):
        causes.append(Cause.invalid(f"{place}.value", value, wrong))
    if not effect:
        causes.append(Cause.required(f"{place}.effect"))
    elif effect not in DEVICE_EFFECTS:
        causes.append(Cause.not_supported(f"{place}.effect", effect, DEVICE_EFFECTS))
    return causes


def check_slice_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change: whose devices they are, and where, is fixed."""
    return [
        Cause.invalid(".".join(("spec", *path)), part(new, "spec", *path[:-1]).get(path[-1]), text)
        for path in (("pool", "name"), ("driver",), ("nodeName",))
        for text in ("field is immutable",)
        if part(new, "spec", *path[:-1]).get(path[-1])
        != part(old, "spec", *path[:-1]).get(path[-1])
    ]


def check_rule(rule: JsonObject) -> list[Cause]:
    """Causes against a DeviceTaintRule."""
    selector = part(rule, "spec", "deviceSelector")
    causes: list[Cause] = []
    if "driver" in selector:
        causes += check_driver("spec.deviceSelector.driver", selector["driver"])
    if "pool" in selector:
        causes += check_pool("spec.deviceSelector.pool", selector["pool"])
    if "device" in selector and (wrong := label(selector["device"])):
        causes.append(Cause.invalid("spec.deviceSelector.device", selector["device"], wrong))
    return causes + check_taint(part(rule, "spec", "taint"), "spec.taint")


def check_rule_status(new: JsonObject, _old: JsonObject) -> list[Cause]:
    """Causes against a rule's status."""
    conditions = part(new, "status").get("conditions") or []
    causes = check_conditions(conditions, "status.conditions")
    if len(conditions) > _MAX_CONDITIONS:
        causes.append(Cause.too_many("status.conditions", len(conditions), _MAX_CONDITIONS))
    return causes


def check_driver(field: str, name: str) -> list[Cause]:
    """Causes against the name of a driver."""
    if not name:
        return [Cause.required(field)]
    if len(name) > 63:
        return [Cause("FieldValueTooLong", field, "Too long: may not be more than 63 bytes")]
    wrong = subdomain(name.lower())
    return [Cause.invalid(field, name, wrong)] if wrong else []


def check_pool(field: str, name: str) -> list[Cause]:
    """Causes against the name of a pool: subdomains between slashes."""
    if not name:
        return [Cause.required(field)]
    if len(name) > 253:
        return [Cause("FieldValueTooLong", field, "Too long: may not be more than 253 bytes")]
    wrong = [(piece, subdomain(piece)) for piece in name.split("/")]
    return [Cause.invalid(field, piece, text) for piece, text in wrong if text]
