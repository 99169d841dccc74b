"""Resources that show objects of another: events.k8s.io/v1 over core Events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.resources import EVENTS, NEW_EVENTS

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.resources import Resource

# events.k8s.io/v1 name to core/v1 name (pkg/apis/events/v1/conversion.go).
_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_BACK = {old: new for new, old in _NAMES.items()}


def to_storage(resource: Resource, obj: JsonObject) -> JsonObject:
    """The object as it is stored."""
    if resource is not NEW_EVENTS:
        return obj
    stored = {_NAMES.get(name, name): value for name, value in obj.items()}
    stored["apiVersion"] = EVENTS.api_version
    return stored


def from_storage(resource: Resource, obj: JsonObject) -> JsonObject:
    """The object as this resource shows it."""
    if resource is not NEW_EVENTS:
        return obj
    shown = {_BACK.get(name, name): value for name, value in obj.items()}
    shown["apiVersion"] = NEW_EVENTS.api_version
    return shown
