"""Server-side apply: who owns a field, what goes, how lists merge.

The demo cluster knows no conflicts: whatever would be one is applied with `force`.
"""

from __future__ import annotations

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import PatchType
from tests.harness.api import NODES, PODS, Bench, version_of
from tests.harness.applying import MAPS, apply, owned_by, pod_config
from tests.harness.device_objects import RULES, SLICES, device_taint, rule, slice_of
from tests.harness.objects import Object, config_map, container, object_of

pytestmark = pytest.mark.parity


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


async def test_the_same_value_has_two_owners(bench: Bench) -> None:
    await apply(bench, MAPS, config_map(x="1"), "one")
    after = await apply(bench, MAPS, config_map(x="1", z="3"), "two")
    assert after["data"] == {"x": "1", "z": "3"}
    for manager in ("one", "two"):
        assert "f:x" in owned_by(after, manager)["f:data"]


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
    forced = await apply(bench, MAPS, config_map(x="1", y="1"), "one", force="true")
    assert owned_by(forced, "two", "Update") == {}


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
    labels = {"metadata": {"name": "a", "labels": {"x": "y"}}}
    image = {"name": "main", "image": "newer", "ports": [{"containerPort": 80}]}
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
    config = object_of("Node", node)
    config["spec"] = {"taints": [first]}
    after = await apply(bench, NODES, config, "one", force="true")
    assert after["spec"]["taints"] == [first]
    config["spec"] = {"taints": [{"key": "b", "effect": "NoSchedule"}]}
    after = await apply(bench, NODES, config, "two", force="true")
    assert [taint["key"] for taint in after["spec"]["taints"]] == ["b"]
    after = await apply(bench, NODES, {**config, "spec": {}}, "two")
    assert "taints" not in after["spec"]


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
