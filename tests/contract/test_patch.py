"""Patching: the three kinds of patch, subresources, and the guards by UID and version."""

from __future__ import annotations

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import PatchType, Request
from tests.harness.api import PODS, STRANGER, Bench, uid_of, version_of
from tests.harness.objects import Object, condition, taint

pytestmark = pytest.mark.parity


def conditions_of(pod: Object) -> dict[str, str]:
    return {one["type"]: one["status"] for one in pod["status"].get("conditions", [])}


async def test_a_strategic_patch_merges_conditions_by_type(bench: Bench) -> None:
    pod = await bench.pod("a")
    await bench.set_status(pod, conditions=[condition("Ready", "False", reason="Old")])
    await bench.set_status(pod, conditions=[condition("DisruptionTarget")])
    await bench.set_status(pod, conditions=[condition("Ready", "True")])
    now = await bench.get("a")
    assert conditions_of(now) == {"Ready": "True", "DisruptionTarget": "True"}
    assert {c["type"]: c.get("reason") for c in now["status"]["conditions"]}["Ready"] == "Old"


async def test_a_merge_patch_replaces_the_list(bench: Bench) -> None:
    pod = await bench.pod("a")
    await bench.set_status(pod, conditions=[condition("Ready"), condition("Initialized")])
    await bench.cluster.patch(
        PODS,
        "a",
        bench.namespace,
        {"status": {"conditions": [condition("DisruptionTarget")]}},
        patch_type=PatchType.MERGE,
        subresource="status",
    )
    assert conditions_of(await bench.get("a")) == {"DisruptionTarget": "True"}


async def test_a_json_patch_is_applied(bench: Bench) -> None:
    await bench.pod("a", labels={"app": "web"})
    patch = [
        {"op": "test", "path": "/metadata/labels/app", "value": "web"},
        {"op": "replace", "path": "/metadata/labels/app", "value": "db"},
    ]
    await bench.cluster.patch(PODS, "a", bench.namespace, patch, patch_type=PatchType.JSON)
    assert (await bench.get("a"))["metadata"]["labels"] == {"app": "db"}


async def test_status_and_spec_are_apart(bench: Bench) -> None:
    pod = await bench.pod("a", tolerations=[{"key": "k", "operator": "Exists"}])
    both: Object = {
        "spec": {"activeDeadlineSeconds": 5},
        "status": {"phase": "Running"},
    }
    after = await bench.cluster.patch(PODS, "a", bench.namespace, both, subresource="status")
    assert (after["status"]["phase"], after["spec"]) == ("Running", pod["spec"])
    both["status"]["phase"] = "Failed"
    after = await bench.cluster.patch(PODS, "a", bench.namespace, both)
    assert after["status"]["phase"] == "Running"
    assert after["spec"]["activeDeadlineSeconds"] == 5


async def test_a_patch_that_changes_nothing_makes_no_new_version(bench: Bench) -> None:
    pod = await bench.pod("a")
    once = await bench.set_status(pod, conditions=[condition("DisruptionTarget")])
    twice = await bench.set_status(pod, conditions=[condition("DisruptionTarget")])
    assert version_of(pod) != version_of(once) == version_of(twice)


async def test_a_node_is_tainted_and_untainted(bench: Bench) -> None:
    node = await bench.node()
    await bench.taint(node, taint("a"), taint("b", "v", "NoSchedule"))
    tainted = await bench.cluster.get(k8s.NODES, node)
    assert {(t.key, t.value, t.effect) for t in tainted.spec.taints} == {
        ("a", "", "NoExecute"),
        ("b", "v", "NoSchedule"),
    }
    await bench.taint(node)
    assert (await bench.cluster.get(k8s.NODES, node)).spec.taints == ()


async def test_a_node_with_the_same_taint_twice_is_invalid(bench: Bench) -> None:
    node = await bench.node()
    with pytest.raises(k8s.InvalidError):
        await bench.taint(node, taint("a", "1"), taint("a", "2"))


@pytest.mark.parametrize("patch_type", [PatchType.STRATEGIC, PatchType.MERGE])
@pytest.mark.parametrize("subresource", ["status", ""])
async def test_a_patch_with_another_uid_touches_nothing(
    bench: Bench, patch_type: PatchType, subresource: str
) -> None:
    pod = await bench.pod("a")
    body = {"metadata": {"uid": STRANGER, "labels": {"x": "y"}}, "status": {"phase": "Running"}}
    with pytest.raises(k8s.UidMismatchError) as caught:
        await bench.cluster.patch(
            PODS, "a", bench.namespace, body, patch_type=patch_type, subresource=subresource
        )
    assert (caught.value.status, caught.value.reason) == (422, "Invalid")
    assert version_of(await bench.get("a")) == version_of(pod)


async def test_a_patch_with_its_own_uid_is_applied(bench: Bench) -> None:
    pod = await bench.pod("a")
    body = {"metadata": {"uid": uid_of(pod)}, "status": {"conditions": [condition("X")]}}
    after = await bench.cluster.patch(
        k8s.PODS, "a", bench.namespace, body, subresource="status", field_manager="bailiff"
    )
    assert [one.type for one in after.status.conditions] == ["X"]


async def test_a_patch_of_an_old_version_is_a_conflict(bench: Bench) -> None:
    pod = await bench.pod("a")
    await bench.set_status(pod, phase="Running")
    body = {"metadata": {"resourceVersion": version_of(pod)}, "status": {"phase": "Failed"}}
    with pytest.raises(k8s.ConflictError) as caught:
        await bench.cluster.patch(PODS, "a", bench.namespace, body, subresource="status")
    assert not isinstance(caught.value, k8s.UidMismatchError)
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")


async def test_a_patch_of_what_is_not_there_is_not_found(bench: Bench) -> None:
    with pytest.raises(k8s.NotFoundError):
        await bench.cluster.patch(PODS, "a", bench.namespace, {}, subresource="status")


async def test_a_patch_that_is_no_json_is_a_bad_request(bench: Bench) -> None:
    await bench.pod("a")
    with pytest.raises(k8s.BadRequestError):
        await bench.cluster.patch(PODS, "a", bench.namespace, b"{")


async def test_an_unknown_kind_of_patch_is_refused(bench: Bench) -> None:
    await bench.pod("a")
    path = PODS.path(bench.namespace, "a")
    with pytest.raises(k8s.StatusError) as caught:
        await bench.cluster.send(Request("PATCH", path, {}, b"{}", "application/x-none"))
    assert caught.value.status == 415
