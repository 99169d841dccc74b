"""Resources that show objects of another: events.k8s.io/v1 over core Events, older versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.resources import BY_ID, NEW_EVENTS

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


def same_fields(resource: Resource) -> bool:
    """Whether its objects are stored with just the fields that it shows."""
    return resource is not NEW_EVENTS


def to_storage(resource: Resource, obj: JsonObject) -> JsonObject:
    """The object as it is stored."""
    if not resource.storage:
        return obj
    names = {} if same_fields(resource) else _NAMES
    stored = {names.get(name, name): value for name, value in obj.items()}
    stored["apiVersion"] = BY_ID[resource.storage].api_version
    return stored


def from_storage(resource: Resource, obj: JsonObject) -> JsonObject:
    """The object as this resource shows it."""
    if not resource.storage:
        return obj
    names = {} if same_fields(resource) else _BACK
    shown = {names.get(name, name): value for name, value in obj.items()}
    shown["apiVersion"] = resource.api_version
    return shown
