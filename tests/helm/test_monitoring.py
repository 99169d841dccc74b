"""The PrometheusRule, the dashboard's ConfigMap and the scraping of agents, as rendered."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.harness.helm.chart import ROOT, VALUES, Object, render, try_values
from tests.harness.monitoring.files import DASHBOARD, RULES
from tests.harness.monitoring.prometheus import promtool

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.helm

ALERTS: dict[str, Any] = {"monitoring": {"rules": {"enabled": True}}}
ALL = yaml.safe_load((VALUES / "everything.yaml").read_text())
# What a group is about, and which values switch it off or on.
OFF: dict[str, dict[str, Any]] = {
    "bailiff-standby": {"worker": {"standbys": 0}},
    "bailiff-holding": {"worker": {"policies": None}},
    "bailiff-policies": {"worker": {"policies": None}},
    "bailiff-devices": {"worker": {"deviceTaintEviction": {"enabled": False}}},
    "bailiff-certificates": {"tls": {"enabled": False}},
    "bailiff-api": {"api": {"enabled": False}},
    "bailiff-access": {"authentication": {"tokenReview": {"enabled": False}}},
    "bailiff-leading": {"worker": {"enabled": False}},
    "bailiff-watching": {"worker": {"enabled": False}},
    "bailiff-evicting": {"worker": {"enabled": False}},
}
ON: dict[str, dict[str, Any]] = {
    "bailiff-agent": {"agent": {"enabled": True}},
    "bailiff-evicted-for-pressure": {"agent": {"enabled": True}},
    "bailiff-pressure": {"worker": {"pressure": {"enabled": True}}},
    "bailiff-node-loss": {"worker": {"nodeLoss": {"enabled": True}}},
    "bailiff-webhooks": {"webhooks": {"validatePods": {"enabled": True}}},
    "bailiff-tracing": {"tracing": {"endpoint": "http://collector.monitoring:4318"}},
    "bailiff-gate": {"webhooks": {"validateEvictions": {"enabled": True}}},
}


def rules_of(objects: list[Object]) -> Object:
    [found] = [one for one in objects if one["kind"] == "PrometheusRule"]
    return found


def groups(values: dict[str, Any]) -> set[str]:
    return {group["name"] for group in rules_of(render(values=ALERTS | values))["spec"]["groups"]}


def test_by_default_there_is_none() -> None:
    kinds = {one["kind"] for one in render()}
    assert not kinds & {"PrometheusRule", "ServiceMonitor", "PodMonitor"}
    assert not [one for one in render() if one["metadata"]["name"].endswith("-dashboard")]


@pytest.mark.parametrize("group", OFF)
def test_alerts_of_a_part_that_is_off_are_left_out(group: str) -> None:
    assert group in groups({})
    assert group not in groups(OFF[group])


@pytest.mark.parametrize("group", ON)
def test_alerts_of_a_part_come_with_it(group: str) -> None:
    assert group not in groups({})
    assert group in groups(ON[group])


def test_every_group_of_the_file_is_switched_by_something() -> None:
    written = {group["name"] for group in yaml.safe_load(RULES.read_text())["groups"]}
    assert written == set(OFF) | set(ON)


def test_a_release_that_is_named_as_in_the_file_has_the_file_s_rules() -> None:
    whole = {part: ALL[part] for part in ("worker", "api", "agent", "webhooks", "tracing")}
    rendered = rules_of(render(values=ALERTS | whole | {"webhooks": ALL["webhooks"]}))["spec"]
    assert rendered == yaml.safe_load(RULES.read_text())


def test_rules_of_another_release_are_its_own_and_prometheus_takes_them(tmp_path: Path) -> None:
    values = ALERTS | {"fullnameOverride": "court"}
    spec = rules_of(render(values=values, namespace="justice"))["spec"]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(spec))
    done = promtool("check", "rules", str(tmp_path / "rules.yaml"))
    assert done.returncode == 0, done.stdout + done.stderr
    for expr in expressions(spec):
        assert 'namespace="justice"' in expr
        assert 'namespace="bailiff"' not in expr
        assert "bailiff-" not in expr
    agents = rules_of(render(values=values | ON["bailiff-agent"], namespace="justice"))["spec"]
    assert any('job="justice/court-agent"' in expr for expr in expressions(agents))


def expressions(spec: Object) -> list[str]:
    return [rule["expr"] for group in spec["groups"] for rule in group["rules"]]


def test_jobs_are_those_that_the_operator_makes_of_the_monitors() -> None:
    values = ALERTS | ON["bailiff-agent"] | {"serviceMonitor": {"enabled": True}}
    objects = render(values=values, namespace="justice")
    jobs = {
        name_of_service(objects, monitor["spec"]["selector"]["matchLabels"])
        for monitor in objects
        if monitor["kind"] == "ServiceMonitor"
    }
    [pods] = [one["metadata"] for one in objects if one["kind"] == "PodMonitor"]
    jobs.add(f"{pods['namespace']}/{pods['name']}")
    told = " ".join(expressions(rules_of(objects)["spec"]))
    assert jobs == {"bailiff-api", "bailiff-worker", "justice/bailiff-agent"}
    assert all(f'"{job}"' in told for job in jobs)


def name_of_service(objects: list[Object], chosen: dict[str, str]) -> str:
    [found] = [
        one["metadata"]["name"]
        for one in objects
        if one["kind"] == "Service" and chosen.items() <= one["metadata"]["labels"].items()
    ]
    return str(found)


def test_agents_are_scraped_at_their_status_port() -> None:
    objects = render(values=ON["bailiff-agent"] | {"serviceMonitor": {"enabled": True}})
    [monitor] = [one for one in objects if one["kind"] == "PodMonitor"]
    [daemons] = [one for one in objects if one["kind"] == "DaemonSet"]
    labels = daemons["spec"]["template"]["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
    [endpoint] = monitor["spec"]["podMetricsEndpoints"]
    [container] = daemons["spec"]["template"]["spec"]["containers"]
    assert endpoint["port"] in {port["name"] for port in container["ports"]}


def test_runbooks_have_the_url_of_whoever_serves_them() -> None:
    rules = {"enabled": True, "runbookUrl": "https://r.example/", "runbookSuffix": ".html"}
    spec = rules_of(render(values={"monitoring": {"rules": rules}}))["spec"]
    told = [rule["annotations"] for group in spec["groups"] for rule in group["rules"]]
    assert told[0]["runbook_url"] == "https://r.example/no-leader.html"
    assert not any("runbook" in one for one in told)


def test_an_alert_may_be_left_out() -> None:
    left_out = ["BailiffNoStandby", "BailiffClockWrong"]
    rules = {"enabled": True, "disabled": left_out}
    spec = rules_of(render(values={"monitoring": {"rules": rules}}))["spec"]
    names = {rule["alert"] for group in spec["groups"] for rule in group["rules"]}
    assert "BailiffNoLeader" in names
    assert not names & set(left_out)
    # Nothing is left of its group.
    assert "bailiff-standby" not in {group["name"] for group in spec["groups"]}


def test_the_dashboard_comes_as_the_sidecar_finds_it() -> None:
    [found] = [
        one
        for one in render(values={"monitoring": {"dashboard": {"enabled": True}}})
        if one["metadata"]["name"] == "bailiff-dashboard"
    ]
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(found["data"]["bailiff.json"]) == json.loads(DASHBOARD.read_text())


def test_the_guide_s_command_switches_all_of_it_on() -> None:
    guide = (ROOT / "docs" / "operate" / "monitoring.md").read_text()
    told = re.findall(r"--set (\S+)", guide)
    done = try_values({}, *(word for one in told for word in ("--set", one)))
    assert done.returncode == 0, done.stderr
    kinds = {one["kind"] for one in yaml.safe_load_all(done.stdout) if one}
    assert kinds >= {"PrometheusRule", "ServiceMonitor"}
    assert "bailiff-dashboard" in done.stdout


def test_namespaces_labels_and_annotations_are_those_of_the_values() -> None:
    objects = render("everything")
    rules = rules_of(objects)["metadata"]
    [dashboard] = [
        one["metadata"] for one in objects if one["metadata"]["name"].endswith("-dashboard")
    ]
    assert (rules["namespace"], dashboard["namespace"]) == ("kube-public", "kube-system")
    assert rules["labels"]["release"] == "prometheus"
    assert rules["annotations"] == {"example.com/note": "alerts"}
    assert dashboard["labels"]["grafana_dashboard"] == "bailiff"
    assert dashboard["annotations"] == {"grafana_folder": "Bailiff"}


def test_a_misspelled_alert_is_told_of() -> None:
    done = try_values({"monitoring": {"rules": {"enabled": True, "disabled": ["BailiffNo"]}}})
    assert done.returncode != 0
    assert "there is no alert BailiffNo" in done.stderr
