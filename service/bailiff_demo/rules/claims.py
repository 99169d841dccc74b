"""ResourceClaims and their templates (pkg/apis/resource); expressions (CEL) are kept unread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo.errors import Cause
from bailiff_demo.objects import is_going, part
from bailiff_demo.rules.fields import check_count, check_duplicates, check_label_name, fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff_demo.objects import JsonObject

_MAX_REQUESTS = 32
_MAX_RESERVED = 256
_ONE_FORM = "exactly one of `exactly` or `firstAvailable` is required"


def default_claim(claim: JsonObject) -> None:
    """How many devices a request wants."""
    _default_spec(part(claim, "spec"))


def default_template(template: JsonObject) -> None:
    """As the claims made from it."""
    _default_spec(part(template, "spec", "spec"))


def _default_spec(spec: JsonObject) -> None:
    for _, request in _requests(spec):
        for _, wanted in _forms(request):
            fill(wanted, allocationMode="ExactCount")
            if wanted["allocationMode"] == "ExactCount":
                fill(wanted, count=1)


def _requests(spec: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for index, request in enumerate(part(spec, "devices").get("requests") or []):
        yield f"devices.requests[{index}]", request


def _forms(request: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    if request.get("exactly") is not None:
        yield "exactly", request["exactly"]
    for index, wanted in enumerate(request.get("firstAvailable") or []):
        yield f"firstAvailable[{index}]", wanted


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
    requests = list(_requests(spec))
    place = f"{field}.devices.requests"
    if len(requests) > _MAX_REQUESTS:
        return [Cause.too_many(place, len(requests), _MAX_REQUESTS)]
    causes = check_duplicates(place, [request.get("name", "") for _, request in requests])
    for path, request in requests:
        causes += _check_request(request, f"{field}.{path}")
    return causes


def _check_request(request: JsonObject, place: str) -> list[Cause]:
    causes = check_label_name(f"{place}.name", request.get("name", ""))
    if (request.get("exactly") is None) == (not request.get("firstAvailable")):
        causes.append(Cause.required(place, _ONE_FORM))
    for form, wanted in _forms(request):
        if not wanted.get("deviceClassName"):
            causes.append(Cause.required(f"{place}.{form}.deviceClassName"))
        if wanted["allocationMode"] == "ExactCount":
            causes += check_count(f"{place}.{form}.count", wanted.get("count"), 1)
    return causes


def check_claim_status(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Causes against a claim's status: an allocation is given once, users come after it."""
    status, before = part(new, "status"), part(old, "status")
    causes = _check_consumers(status, before, going=is_going(old))
    allocation, given = status.get("allocation"), before.get("allocation")
    if None not in (allocation, given) and allocation != given:
        causes.append(Cause.invalid("status.allocation", allocation, "field is immutable"))
    return causes


def _check_consumers(status: JsonObject, before: JsonObject, *, going: bool) -> list[Cause]:
    field, consumers = "status.reservedFor", status.get("reservedFor") or []
    if len(consumers) > _MAX_RESERVED:
        return [Cause.too_many(field, len(consumers), _MAX_RESERVED)]
    causes = [
        Cause.required(f"{field}[{index}].{name}")
        for index, consumer in enumerate(consumers)
        for name in ("resource", "name", "uid")
        if not consumer.get(name)
    ]
    causes += check_duplicates(field, [consumer.get("uid", "") for consumer in consumers])
    if consumers and status.get("allocation") is None:
        text = "may not be specified when `allocated` is not set"
        causes.append(Cause.forbidden(field, text))
    if going and any(c not in (before.get("reservedFor") or []) for c in consumers):
        text = "new entries may not be added while `deletionTimestamp` is set"
        causes.append(Cause.forbidden(field, text))
    return causes
