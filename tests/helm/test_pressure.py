"""What the chart gives the worker for the pressure mode: nothing without it, no more with it."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
import yaml

from bailiff.decisions.pressure.configuring import read_configuration
from bailiff.decisions.pressure.extensions import PressureExtensions
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from tests.harness.helm.chart import CHART, ROOT, notes, render, the, try_values

pytestmark = pytest.mark.helm

THRESHOLDS = {"evictionHard": {"memory.available": "1Gi"}}
STATS, CONFIGZ = ("nodes/stats", "get"), ("nodes/configz", "get")
PROXY, STATUS = ("nodes/proxy", "get"), ("nodes/status", "patch")


def rendered(**pressure: Any) -> list[dict[str, Any]]:
    return render(values={"worker": {"pressure": {"enabled": True} | pressure}})


def rights(objects: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Of nodes' parts, as the worker's role has them."""
    role = the(objects, "ClusterRole", "worker")
    return {
        (resource, verb)
        for rule in role["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        if resource.startswith("nodes/")
    }


def test_without_the_mode_there_is_nothing_of_it():
    objects = render()
    assert rights(objects) == set()
    assert not any("pressure" in name for name in settings(objects))


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({}, {STATS, CONFIGZ, STATUS}),
        ({"thresholds": {"evictionHard": {"memory.available": "1Gi"}}}, {STATS, STATUS}),
        ({"conditions": False}, {STATS, CONFIGZ}),
        ({"kubelets": {"viaApiServer": "always"}}, {PROXY, STATUS}),
        ({"kubelets": {"viaApiServer": "always"}, "thresholds": THRESHOLDS}, {PROXY, STATUS}),
        ({"kubelets": {"viaApiServer": "where-unreachable"}}, {STATS, CONFIGZ, PROXY, STATUS}),
    ],
    ids=["as it is", "thresholds", "no conditions", "always proxied", "both", "proxied"],
)
def test_each_right_comes_with_what_needs_it(values, wanted):
    assert rights(rendered(**values)) == wanted


def settings(objects: list[dict[str, Any]]) -> dict[str, str]:
    """Environment of the worker's container, by the name in small letters."""
    (container,) = the(objects, "Deployment", "worker")["spec"]["template"]["spec"]["containers"]
    return {one["name"].lower(): one.get("value", "") for one in container["env"]}


def test_values_reach_the_worker():
    found = settings(rendered(nodeSelector={"pool": "spot", "tier": "2"}, interval=30))
    assert found["bailiff_pressure"] == "true"
    assert found["bailiff_pressure_node_selector"] == "pool=spot,tier=2"
    assert found["bailiff_pressure_interval"] == "30"
    assert found["bailiff_kubelet_via_api_server"] == "never"
    assert "bailiff_pressure_config" not in found


def test_thresholds_are_a_configuration_that_is_mounted():
    objects = rendered(thresholds={"evictionHard": {"memory.available": "1Gi"}})
    (made,) = [one for one in objects if one["metadata"]["name"].endswith("worker-pressure")]
    assert "memory.available: 1Gi" in made["data"]["kubelet.yaml"]
    assert settings(objects)["bailiff_pressure_config"] == "/etc/bailiff-pressure/kubelet.yaml"


def checksum(**pressure: Any) -> str | None:
    """Of what the worker's pods read when they start."""
    template = the(rendered(**pressure), "Deployment", "worker")["spec"]["template"]
    told: str | None = (template["metadata"].get("annotations") or {}).get(
        "bailiff.dev/pressure-checksum"
    )
    return told


def test_other_files_are_other_pods():
    one, other = {"extensions": {"coolDown": "30s"}}, {"extensions": {"coolDown": "60s"}}
    assert checksum() is None
    assert checksum(**one) == checksum(**one)
    assert len({checksum(**one), checksum(**other), checksum(thresholds=THRESHOLDS)}) == 3
    assert None not in (checksum(**one), checksum(thresholds=THRESHOLDS))


