"""The chart's alerts and dashboard: what they ask for is told, and what they say is complete."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from handbook.dashboard.grafana import text
from tests.harness.monitoring.alert_scenes import SCENES
from tests.harness.monitoring.files import (
    DASHBOARD,
    Alert,
    alerts,
    grouped_by,
    panels,
    queries,
    selectors,
)
from tests.harness.monitoring.known import OF_THE_TARGET, known
from tests.harness.monitoring.runbooks import PAGES, WITHOUT_AN_ALERT, alert_of
from tests.harness.monitoring.values import OF_THE_RELEASE, unknown_values, values
from tests.harness.transcripts import ROOT

GUIDE = ROOT / "docs" / "operate" / "monitoring.md"
# Told by the API server itself.
OF_THE_API_SERVER = {
    "apiserver_admission_webhook_fail_open_count": {"name"},
    "apiserver_admission_webhook_rejection_count": {"name", "error_type"},
}
# Of the guide: name, severity, meaning, runbook.
ROW = re.compile(
    r"^\| `(Bailiff\w+)` \| (\w+) \| .+ \| \[.+\]\(\.\./runbooks/(.+)\.md\) \|$", re.MULTILINE
)
each_alert = pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert.name)


@each_alert
def test_an_alert_is_named_by_its_runbook(alert: Alert) -> None:
    assert alert.name.startswith(alert_of(alert.runbook))


def test_every_runbook_has_an_alert_but_those_that_a_person_comes_to() -> None:
    pages = {page.stem for page in PAGES}
    assert pages > WITHOUT_AN_ALERT
    assert {alert.runbook for alert in alerts()} == pages - WITHOUT_AN_ALERT
    names = [alert.name for alert in alerts()]
    assert len(names) == len(set(names))


@each_alert
def test_an_alert_says_how_bad_it_is_and_what_it_is(alert: Alert) -> None:
    assert alert.severity in {"critical", "warning", "info"}
    for said in (alert.summary, alert.description):
        assert said.endswith(".")
        sentences = re.split(r"[.:] ", said)
        assert max(len(one.split()) for one in sentences) <= 20


@each_alert
def test_an_alert_goes_by_metrics_that_are_told_and_by_their_labels(alert: Alert) -> None:
    asked = selectors(alert.expr)
    assert asked
    for one in asked:
        if one.metric not in OF_THE_API_SERVER:
            # Several releases may be in a cluster.
            assert {"job", "namespace"} <= one.labels
        assert one.labels <= labels_of(one.metric)
    assert grouped_by(alert.expr) <= set.union(*(labels_of(one.metric) for one in asked))


@each_alert
def test_values_that_an_alert_chooses_are_in_the_code(alert: Alert) -> None:
    assert not strangers(alert.expr)


@pytest.mark.parametrize(("title", "expr"), list(queries()), ids=lambda value: value[:40])
def test_values_that_a_panel_chooses_are_in_the_code(title: str, expr: str) -> None:
    assert not strangers(expr), title


def strangers(expr: str) -> list[tuple[str, str, str]]:
    """Values of labels that the code does not tell."""
    return [
        (metric, label, one)
        for metric, matchers in selectors(expr)
        for label, how, value in matchers
        if label not in OF_THE_RELEASE
        for one in unknown_values(metric, label, how, value)
    ]


def test_a_value_that_is_not_in_the_code_would_be_found() -> None:
    metric = "bailiff_worker_backlog"
    assert strangers(f'{metric}{{cause="denied"}} > {metric}{{cause=~"due|pause"}}') == [
        (metric, "cause", "pause")
    ]
    # What stands for a budget in the backlog is the policy's name, and not the outcome's.
    assert strangers(f'{metric}{{cause!="blocked"}}') == [(metric, "cause", "blocked")]
    assert strangers('bailiff_rest_requests_total{status=~"5..|7.."}') == [
        ("bailiff_rest_requests_total", "status", "7..")
    ]


def test_scenes_have_values_of_the_code() -> None:
    """A scene of a value that nobody tells would show nothing."""
    chosen = (one for scene in SCENES for series in scene.whole() for one in selectors(series))
    assert not [
        (metric, label, value)
        for metric, matchers in chosen
        for label, _, value in matchers
        if value not in values().get(metric, {}).get(label, {value})
        # Somebody else's webhook.
        and value != "other.example"
    ]


@each_alert
def test_what_an_alert_says_is_of_labels_that_it_has(alert: Alert) -> None:
    told = set(re.findall(r"\$labels\.(\w+)", alert.summary + alert.description))
    by = grouped_by(alert.expr)
    whole = set.union(*(labels_of(one.metric) for one in selectors(alert.expr)))
    is_added_up = re.match(r"(sum|max|min|count|histogram_quantile|absent)\b", alert.expr)
    assert told <= (by if is_added_up else whole)


def labels_of(metric: str) -> set[str]:
    return OF_THE_API_SERVER.get(metric) or known()[metric] | OF_THE_TARGET


@pytest.mark.parametrize(("title", "expr"), list(queries()), ids=lambda value: value[:40])
def test_a_panel_asks_for_metrics_that_are_told(title: str, expr: str) -> None:
    asked = selectors(expr)
    assert asked
    for one in asked:
        assert one.labels <= labels_of(one.metric)
        if one.metric not in OF_THE_API_SERVER:
            assert ("namespace", "=", "$namespace") in one.matchers
            assert ("job", "=~", "$job") in one.matchers
    assert grouped_by(expr) <= set.union(*(labels_of(one.metric) for one in asked))


def test_the_dashboard_is_the_one_that_is_written() -> None:
    assert DASHBOARD.read_text() == text()


def test_every_panel_says_what_it_shows_and_names_no_datasource_of_anybody() -> None:
    for panel in panels():
        assert panel["description"].endswith(".")
        assert panel["datasource"]["uid"] == "${datasource}"
        assert {one["datasource"]["uid"] for one in panel["targets"]} == {"${datasource}"}
        assert [one["refId"] for one in panel["targets"]] == ["A", "B", "C"][
            : len(panel["targets"])
        ]


def test_no_panel_lies_upon_another_and_all_are_on_the_grid() -> None:
    places = [panel["gridPos"] for panel in panels()]
    assert all(at["x"] + at["w"] <= 24 for at in places)
    for one, other in combinations(places, 2):
        beside = one["x"] >= other["x"] + other["w"] or other["x"] >= one["x"] + one["w"]
        assert beside or abs(one["y"] - other["y"]) >= one["h"]


def test_the_guide_has_a_line_for_each_alert_and_no_other() -> None:
    written = {(name, bad, page) for name, bad, page in ROW.findall(GUIDE.read_text())}
    assert written == {(alert.name, alert.severity, alert.runbook) for alert in alerts()}
