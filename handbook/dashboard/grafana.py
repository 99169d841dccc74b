"""The dashboard as Grafana reads it, on a grid of 24 columns."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handbook.dashboard.of_nodes import AGENT, NODE_LOSS, PRESSURE
from handbook.dashboard.of_the_api import DECISION_API, FILES, WEBHOOKS
from handbook.dashboard.of_the_worker import API_SERVER, EVICTIONS, WELL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbook.dashboard.panels import Panel, Row

FILE = Path(__file__).parents[2] / "helm" / "bailiff" / "monitoring" / "dashboard.json"
ROWS = (
    *(WELL, EVICTIONS, DECISION_API, API_SERVER, PRESSURE, NODE_LOSS, WEBHOOKS, AGENT),
    FILES,
)
_COLUMNS, _WIDTH, _HEIGHT = 3, 8, 7
# Of the sidecar's Grafana, which names its datasources as it likes.
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
# One metric of each process that every one of its kind tells.
_PROCESSES = "bailiff_(worker_leader|rest_requests_in_flight|agent_since_round_seconds)"


def text() -> str:
    """The file: a line for each panel, so that a change of one is a change of one line."""
    whole = _dashboard()
    panels = ",\n".join(json.dumps(one, sort_keys=True) for one in whole.pop("panels"))
    head = json.dumps(whole, indent=1, sort_keys=True).rstrip("\n}")
    return f'{head},\n "panels": [\n{panels}\n ]\n}}\n'


def _dashboard() -> dict[str, Any]:
    return {
        "title": "Bailiff",
        "uid": "bailiff",
        "tags": ["bailiff", "kubernetes"],
        "schemaVersion": 38,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": list(_variables())},
        "panels": list(_panels()),
    }


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "label": "Datasource", "type": "datasource", "query": "prometheus"}
    ours = f'{{__name__=~"{_PROCESSES}"}}'
    yield _variable("namespace", f"label_values({ours}, namespace)")
    in_it = ours.replace("}", ',namespace="$namespace"}')
    several = {"multi": True, "includeAll": True, "allValue": ".+"}
    chosen = {"current": {"selected": True, "text": ["All"], "value": ["$__all"]}}
    yield _variable("job", f"label_values({in_it}, job)") | several | chosen


def _variable(name: str, query: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": name.capitalize(),
        "type": "query",
        "datasource": _SOURCE,
        "definition": query,
        "query": {"query": query, "refId": name},
        # When the time range changes: namespaces come and go.
        "refresh": 2,
        "sort": 1,
    }


def _panels() -> Iterator[dict[str, Any]]:
    numbers, y = count(1), 0
    for row in ROWS:
        place = {"h": 1, "w": 24, "x": 0, "y": y}
        own = {"id": next(numbers), "type": "row", "title": row.title, "gridPos": place}
        yield own | {"collapsed": False, "panels": []}
        y += 1
        for index, panel in enumerate(row.panels):
            line, column = divmod(index, _COLUMNS)
            at = {"h": _HEIGHT, "w": _WIDTH, "x": column * _WIDTH, "y": y + line * _HEIGHT}
            yield {"id": next(numbers), "gridPos": at} | _graph(panel)
        y += _lines(row) * _HEIGHT


def _lines(row: Row) -> int:
    return -(-len(row.panels) // _COLUMNS)


def _graph(panel: Panel) -> dict[str, Any]:
    return {
        "type": "timeseries",
        "title": panel.title,
        "description": panel.description,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": _SOURCE,
                "expr": query.of_the_release,
                "legendFormat": query.legend,
            }
            for index, query in enumerate(panel.queries)
        ],
    }
