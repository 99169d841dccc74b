"""Server-side apply: who owns a field, what goes, what conflicts, how lists merge."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import PatchType, Request
from tests.contract.api import NODES, PODS, STRANGER, Bench, Object, container, uid_of, version_of
from tests.contract.device_objects import RULES, SLICES, device_taint, rule, slice_of

MAPS: k8s.Resource[Object] = k8s.Resource("", "v1", "configmaps", dict)


async def apply(
    bench: Bench, resource: Any, config: Object, manager: str, subresource: str = "", **query: str
) -> Object:
    """Apply a configuration, as a raw request: the answer's object."""
    namespace = bench.namespace if resource.namespaced else ""
    path = resource.path(namespace, config["metadata"]["name"], subresource)
    asked = {"fieldManager": manager} | query
    body = json.dumps(config).encode()
    request = Request("PATCH", path, asked, body, "application/apply-patch+yaml")
    answer: Object = json.loads(await bench.cluster.send(request))
    return answer


def config_map(name: str = "a", **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def pod_config(*containers: Object, **status: Any) -> Object:
    config: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    if containers:
        config["spec"] = {"containers": list(containers)}
    return config | ({"status": status} if status else {})


def owned_by(obj: Object, manager: str, operation: str = "Apply") -> Object:
    """What a manager owns, as FieldsV1."""
    for entry in obj["metadata"]["managedFields"]:
        if (entry["manager"], entry["operation"]) == (manager, operation):
            fields: Object = entry["fieldsV1"]
            return fields
    return {}


async def test_apply_creates(bench: Bench) -> None:
    made = await apply(bench, MAPS, config_map(x="1", y="2"), "one")
    assert made["data"] == {"x": "1", "y": "2"}
    assert owned_by(made, "one") == {"f:data": {"f:x": {}, "f:y": {}}}
    assert "status" not in made


async def test_the_same_again_makes_no_new_version(bench: Bench) -> None:
    made = await apply(bench, MAPS, config_map(x="1"), "one")
    again = await apply(bench, MAPS, config_map(x="1"), "one")
    assert version_of(again) == version_of(made)


async def test_what_is_applied_no_more_goes(bench: Bench) -> None:
    await apply(bench, MAPS, config_map(x="1", y="2"), "one")
    after = await apply(bench, MAPS, config_map(y="2"), "one")
    assert after["data"] == {"y": "2"}


async def test_what_another_owns_too_stays(bench: Bench) -> None:
    await apply(bench, MAPS, config_map(x="1", y="2"), "one")
    await apply(bench, MAPS, config_map(x="1"), "two")
    after = await apply(bench, MAPS, config_map(y="2"), "one")
    assert after["data"] == {"x": "1", "y": "2"}
    assert owned_by(after, "two") == {"f:data": {"f:x": {}}}
    after = await apply(bench, MAPS, config_map(), "two")
    assert after["data"] == {"y": "2"}
    assert owned_by(after, "two") in ({}, {"f:data": {}})


async def test_a_conflict_names_the_manager_and_the_field(bench: Bench) -> None:
    made = await apply(bench, MAPS, config_map(x="1"), "one")
    with pytest.raises(k8s.ConflictError) as caught:
        await apply(bench, MAPS, config_map(x="2", z="3"), "two")
    assert 'Apply failed with 1 conflict: conflict with "one": .data.x' in str(caught.value)
    now = await bench.cluster.get(MAPS, "a", bench.namespace)
    assert version_of(now) == version_of(made)


async def test_the_same_value_is_no_conflict(bench: Bench) -> None:
    await apply(bench, MAPS, config_map(x="1"), "one")
    after = await apply(bench, MAPS, config_map(x="1", z="3"), "two")
    assert after["data"] == {"x": "1", "z": "3"}
    with pytest.raises(k8s.ConflictError, match="2 conflicts"):
        await apply(bench, MAPS, config_map(x="2"), "three")


async def test_force_takes_the_field(bench: Bench) -> None:
    await apply(bench, MAPS, config_map(x="1", y="1"), "one")
    after = await apply(bench, MAPS, config_map(x="2"), "two", force="true")
    assert after["data"] == {"x": "2", "y": "1"}
    assert owned_by(after, "one") == {"f:data": {"f:y": {}}}
    assert owned_by(after, "two") == {"f:data": {"f:x": {}}}


async def test_writers_by_other_verbs_own_what_they_wrote(bench: Bench) -> None:
    cluster, namespace = bench.cluster, bench.namespace
    await apply(bench, MAPS, config_map(x="1", y="1"), "one")
    patched = await cluster.patch(
        MAPS, "a", namespace, {"data": {"x": "2"}}, patch_type=PatchType.MERGE, field_manager="two"
    )
    assert owned_by(patched, "one") == {"f:data": {"f:y": {}}}
    assert owned_by(patched, "two", "Update") == {"f:data": {"f:x": {}}}
    with pytest.raises(k8s.ConflictError, match=r'conflict with "two" using v1: \.data\.x'):
        await apply(bench, MAPS, config_map(x="1", y="1"), "one")
    forced = await apply(bench, MAPS, config_map(x="1", y="1"), "one", force="true")
    assert owned_by(forced, "two", "Update") == {}


async def test_a_creator_owns_what_it_made(bench: Bench) -> None:
    await bench.cluster.create(MAPS, config_map(x="1"), bench.namespace)
    with pytest.raises(k8s.ConflictError):
        await apply(bench, MAPS, config_map(x="2"), "one")


async def test_a_dry_run_of_an_apply_writes_nothing(bench: Bench) -> None:
    tried = await apply(bench, MAPS, config_map(x="1"), "one", dryRun="All")
    assert tried["data"] == {"x": "1"}
    with pytest.raises(k8s.NotFoundError):
        await bench.cluster.get(MAPS, "a", bench.namespace)
    made = await apply(bench, MAPS, config_map(x="1"), "one")
    tried = await apply(bench, MAPS, config_map(x="2"), "one", dryRun="All")
    assert tried["data"] == {"x": "2"}
    now = await bench.cluster.get(MAPS, "a", bench.namespace)
    assert now["data"] == {"x": "1"}
    assert version_of(now) == version_of(made)


async def test_containers_and_ports_merge_by_their_keys(bench: Bench) -> None:
    first = container() | {"ports": [{"containerPort": 80, "name": "web"}]}
    await apply(bench, PODS, pod_config(first, container() | {"name": "side"}), "one")
    other = {"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}], "image": "other"}
    with pytest.raises(k8s.ConflictError) as caught:
        await apply(bench, PODS, pod_config(other), "two")
    assert '.spec.containers[name="main"].image' in str(caught.value)
    labels = {"metadata": {"name": "a", "labels": {"x": "y"}}}
    image = {"name": "main", "image": "newer"}
    after = await apply(bench, PODS, pod_config(image) | labels, "two", force="true")
    assert [(c["name"], c["image"]) for c in after["spec"]["containers"]] == [
        ("main", "newer"),
        ("side", container()["image"]),
    ]
    assert after["spec"]["containers"][0]["ports"][0]["name"] == "web"
    assert after["metadata"]["labels"] == {"x": "y"}


async def test_conditions_are_applied_to_the_status_by_type(bench: Bench) -> None:
    pod = await bench.pod("a")
    await bench.set_status(pod, conditions=[{"type": "Ready", "status": "True"}])
    mine = {"type": "X", "status": "True", "reason": "Y"}
    config = pod_config(container() | {"image": "ignored"}, conditions=[mine])
    after = await apply(bench, PODS, config, "one", "status")
    found = {c["type"]: c["status"] for c in after["status"]["conditions"]}
    assert found == {"Ready": "True", "X": "True"}
    assert after["spec"] == pod["spec"]
    (entry,) = [e for e in after["metadata"]["managedFields"] if e["manager"] == "one"]
    assert entry["subresource"] == "status"
    condition: Object = {".": {}, "f:type": {}, "f:status": {}, "f:reason": {}}
    keyed = {'k:{"type":"X"}': condition}
    assert entry["fieldsV1"] == {"f:status": {"f:conditions": keyed}}
    after = await apply(bench, PODS, pod_config(phase="Pending"), "one", "status")
    assert [c["type"] for c in after["status"]["conditions"]] == ["Ready"]


async def test_the_status_is_not_applied_with_the_object(bench: Bench) -> None:
    config = pod_config(container(), phase="Running")
    made = await apply(bench, PODS, config, "one")
    assert made["status"]["phase"] == "Pending"
    assert "f:status" not in owned_by(made, "one")


async def test_the_taints_of_a_node_are_applied_as_a_whole(bench: Bench) -> None:
    node = await bench.node()
    first = {"key": "a", "effect": "NoSchedule"}
    config = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}
    config["spec"] = {"taints": [first]}
    after = await apply(bench, NODES, config, "one", force="true")
    assert after["spec"]["taints"] == [first]
    config["spec"] = {"taints": [{"key": "b", "effect": "NoSchedule"}]}
    with pytest.raises(k8s.ConflictError, match=r'conflict with "one": \.spec\.taints'):
        await apply(bench, NODES, config, "two")
    after = await apply(bench, NODES, {**config, "spec": {}}, "one")
    assert "taints" not in after["spec"]


@pytest.fixture
async def name(bench: Bench) -> AsyncIterator[str]:
    name = f"device-{secrets.token_hex(4)}"
    yield name
    for resource in (SLICES, RULES):
        with suppress(k8s.NotFoundError):
            await bench.cluster.delete(resource, name, "")


async def test_devices_are_applied_as_a_whole(bench: Bench, name: str) -> None:
    made = await apply(bench, SLICES, slice_of(name, device_taint()), "driver")
    assert made["spec"]["devices"][0]["taints"][0]["timeAdded"]
    spec = owned_by(made, "driver")["f:spec"]
    assert spec["f:devices"] == {}
    assert set(spec["f:pool"]) == {"f:name", "f:generation", "f:resourceSliceCount"}


async def test_a_condition_of_a_rule_is_applied(bench: Bench, name: str) -> None:
    await apply(bench, RULES, rule(name, driver="a.example.com"), "admin")
    condition = {
        "type": "EvictionInProgress",
        "status": "True",
        "reason": "PodsPendingEviction",
        "message": "1 pod",
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    }
    config = {k: v for k, v in rule(name).items() if k != "spec"}
    config["status"] = {"conditions": [condition]}
    for _ in range(2):
        after = await apply(bench, RULES, config, "worker", "status", force="true")
        assert after["status"]["conditions"] == [condition]
    assert after["spec"]["deviceSelector"] == {"driver": "a.example.com"}
    assert after["metadata"]["generation"] == 1
    condition["status"] = "False"
    after = await apply(bench, RULES, config, "worker", "status")
    assert after["status"]["conditions"] == [condition]


async def test_a_uid_is_a_precondition(bench: Bench) -> None:
    made = await apply(bench, MAPS, config_map(x="1"), "one")
    config = config_map(x="2")
    config["metadata"]["uid"] = STRANGER
    with pytest.raises(k8s.UidMismatchError):
        await apply(bench, MAPS, config, "one")
    config["metadata"]["name"] = "b"
    with pytest.raises(k8s.ConflictError, match="no existing object was found"):
        await apply(bench, MAPS, config, "one")
    config["metadata"] = {"name": "a", "uid": uid_of(made)}
    assert (await apply(bench, MAPS, config, "one"))["data"] == {"x": "2"}


async def test_a_version_is_a_precondition(bench: Bench) -> None:
    made = await apply(bench, MAPS, config_map(x="1"), "one")
    await apply(bench, MAPS, config_map(x="2"), "one")
    config = config_map(x="3")
    config["metadata"]["resourceVersion"] = version_of(made)
    with pytest.raises(k8s.ConflictError, match="has been modified"):
        await apply(bench, MAPS, config, "one")


@pytest.mark.parametrize(
    ("error", "change", "query"),
    [
        (k8s.InvalidError, {}, {"fieldManager": ""}),
        (k8s.InvalidError, {}, {"fieldManager": "x" * 129}),
        (k8s.BadRequestError, {"metadata": {"name": "a", "managedFields": [{}]}}, {}),
        (k8s.BadRequestError, {"kind": ""}, {}),
        (k8s.BadRequestError, {"kind": "Secret"}, {}),
        (k8s.InvalidError, {"metadata": {"name": "a", "labels": {"a": "!"}}}, {}),
    ],
)
async def test_an_apply_that_is_refused(
    bench: Bench, error: type[k8s.StatusError], change: Object, query: dict[str, str]
) -> None:
    with pytest.raises(error):
        await apply(bench, MAPS, config_map(x="1") | change, "one", **query)


async def test_the_status_of_what_is_not_there_is_not_found(bench: Bench) -> None:
    with pytest.raises(k8s.NotFoundError):
        await apply(bench, PODS, pod_config(phase="Running"), "one", "status")


async def test_force_is_for_apply_only(bench: Bench) -> None:
    await bench.cluster.create(MAPS, config_map(x="1"), bench.namespace)
    path = MAPS.path(bench.namespace, "a")
    request = Request("PATCH", path, {"force": "true"}, b"{}", PatchType.MERGE)
    with pytest.raises(k8s.InvalidError):
        await bench.cluster.send(request)


async def test_a_configuration_may_be_yaml(bench: Bench) -> None:
    text = b'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "2020-01-01"\n'
    path = MAPS.path(bench.namespace, "a")
    query = {"fieldManager": "one"}
    request = Request("PATCH", path, query, text, "application/apply-patch+yaml")
    made = json.loads(await bench.cluster.send(request))
    assert made["data"] == {"x": "2020-01-01"}
    for broken in (b"{a: b: c", b"- a\n"):
        request = Request("PATCH", path, query, broken, "application/apply-patch+yaml")
        with pytest.raises(k8s.BadRequestError):
            await bench.cluster.send(request)


async def test_managed_fields_can_be_reset(bench: Bench) -> None:
    await apply(bench, MAPS, config_map(x="1"), "one")
    patch: Object = {"metadata": {"managedFields": [{}]}}
    merge = PatchType.MERGE
    after = await bench.cluster.patch(MAPS, "a", bench.namespace, patch, patch_type=merge)
    assert "managedFields" not in after["metadata"]
    with pytest.raises(k8s.ConflictError, match='conflict with "before-first-apply" using v1'):
        await apply(bench, MAPS, config_map(x="2"), "two")
