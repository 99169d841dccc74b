"""Events that the pretended components write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.objects import JsonObject, format_time
from bailiff.embedded.resources import EVENTS

if TYPE_CHECKING:
    from bailiff.embedded.registry import Registry


def tell(registry: Registry, about: JsonObject, component: str, reason: str, message: str) -> None:
    """Write an Event of type Normal about an object.

    Raises:
        ApiError: its namespace is gone or going.
    """
    meta = about["metadata"]
    now = format_time(registry.clock.now())
    namespace = meta.get("namespace", "default")
    event = {
        "metadata": {"generateName": f"{meta['name']}."},
        "involvedObject": {
            "kind": about["kind"],
            "apiVersion": about["apiVersion"],
            "name": meta["name"],
            "namespace": meta.get("namespace", ""),
            "uid": meta["uid"],
            "resourceVersion": meta["resourceVersion"],
        },
        "type": "Normal",
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    registry.create(EVENTS, namespace, event)