def properties(section: str) -> set[str]:
    """Names that the chart's schema allows in a part of the worker's pressure mode."""
    return set(schema_of(section)["properties"])


def test_the_schema_knows_each_extension_and_each_field_of_the_configuration():
    of_every_object = {"apiVersion", "kind", "metadata"}
    fields = set(KubeletConfiguration.__struct_encode_fields__) - of_every_object
    assert properties("extensions") == set(PressureExtensions.__struct_encode_fields__)
    assert properties("thresholds") == fields


@pytest.mark.parametrize("thresholds", [{}, {"evictionHard": {"memory.available": "1Gi"}}])
def test_what_no_kubelet_does_is_mounted_beside_them(thresholds):
    objects = rendered(extensions={"coolDown": "30s"}, thresholds=thresholds)
    (made,) = [one for one in objects if one["metadata"]["name"].endswith("worker-pressure")]
    assert made["data"]["extensions.yaml"].strip() == "coolDown: 30s"
    assert ("kubelet.yaml" in made["data"]) is bool(thresholds)
    told = settings(objects)
    assert told["bailiff_pressure_extensions"] == "/etc/bailiff-pressure/extensions.yaml"
    volumes = the(objects, "Deployment", "worker")["spec"]["template"]["spec"]["volumes"]
    (volume,) = [one for one in volumes if one["name"] == "pressure"]
    assert {one["key"] for one in volume["configMap"]["items"]} == set(made["data"])


SIGNAL = "memory.available"
AMOUNTS = ["100Mi", "1.5G", ".5Gi", "5.Gi", "+1", "1e9", "250m", "10%", "2.5%", "1e1%", "0%"]
NO_AMOUNTS = ["", "500Mo", "1Go", "-1Gi", "10 %", "10%%", "%", "1Ki%", "lots", "1e", "100Mi\n"]
PERIODS = ["0", "30s", "1m30s", "1.5h", "100ms"]
NO_PERIODS = ["", "30", "-1s", "soon", "1d", "1m 30s", "30s\n"]


def thresholds(field: str, text: str) -> dict[str, Any]:
    """Of a configuration, with what a soft threshold needs besides."""
    if field == "evictionSoftGracePeriod":
        return {"evictionSoft": {SIGNAL: "1Gi"}, field: {SIGNAL: text}}
    if field == "evictionSoft":
        return {field: {SIGNAL: text}, "evictionSoftGracePeriod": {SIGNAL: "1m"}}
    return {field: {SIGNAL: text}}


CASES = [
    ("evictionHard", AMOUNTS, NO_AMOUNTS),
    ("evictionSoft", AMOUNTS, NO_AMOUNTS),
    ("evictionMinimumReclaim", [*AMOUNTS[:-1], "150%"], NO_AMOUNTS),
    ("evictionSoftGracePeriod", PERIODS, NO_PERIODS),
]


@pytest.mark.parametrize(("field", "right", "wrong"), CASES, ids=[case[0] for case in CASES])
def test_amounts_and_periods_are_checked_before_anything_is_installed(field, right, wrong):
    """What the worker would not start with is refused; nothing is that it would take."""
    found = schema_of("thresholds")["properties"][field]
    for text in right:
        assert matches(found, text), text
        assert not read_configuration(configured(field, text)).errors, text
    for text in wrong:
        assert not matches(found, text), text
        assert read_configuration(configured(field, text)).errors, text


def configured(field: str, text: str) -> KubeletConfiguration:
    return msgspec.convert(thresholds(field, text), KubeletConfiguration)


def schema_of(section: str) -> dict[str, Any]:
    schema = json.loads((CHART / "values.schema.json").read_text())
    worker = schema["properties"]["worker"]["properties"]["pressure"]["properties"]
    found: dict[str, Any] = worker[section]
    return found


