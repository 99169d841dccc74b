"""Which requests about a document's schemas another operation has tried already.

Schemathesis tries each field of each operation with each kind of wrong and right value: 38,000
requests for ours, most of them about the same pods and nodes in another question. A wrong value is
refused by what decodes it, whichever the question is, so one operation is enough. A right one meets
the question, too: of those that others try each operation takes some. `make fuzz` tries all.
"""

from __future__ import annotations

import re
from typing import Any

from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CoveragePhaseData

from tests.harness.fuzzing import SHARE

Place = tuple[str, ...]


class Tried:
    """The operation that tries something of a schema first goes on to."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._by: dict[Place, str] = {}
        self._again = 0

    def enough(self, case: Any) -> bool:
        """Whether a request may be left out; it counts as tried where it may not."""
        data = case.meta.phase.data
        names = _names(data) if isinstance(data, CoveragePhaseData) else []
        if not names or not self._elsewhere(case, data, names):
            return False
        if case.meta.generation.mode is GenerationMode.NEGATIVE:
            return True
        self._again += 1
        return self._again % SHARE != 0

    def _elsewhere(self, case: Any, data: CoveragePhaseData, names: list[str]) -> bool:
        label: str = case.operation.label
        (content, *_) = case.operation.definition.raw["requestBody"]["content"].values()
        place = self._place(label, content["schema"], names)
        key = (*place, data.scenario, data.description.rsplit(":", 1)[-1])
        return self._by.setdefault(key, label) != label

    def _place(self, label: str, schema: dict[str, Any], names: list[str]) -> Place:
        """The last schema with a name of its own on the way, and the way from there."""
        name, schema = self._resolved(label, schema)
        place = [name]
        for field in names:
            place.append(field)
            if field not in schema.get("properties", {}):
                # A way of which no schema tells, such as that of a field too many.
                return (label, *names)
            name, schema = self._resolved("", schema["properties"][field])
            place = [name] if name else place
        return tuple(place)

    def _resolved(self, name: str, schema: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """What a reference, an optional value, a list or a map is of."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[-1]
            return self._resolved(name, self._document["components"]["schemas"][name])
        inner = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
        inner += [schema["items"]] if "items" in schema else []
        if "properties" not in schema and isinstance(schema.get("additionalProperties"), dict):
            inner.append(schema["additionalProperties"])
        return self._resolved(name, inner[0]) if len(inner) == 1 else (name, schema)


def _names(data: CoveragePhaseData) -> list[str]:
    """The fields on the way to what is tried."""
    if data.parameter_location is not ParameterLocation.BODY:
        return []
    if data.location:
        return re.findall(r"properties/(\w+)", data.location)
    return re.findall(r"valid '(\w+)' value", data.description)
