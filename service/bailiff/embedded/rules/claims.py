"""ResourceClaims, their templates and DeviceClasses (pkg/apis/resource).

Expressions of selectors (CEL) are kept unread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.errors import Cause
from bailiff.embedded.objects import part
from bailiff.embedded.rules.devices import DEVICE_EFFECTS, check_driver, check_pool
from bailiff.embedded.rules.names import check_key, label, label_value, subdomain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.embedded.objects import JsonObject

_MAX_REQUESTS = 32
_MAX_RESERVED = 256
_MODES = ("All", "ExactCount")
_OPERATORS = ("Equal", "Exists")
_ONE_FORM = "exactly one of `exactly` or `firstAvailable` is required"
_REQUEST_NAME = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)


def default_claim(claim: JsonObject) -> None:
    """How many devices a request wants."""
    _default_spec(part(claim, "spec"))


def default_template(template: JsonObject) -> None:
    """As the claims made from it."""
    _default_spec(part(template, "spec", "spec"))


def _default_spec(spec: JsonObject) -> None:
    for request in part(spec, "devices").get("requests") or []:
        for _, wanted in _forms(request):
            wanted.setdefault("allocationMode", "ExactCount")
            if wanted["allocationMode"] == "ExactCount" and not wanted.get("count"):
                wanted["count"] = 1


def _forms(request: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    if request.get("exactly") is not None:
        yield "exactly", request["exactly"]
    for index, wanted in enumerate(request.get("firstAvailable") or []):
        yield f"firstAvailable[{index}]", wanted


def create_claim(claim: JsonObject) -> None:
    """A new claim has nothing allocated."""
    claim["status"] = {}


def check_claim(claim: JsonObject) -> list[Cause]:
    """Causes against a ResourceClaim."""
    return _check_spec(part(claim, "spec"), "spec")


def check_template(template: JsonObject) -> list[Cause]:
    """Causes against a ResourceClaimTemplate."""
    return _check_spec(part(template, "spec", "spec"), "spec.spec")


def check_spec_is_fixed(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a change of what is claimed: there is none that is allowed."""
    if new.get("spec") == old.get("spec"):
        return []
    return [Cause.invalid("spec", new.get("spec"), "field is immutable")]


def _check_spec(spec: JsonObject, field: str) -> list[Cause]:
    requests = part(spec, "devices").get("requests") or []
    place = f"{field}.devices.requests"
    if len(requests) > _MAX_REQUESTS:
        return [Cause.too_many(place, len(requests), _MAX_REQUESTS)]
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, request in enumerate(requests):
        causes += _check_request(request, f"{place}[{index}]")
        if (name := request.get("name", "")) in seen:
            causes.append(Cause.duplicate(f"{place}[{index}]", name))
        seen.add(name)
    return causes


def _check_request(request: JsonObject, place: str) -> list[Cause]:
    name = request.get("name", "")
    causes = [Cause.invalid(f"{place}.name", name, wrong)] if (wrong := label(name)) else []
    exact, first = request.get("exactly") is not None, bool(request.get("firstAvailable"))
    if not exact and not first:
        return [*causes, Cause.required(place, _ONE_FORM)]
    if exact and first:
        text = f"{_ONE_FORM}, but multiple fields are set"
        return [*causes, Cause.invalid(place, "null", text)]
    for form, wanted in _forms(request):
        causes += _check_wanted(wanted, f"{place}.{form}")
    return causes


def _check_wanted(wanted: JsonObject, place: str) -> list[Cause]:
    name, mode = wanted.get("deviceClassName", ""), wanted["allocationMode"]
    causes: list[Cause] = []
    if not name:
        causes.append(Cause.required(f"{place}.deviceClassName"))
    elif wrong := subdomain(name):
        causes.append(Cause.invalid(f"{place}.deviceClassName", name, wrong))
    if mode not in _MODES:
        causes.append(Cause.not_supported(f"{place}.allocationMode", mode, _MODES))
    elif mode == "All" and wanted.get("count"):
        text = "must not be specified when allocationMode is 'All'"
        causes.append(Cause.invalid(f"{place}.count", wanted["count"], text))
    elif mode == "ExactCount" and wanted["count"] <= 0:
        causes.append(Cause.invalid(f"{place}.count", wanted["count"], "must be greater than zero"))
    for index, toleration in enumerate(wanted.get("tolerations") or []):
        causes += _check_toleration(toleration, f"{place}.tolerations[{index}]")
    return causes


