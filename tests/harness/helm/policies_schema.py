"""The part of values.schema.json that policies are checked by, made of the code's own schema.

`python -m tests.harness.helm.policies_schema` writes it anew.
"""

from __future__ import annotations

import json
from typing import Any

from bailiff.decisions.policies import schema
from tests.harness.helm.chart import CHART

FILE = CHART / "values.schema.json"
ROOT = "WorkerPolicies"
# What the chart itself writes into the file.
_HEAD = {"apiVersion", "kind"}
# Words, and defaults that are the code's.
_DROPPED = {"title", "description", "default"}


def definitions() -> dict[str, Any]:
    """Definitions by their names, which begin with a capital; no other does."""
    found: dict[str, Any] = _bare(schema()["$defs"])
    root = found[ROOT]
    root["properties"] = {k: v for k, v in root["properties"].items() if k not in _HEAD}
    root["required"] = [name for name in root["required"] if name not in _HEAD]
    return found


def written() -> dict[str, Any]:
    """The definitions as they stand in the chart."""
    known = json.loads(FILE.read_text())["$defs"]
    return {name: value for name, value in known.items() if name[0].isupper()}


def _bare(node: Any, *, names: bool = True) -> Any:
    """Without words; `names`: the keys here are names, not JSON Schema's own words."""
    if isinstance(node, list):
        return [_bare(item, names=False) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _bare(value, names=not names and key == "properties")
        for key, value in node.items()
        if names or key not in _DROPPED
    }


def write() -> None:
    """Put them in the place of those that there are."""
    whole = json.loads(FILE.read_text())
    kept = {name: value for name, value in whole["$defs"].items() if not name[0].isupper()}
    whole["$defs"] = kept | definitions()
    FILE.write_text(json.dumps(whole, indent=2) + "\n")


if __name__ == "__main__":
    write()
