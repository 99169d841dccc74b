"""The annotations by which a person says how much memory is in use on a node of the demo.

They are judged when they are written, so that who mistypes one hears of it at once. A real API
server would take any text; no real cluster has annotations of this name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bailiff.kinds import INT64_MAX
from bailiff.kinds.quantity import parse_quantity
from bailiff_demo.errors import Cause
from bailiff_demo.objects import JsonObject, part

if TYPE_CHECKING:
    from collections.abc import Mapping

# Of a pod: its working set, a quantity. Without it the pod uses none.
MEMORY = "demo.bailiff.dev/memory"
# Of a node: what runs there beside pods, a quantity. Without it that is nothing.
SYSTEM_MEMORY = "demo.bailiff.dev/system-memory"
# Of a node: fields of a KubeletConfiguration, a JSON object; they replace the defaults.
CONFIGURATION = "demo.bailiff.dev/kubelet-configuration"


def check_told(annotations: Mapping[str, str]) -> list[Cause]:
    """Causes against these annotations, of whatever object they are."""
    told = ((name, annotations.get(name)) for name in _WHY_NOT)
    return [
        Cause.invalid(f"metadata.annotations[{name}]", text, why)
        for name, text in told
        if text is not None and (why := _WHY_NOT[name](text))
    ]


def told_bytes(obj: JsonObject, name: str) -> int:
    """The bytes that an annotation tells, 0 to INT64_MAX; 0 where it does not."""
    return bytes_of(part(obj, "metadata", "annotations").get(name, "0"))


def bytes_of(quantity: object) -> int:
    """A quantity in whole bytes, cut to 0 to INT64_MAX; 0 for what is none."""
    try:
        return max(0, min(parse_quantity(str(quantity)).value, INT64_MAX))
    except ValueError:
        return 0


def told_configuration(node: JsonObject) -> JsonObject:
    """The fields that the node's annotation tells; none where it does not."""
    text = part(node, "metadata", "annotations").get(CONFIGURATION, "{}")
    return _json_object(text) or {}


def _json_object(text: str) -> JsonObject | None:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _why_no_bytes(text: str) -> str:
    try:
        quantity = parse_quantity(text)
    except ValueError as error:
        return str(error)
    return "must not be negative" if quantity.nano < 0 else ""


def _why_no_configuration(text: str) -> str:
    example = '{"evictionHard":{"memory.available":"500Mi"}}'
    return "" if _json_object(text) is not None else f"must be a JSON object such as {example}"


_WHY_NOT = {
    MEMORY: _why_no_bytes,
    SYSTEM_MEMORY: _why_no_bytes,
    CONFIGURATION: _why_no_configuration,
}
