"""Events as the API takes them (core/v1 Event)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions import EventNote

# Of a message, as much as the newer API of Events takes (NoteLengthLimit in
# pkg/apis/core/validation/events.go).
_MAX_MESSAGE = 1024
# Where Events about objects without a namespace live (legacyValidateEvent, same file).
_NO_NAMESPACE = "default"


class Regarding(Struct, frozen=True, kw_only=True):
    """The object that an Event is about.

    Attributes:
        api_version: as `v1`.
        kind: as `Pod`.
        name: its name.
        namespace: where it lives; empty for kinds without one.
        uid: tells it from a later object of the same name; empty: not known.
    """

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""

    @property
    def event_namespace(self) -> str:
        """Where an Event about it has to live."""
        return self.namespace or _NO_NAMESPACE


def event_body(
    name: str, about: Regarding, note: EventNote, now: datetime, instance: str, component: str
) -> dict[str, Any]:
    """An Event to create.

    Args:
        name: of the Event.
        about: what it is about.
        note: what it says; its message is cut. Its annotations are what the core has bounded.
        now: when it was noted.
        instance: who reports it.
        component: the controller that it comes from.
    """
    told = {one.key: one.value for one in note.annotations}
    at = describe_time(now.replace(microsecond=0))
    involved = {"apiVersion": about.api_version, "kind": about.kind, "name": about.name}
    more = {"namespace": about.namespace, "uid": about.uid}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": about.event_namespace}
        | ({"annotations": told} if told else {}),
        "involvedObject": involved | {key: value for key, value in more.items() if value},
        "type": note.type,
        "reason": note.reason,
        "message": note.message[:_MAX_MESSAGE],
        "source": {"component": component},
        "reportingComponent": component,
        "reportingInstance": instance,
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
    }