def _check_toleration(toleration: JsonObject, place: str) -> list[Cause]:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    value, effect = toleration.get("value", ""), toleration.get("effect", "")
    causes = check_key(f"{place}.key", key) if key else []
    if not operator:
        causes.append(Cause.required(f"{place}.operator"))
    elif operator not in _OPERATORS:
        causes.append(Cause.not_supported(f"{place}.operator", operator, _OPERATORS))
    elif operator == "Exists" and value:
        text = "must be empty for operator `Exists`"
        causes.append(Cause.invalid(f"{place}.value", value, text))
    elif wrong := label_value(value):
        causes.append(Cause.invalid(f"{place}.value", value, wrong))
    if effect and effect not in DEVICE_EFFECTS:
        causes.append(Cause.not_supported(f"{place}.effect", effect, DEVICE_EFFECTS))
    return causes


def check_claim_status(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a claim's status: an allocation is given once, users come after it."""
    status, before = part(new, "status"), part(old, "status")
    causes = _check_consumers(status, before, going="deletionTimestamp" in old["metadata"])
    allocation, given = status.get("allocation"), before.get("allocation")
    if allocation is None:
        return causes
    if given is None:
        return causes + _check_results(allocation, _request_names(part(new, "spec")))
    if allocation != given:
        causes.append(Cause.invalid("status.allocation", allocation, "field is immutable"))
    return causes


def _check_consumers(status: JsonObject, before: JsonObject, *, going: bool) -> list[Cause]:
    field, consumers = "status.reservedFor", status.get("reservedFor") or []
    if len(consumers) > _MAX_RESERVED:
        return [Cause.too_many(field, len(consumers), _MAX_RESERVED)]
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, consumer in enumerate(consumers):
        causes += [
            Cause.required(f"{field}[{index}].{name}")
            for name in ("resource", "name", "uid")
            if not consumer.get(name)
        ]
        if (uid := consumer.get("uid", "")) in seen:
            causes.append(Cause.duplicate(f"{field}[{index}]", uid))
        seen.add(uid)
    if consumers and status.get("allocation") is None:
        text = "may not be specified when `allocated` is not set"
        causes.append(Cause.forbidden(field, text))
    elif going and any(c not in (before.get("reservedFor") or []) for c in consumers):
        text = (
            "new entries may not be added while `deallocationRequested` or `deletionTimestamp` "
            "are set"
        )
        causes.append(Cause.forbidden(field, text))
    return causes


def _request_names(spec: JsonObject) -> set[str]:
    names: set[str] = set()
    for request in part(spec, "devices").get("requests") or []:
        names.add(request.get("name", ""))
        for wanted in request.get("firstAvailable") or []:
            names.add(f"{request.get('name', '')}/{wanted.get('name', '')}")
    return names


def _check_results(allocation: JsonObject, requests: set[str]) -> list[Cause]:
    field, results = "status.allocation.devices.results", part(allocation, "devices").get("results")
    if len(results or []) > _MAX_REQUESTS:
        return [Cause.too_many(field, len(results or []), _MAX_REQUESTS)]
    causes: list[Cause] = []
    for index, result in enumerate(results or []):
        place, name = f"{field}[{index}]", result.get("request", "")
        if name not in requests:
            causes.append(Cause.invalid(f"{place}.request", name, _REQUEST_NAME))
        causes += check_driver(f"{place}.driver", result.get("driver", ""))
        causes += check_pool(f"{place}.pool", result.get("pool", ""))
        if wrong := label(result.get("device", "")):
            causes.append(Cause.invalid(f"{place}.device", result.get("device", ""), wrong))
    return causes


def check_class(obj: JsonObject) -> list[Cause]:
    """Causes against a DeviceClass."""
    selectors = part(obj, "spec").get("selectors") or []
    return [
        Cause.required(f"spec.selectors[{index}].cel")
        for index, selector in enumerate(selectors)
        if selector.get("cel") is None
    ]
