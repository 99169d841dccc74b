"""resource.k8s.io: defaults, what is refused, selection, status, versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import PatchType, Request
from tests.harness.api import Bench, name_of, uid_of
from tests.harness.device_objects import (
    CLAIMS,
    DRIVER,
    OLD_SLICES,
    RULES,
    RULES_VERSION,
    SLICES,
    allocation,
    claim,
    device_taint,
    names,
    rule,
    slice_of,
    write_claim,
)
from tests.harness.objects import Object

pytestmark = pytest.mark.parity

CLASS_TO_SLICE = {
    "deviceclasses",
    "resourceclaims",
    "resourceclaims/status",
    "resourceclaimtemplates",
    "resourceslices",
}
TAINT_RULES = {"devicetaintrules", "devicetaintrules/status"}
LONG_AGO = "2020-01-01T00:00:00Z"


def first_taint(obj: Object) -> Object:
    taint: Object = obj["spec"]["devices"][0]["taints"][0]
    return taint


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("v1", CLASS_TO_SLICE | (TAINT_RULES if RULES_VERSION == "v1" else set())),
        ("v1beta2", CLASS_TO_SLICE | TAINT_RULES),
    ],
)
async def test_what_is_served(bench: Bench, version: str, expected: set[str]) -> None:
    path = f"/apis/resource.k8s.io/{version}"
    found = json.loads(await bench.cluster.send(Request("GET", path)))
    assert {one["name"] for one in found["resources"]} == expected
    scopes = {one["name"]: one["namespaced"] for one in found["resources"]}
    assert {name for name, namespaced in scopes.items() if namespaced} == {
        "resourceclaims",
        "resourceclaims/status",
        "resourceclaimtemplates",
    }


async def test_v1_is_preferred(bench: Bench) -> None:
    found = json.loads(await bench.cluster.send(Request("GET", "/apis/resource.k8s.io")))
    assert [one["version"] for one in found["versions"]] == ["v1", "v1beta2"]
    assert found["preferredVersion"]["version"] == "v1"


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


async def row_of(bench: Bench, path: str, name: str) -> dict[str, Any]:
    """What `kubectl get` shows of an object."""
    request = Request("GET", path, {"fieldSelector": f"metadata.name={name}"}, accept=TABLE)
    table = json.loads(await bench.cluster.send(request))
    (row,) = table["rows"]
    heads = [column["name"] for column in table["columnDefinitions"]]
    return dict(zip(heads, row["cells"], strict=True))


async def test_what_kubectl_shows(bench: Bench, name: str) -> None:
    cluster, namespace = bench.cluster, bench.namespace
    await cluster.create(SLICES, slice_of(name), "")
    row = await row_of(bench, SLICES.path(""), name)
    age = row["Age"]
    shown = {"Name": name, "Node": name, "Driver": DRIVER, "Pool": name, "Age": age}
    assert list(row.items()) == list(shown.items())
    body = rule(name, "None")
    body["spec"]["taint"]["timeAdded"] = "2100-01-01T00:00:00Z"
    await cluster.create(RULES, body, "")
    row = await row_of(bench, RULES.path(""), name)
    assert list(row) == ["Name", "Key", "Value", "Effect", "TimeAdded", "Age"]
    assert list(row.values())[:5] == [name, "example.com/broken", "yes", "None", "<invalid>"]
    await cluster.create(CLAIMS, claim(), namespace)
    states = []
    consumer = {"resource": "pods", "name": "a", "uid": "1"}
    for status in ({}, {"allocation": allocation("pool")}, {"reservedFor": [consumer]}):
        await write_claim(bench, "gpu", **status)
        row = await row_of(bench, CLAIMS.path(namespace), "gpu")
        assert list(row) == ["Name", "State", "Age"]
        states.append(row["State"])
    assert states == ["pending", "allocated", "allocated,reserved"]


async def test_a_taint_of_a_slice_gets_the_time(bench: Bench, name: str) -> None:
    body = slice_of(name, device_taint(), device_taint(timeAdded=LONG_AGO))
    made = await bench.cluster.create(SLICES, body, "")
    first, second = made["spec"]["devices"][0]["taints"]
    assert first["timeAdded"] > LONG_AGO
    assert second["timeAdded"] == LONG_AGO
    assert made["metadata"]["generation"] == 1


async def test_a_slice_is_tainted_later(bench: Bench, name: str) -> None:
    cluster = bench.cluster
    made = await cluster.create(SLICES, slice_of(name), "")
    path = "/spec/devices/0/taints"
    add = [{"op": "add", "path": path, "value": [device_taint()]}]
    tainted = await cluster.patch(SLICES, name, "", add, patch_type=PatchType.JSON)
    assert first_taint(tainted)["timeAdded"] >= made["metadata"]["creationTimestamp"]
    assert tainted["metadata"]["generation"] == 2
    again = await cluster.patch(SLICES, name, "", {"metadata": {"labels": {"a": "b"}}})
    assert first_taint(again) == first_taint(tainted)
    assert again["metadata"]["generation"] == 2


async def test_slices_are_selected_by_node_and_driver(bench: Bench, name: str) -> None:
    await bench.cluster.create(SLICES, slice_of(name), "")
    for selector, there in (
        (f"spec.nodeName={name}", True),
        (f"spec.nodeName={name},spec.driver={DRIVER}", True),
        (f"spec.nodeName={name},spec.driver=other.example.com", False),
        (f"metadata.name={name}", True),
    ):
        listing = await bench.cluster.list(SLICES, field_selector=selector)
        assert [name_of(one) for one in listing.items] == ([name] if there else []), selector
    with pytest.raises(k8s.BadRequestError):
        await bench.cluster.list(SLICES, field_selector="spec.allNodes=true")


async def test_both_versions_show_the_same_slice(bench: Bench, name: str) -> None:
    new = await bench.cluster.create(SLICES, slice_of(name, device_taint()), "")
    old = await bench.cluster.get(OLD_SLICES, name)
    assert old["apiVersion"] == "resource.k8s.io/v1beta2"
    assert old["spec"] == new["spec"]
    assert uid_of(old) == uid_of(new)
    listing = await bench.cluster.list(OLD_SLICES, field_selector=f"metadata.name={name}")
    assert [one["spec"] for one in listing.items] == [new["spec"]]
    await bench.cluster.delete(OLD_SLICES, name, "")
    with pytest.raises(k8s.NotFoundError):
        await bench.cluster.get(SLICES, name)


BAD_SLICES: list[tuple[str, Object]] = [
    ("spec.driver", {"driver": ""}),
    ("spec.driver", {"driver": "no/slash"}),
    ("spec.pool.resourceSliceCount", {"pool": {"name": "p", "generation": 1}}),
    ("spec", {"nodeName": None}),
    ("spec", {"allNodes": True}),
    ("spec.devices[1]", {"devices": [{"name": "a"}, {"name": "a"}]}),
    ("spec.devices[0].name", {"devices": [{"name": "A"}]}),
    (
        "spec.devices[0].taints[0].effect",
        {"devices": [{"name": "a", "taints": [device_taint("PreferNoSchedule")]}]},
    ),
    (
        "spec.devices[0].taints[0].key",
        {"devices": [{"name": "a", "taints": [{"effect": "None"}]}]},
    ),
    ("spec.devices", {"devices": [{"name": f"d{i}"} for i in range(129)]}),
]


@pytest.mark.parametrize(("field", "spec"), BAD_SLICES)
async def test_a_slice_that_is_refused(bench: Bench, name: str, field: str, spec: Object) -> None:
    with pytest.raises(k8s.InvalidError) as caught:
        await bench.cluster.create(SLICES, slice_of(name, **spec), "")
    assert names(caught.value, field)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("spec.driver", {"driver": "other.example.com"}),
        ("spec.pool.name", {"pool": {"name": "other"}}),
        ("spec.nodeName", {"nodeName": "other"}),
    ],
)
async def test_whose_and_where_devices_are_is_fixed(
    bench: Bench, name: str, field: str, change: Object
) -> None:
    await bench.cluster.create(SLICES, slice_of(name), "")
    with pytest.raises(k8s.InvalidError) as caught:
        await bench.cluster.patch(SLICES, name, "", {"spec": change}, patch_type=PatchType.MERGE)
    assert names(caught.value, field)


async def test_a_rule_gets_its_time_and_anew_with_another_effect(bench: Bench, name: str) -> None:
    cluster = bench.cluster
    body = rule(name, "None", driver=DRIVER)
    body["spec"]["taint"]["timeAdded"] = LONG_AGO
    made = await cluster.create(RULES, body, "")
    assert made["spec"]["taint"]["timeAdded"] == LONG_AGO
    assert not made.get("status")
    change = {"spec": {"taint": {"effect": "NoExecute"}}}
    after = await cluster.patch(RULES, name, "", change, patch_type=PatchType.MERGE)
    assert after["spec"]["taint"]["timeAdded"] >= made["metadata"]["creationTimestamp"]
    assert (made["metadata"]["generation"], after["metadata"]["generation"]) == (1, 2)


async def test_a_rule_has_a_status(bench: Bench, name: str) -> None:
    cluster = bench.cluster
    made = await cluster.create(RULES, rule(name), "")
    condition = {
        "type": "EvictionInProgress",
        "status": "True",
        "reason": "PodsPendingEviction",
        "message": "2 pods need to be evicted",
        "lastTransitionTime": LONG_AGO,
        "observedGeneration": 1,
    }
    body = {
        "metadata": {"labels": {"not": "written"}},
        "spec": {"taint": {"key": "other"}},
        "status": {"conditions": [condition]},
    }
    merge = PatchType.MERGE
    after = await cluster.patch(RULES, name, "", body, patch_type=merge, subresource="status")
    assert after["status"]["conditions"] == [condition]
    assert after["spec"] == made["spec"]
    assert "labels" not in after["metadata"]
    assert after["metadata"]["generation"] == 1
    del condition["reason"]
    with pytest.raises(k8s.InvalidError):
        await cluster.patch(RULES, name, "", body, patch_type=merge, subresource="status")


@pytest.mark.parametrize(
    "spec",
    [
        {"taint": {"key": "a"}},
        {"taint": {"effect": "NoExecute"}},
        {"taint": {"key": "a", "effect": "Never"}},
        {"taint": device_taint(), "deviceSelector": {"driver": ""}},
        {"taint": device_taint(), "deviceSelector": {"device": "A"}},
    ],
)
async def test_a_rule_that_is_refused(bench: Bench, name: str, spec: Object) -> None:
    with pytest.raises(k8s.InvalidError):
        await bench.cluster.create(RULES, rule(name) | {"spec": spec}, "")
