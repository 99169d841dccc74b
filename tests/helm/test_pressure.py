"""What the chart gives the worker for the pressure mode: nothing without it, no more with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bailiff.decisions.pressure.extensions import PressureExtensions
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from tests.harness.helm.chart import CHART, render, the

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
        ({"kubelets": {"viaApiServer": "always"}}, {STATS, CONFIGZ, PROXY, STATUS}),
        ({"kubelets": {"viaApiServer": "where-unreachable"}}, {STATS, CONFIGZ, PROXY, STATUS}),
    ],
    ids=["as it is", "thresholds", "no conditions", "always proxied", "proxied"],
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
    schema = json.loads((CHART / "values.schema.json").read_text())
    worker = schema["properties"]["worker"]["properties"]["pressure"]["properties"]
    return set(worker[section]["properties"])


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
