"""The alerts and the dashboard as the chart has them, taken apart."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from tests.harness.helm.chart import CHART

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = CHART / "monitoring" / "rules.yaml"
DASHBOARD = CHART / "monitoring" / "dashboard.json"
_SELECTOR = re.compile(r"\b([a-z]\w*)\{([^{}]*)\}")
_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"')


class Alert(NamedTuple):
    """One alert, with the group that it stands in."""

    group: str
    name: str
    expr: str
    severity: str
    summary: str
    description: str
    runbook: str


class Selector(NamedTuple):
    """A metric in an expression, and the labels that it is chosen by."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...]

    @property
    def labels(self) -> set[str]:
        """Their names."""
        return {name for name, _, _ in self.matchers}


def alerts() -> list[Alert]:
    """Those of the file."""
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [_alert(group["name"], rule) for group in groups for rule in group["rules"]]


def _alert(group: str, rule: dict[str, Any]) -> Alert:
    told = rule["annotations"]
    return Alert(
        group=group,
        name=rule["alert"],
        expr=rule["expr"],
        severity=rule["labels"]["severity"],
        summary=told["summary"],
        description=told["description"],
        runbook=told["runbook"].removeprefix("docs/runbooks/").removesuffix(".md"),
    )


def panels() -> list[dict[str, Any]]:
    """Those of the dashboard that draw something."""
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return [panel for panel in found if panel["type"] != "row"]


def queries() -> Iterator[tuple[str, str]]:
    """Each query of the dashboard, with the title of its panel."""
    for panel in panels():
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def selectors(expr: str) -> list[Selector]:
    """All metrics of an expression."""
    return [
        Selector(name, tuple(_MATCHER.findall(terms))) for name, terms in _SELECTOR.findall(expr)
    ]


def grouped_by(expr: str) -> set[str]:
    """The labels that an expression adds up by."""
    found = re.findall(r"\bby \(([^)]*)\)", expr)
    return {label.strip() for labels in found for label in labels.split(",")}