def matches(found: dict[str, Any], text: str) -> bool:
    """Whether the schema takes the text for a signal's; as Go has it, `$` is the very end."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    while "$ref" in found or "additionalProperties" in found:
        found = found.get("additionalProperties") or schema["$defs"][found["$ref"].split("/")[-1]]
    return bool(re.search(found["pattern"].replace("$", r"\Z"), text))


@pytest.mark.parametrize(
    "pressure",
    [
        {"thresholds": {"evictionHard": {SIGNAL: "500Mo"}}},
        {"thresholds": {"evictionHard": {SIGNAL: "1Gi\n"}}},
        {"thresholds": {"evictionSoftGracePeriod": {SIGNAL: "90"}}},
        {"thresholds": {"evictionPressureTransitionPeriod": "5"}},
        {"extensions": {"evictionHard": {"swap.available": "10 %"}}},
        {"extensions": {"stopAt": {SIGNAL: "2Go"}}},
    ],
    ids=str,
)
def test_helm_refuses_what_is_none(pressure):
    done = try_values({"worker": {"pressure": {"enabled": True} | pressure}})
    assert done.returncode != 0
    assert "/worker/pressure/" in done.stderr


def test_helm_takes_the_extensions_of_the_guide():
    guide = (ROOT / "docs" / "pressure" / "extensions.md").read_text()
    extensions = yaml.safe_load(guide.partition("```yaml\n")[2].partition("```")[0])
    assert rendered(extensions=extensions)


def test_the_notes_say_nothing_of_pressure_without_it():
    assert "ressure" not in notes({})


@pytest.mark.parametrize(
    ("pressure", "nodes", "whose"),
    [
        ({}, "all; worker.pressure.nodeSelector chooses some", "those of each node's kubelet"),
        (
            {"nodeSelector": {"pool": "spot", "tier": "2"}, "thresholds": THRESHOLDS},
            "those with the labels pool=spot,tier=2\n",
            "worker.pressure.thresholds",
        ),
    ],
    ids=["all nodes", "some nodes"],
)
def test_the_notes_say_what_pressure_does_and_how_to_watch_it(pressure, nodes, whose):
    said = notes({"worker": {"pressure": {"enabled": True} | pressure}})
    assert "the worker also evicts pods where a node runs out" in said
    assert f"\n  nodes: {nodes}" in said
    assert f"\n  thresholds: {whose}\n" in said
    assert ":8081/v1/queue\n" in said


@pytest.mark.parametrize(
    ("worker", "does"),
    [
        ({"extraArgs": ["--dry-run"]}, "only tells whom it would evict where"),
        (
            {"extraEnv": [{"name": "BAILIFF_SHADOW", "value": "$(OTHER)"}]},
            "also evicts pods, if it evicts at all, where",
        ),
    ],
    ids=["dry run", "who knows"],
)
def test_the_notes_do_not_say_that_it_evicts_where_it_may_not(worker, does):
    said = notes({"worker": {"pressure": {"enabled": True}} | worker})
    assert f"Pressure mode is on: the worker {does} a node runs out" in said


def test_the_notes_of_a_worker_that_is_not_installed_say_nothing_of_pressure():
    assert "ressure" not in notes({"worker": {"enabled": False, "pressure": {"enabled": True}}})


def opened_to_kubelets(**kubelets: Any) -> list[int]:
    """Ports that the worker's network policy opens beside those of all workers."""
    values = {"networkPolicy": {"enabled": True}, "worker": {"pressure": {"enabled": False}}}
    of_all = egress(values)
    values["worker"] = {"pressure": {"enabled": True, "kubelets": kubelets}}
    return [port["port"] for rule in egress(values) if rule not in of_all for port in rule["ports"]]


def egress(values: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = the(render(values=values), "NetworkPolicy", "worker")["spec"][
        "egress"
    ]
    return found


@pytest.mark.parametrize(
    ("kubelets", "ports"),
    [
        ({}, [10250]),
        ({"ports": [10250, 10251]}, [10250, 10251]),
        ({"viaApiServer": "always"}, []),
    ],
    ids=str,
)
def test_the_network_policy_opens_the_ports_of_kubelets(kubelets, ports):
    assert opened_to_kubelets(**kubelets) == ports
