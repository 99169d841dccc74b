"""Writing: create, patch and delete, with their guards."""

from __future__ import annotations

from datetime import timedelta

import pytest
from bailiff import cluster as k8s
from bailiff.cluster import EVENTS, PatchType, Request

from tests.contract.api import (
    BUDGETS,
    NODES,
    PODS,
    Bench,
    Object,
    name_of,
    taint,
    uid_of,
    version_of,
)

STRANGER = "00000000-0000-0000-0000-000000000000"


def condition(kind: str, status: str = "True", **more: str) -> Object:
    return {"type": kind, "status": status} | more


def conditions_of(pod: Object) -> dict[str, str]:
    return {one["type"]: one["status"] for one in pod["status"].get("conditions", [])}


# --- create


async def test_create_gives_identity(bench: Bench):
    pod = await bench.pod("a")
    assert uid_of(pod) and int(version_of(pod)) > 0 and pod["metadata"]["creationTimestamp"]
    assert (pod["kind"], pod["apiVersion"], pod["status"]["phase"]) == ("Pod", "v1", "Pending")


async def test_a_name_can_be_generated(bench: Bench):
    body = {"metadata": {"generateName": "a-"}, "spec": {"containers": [_container()]}}
    names = {name_of(await bench.cluster.create(PODS, body, bench.namespace)) for _ in range(2)}
    assert len(names) == 2
    assert all(name.startswith("a-") and len(name) > 2 for name in names)


async def test_a_second_of_the_same_name_already_exists(bench: Bench):
    await bench.pod("a")
    with pytest.raises(k8s.AlreadyExistsError) as caught:
        await bench.pod("a")
    assert (caught.value.status, caught.value.reason) == (409, "AlreadyExists")


async def test_nothing_can_be_created_in_a_namespace_that_is_not_there(bench: Bench):
    with pytest.raises(k8s.NotFoundError):
        await bench.cluster.create(
            PODS, {"metadata": {"name": "a"}, "spec": {"containers": [_container()]}}, "no-such"
        )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"metadata": {"name": "Not_A_Name"}}, "metadata.name"),
        ({"spec": {"containers": []}}, "spec.containers"),
        (
            {"spec": {"containers": [{"name": "a", "image": "i"}], "tolerations": [{"key": "k"}]}},
            "spec.tolerations[0].operator",
        ),
    ],
)
async def test_an_object_that_breaks_a_rule_is_invalid_and_says_where(
    bench: Bench, change: Object, field: str
):
    body = {"metadata": {"name": "a"}, "spec": {"containers": [_container()]}} | change
    with pytest.raises(k8s.InvalidError) as caught:
        await bench.cluster.create(PODS, body, bench.namespace)
    assert (caught.value.status, caught.value.reason) == (422, "Invalid")
    assert field in {cause["field"] for cause in caught.value.details["causes"]}


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"kind":"Node","apiVersion":"v1"}', b'{"spec":{"nodeName":1}}']
)
async def test_a_body_that_is_no_such_object_is_a_bad_request(bench: Bench, body: bytes):
    with pytest.raises(k8s.BadRequestError):
        await bench.cluster.create(PODS, body, bench.namespace)


async def test_an_event_is_recorded_and_found_by_its_object(bench: Bench):
    pod = await bench.pod("a")
    body = {
        "metadata": {"generateName": "a."},
        "involvedObject": {"kind": "Pod", "namespace": bench.namespace, "name": "a"}
        | {"uid": uid_of(pod), "apiVersion": "v1"},
        "reason": "TaintManagerEviction",
        "message": "Marking for deletion",
        "type": "Normal",
        "source": {"component": "bailiff"},
    }
    await bench.cluster.create(EVENTS, body, bench.namespace)
    about = f"involvedObject.name=a,involvedObject.uid={uid_of(pod)}"
    found = await bench.cluster.list(EVENTS, namespace=bench.namespace, field_selector=about)
    assert [event["reason"] for event in found.items] == ["TaintManagerEviction"]


async def test_an_event_must_stand_in_the_namespace_of_its_object(bench: Bench):
    body = {
        "metadata": {"generateName": "a."},
        "involvedObject": {"kind": "Pod", "namespace": "elsewhere", "name": "a"},
    }
    with pytest.raises(k8s.InvalidError):
        await bench.cluster.create(EVENTS, body, bench.namespace)


# --- patch


async def test_a_strategic_patch_merges_conditions_by_type(bench: Bench):
    pod = await bench.pod("a")
    await bench.set_status(pod, conditions=[condition("Ready", "False", reason="Old")])
    await bench.set_status(pod, conditions=[condition("DisruptionTarget")])
    await bench.set_status(pod, conditions=[condition("Ready", "True")])
    now = await bench.get("a")
    assert conditions_of(now) == {"Ready": "True", "DisruptionTarget": "True"}
    assert {c["type"]: c.get("reason") for c in now["status"]["conditions"]}["Ready"] == "Old"


async def test_a_merge_patch_replaces_the_list(bench: Bench):
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


async def test_a_json_patch_is_applied(bench: Bench):
    await bench.pod("a", labels={"app": "web"})
    patch = [
        {"op": "test", "path": "/metadata/labels/app", "value": "web"},
        {"op": "replace", "path": "/metadata/labels/app", "value": "db"},
    ]
    await bench.cluster.patch(PODS, "a", bench.namespace, patch, patch_type=PatchType.JSON)
    assert (await bench.get("a"))["metadata"]["labels"] == {"app": "db"}


async def test_status_and_spec_are_apart(bench: Bench):
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


async def test_a_patch_that_changes_nothing_makes_no_new_version(bench: Bench):
    pod = await bench.pod("a")
    once = await bench.set_status(pod, conditions=[condition("DisruptionTarget")])
    twice = await bench.set_status(pod, conditions=[condition("DisruptionTarget")])
    assert version_of(pod) != version_of(once) == version_of(twice)


async def test_a_node_is_tainted_and_untainted(bench: Bench):
    node = await bench.node()
    await bench.taint(node, taint("a"), taint("b", "v", "NoSchedule"))
    tainted = await bench.cluster.get(k8s.NODES, node)
    assert {(t.key, t.value, t.effect) for t in tainted.spec.taints} == {
        ("a", "", "NoExecute"),
        ("b", "v", "NoSchedule"),
    }
    await bench.taint(node)
    assert (await bench.cluster.get(k8s.NODES, node)).spec.taints == ()


async def test_a_node_with_the_same_taint_twice_is_invalid(bench: Bench):
    node = await bench.node()
    with pytest.raises(k8s.InvalidError):
        await bench.taint(node, taint("a", "1"), taint("a", "2"))


@pytest.mark.parametrize("patch_type", [PatchType.STRATEGIC, PatchType.MERGE])
@pytest.mark.parametrize("subresource", ["status", ""])
async def test_a_patch_with_another_uid_touches_nothing(
    bench: Bench, patch_type: PatchType, subresource: str
):
    pod = await bench.pod("a")
    body = {"metadata": {"uid": STRANGER, "labels": {"x": "y"}}, "status": {"phase": "Running"}}
    with pytest.raises(k8s.UidMismatchError) as caught:
        await bench.cluster.patch(
            PODS, "a", bench.namespace, body, patch_type=patch_type, subresource=subresource
        )
    assert (caught.value.status, caught.value.reason) == (422, "Invalid")
    assert version_of(await bench.get("a")) == version_of(pod)


async def test_a_patch_with_its_own_uid_is_applied(bench: Bench):
    pod = await bench.pod("a")
    body = {"metadata": {"uid": uid_of(pod)}, "status": {"conditions": [condition("X")]}}
    after = await bench.cluster.patch(
        k8s.PODS, "a", bench.namespace, body, subresource="status", field_manager="bailiff"
    )
    assert [one.type for one in after.status.conditions] == ["X"]


async def test_a_patch_of_an_old_version_is_a_conflict(bench: Bench):
    pod = await bench.pod("a")
    await bench.set_status(pod, phase="Running")
    body = {"metadata": {"resourceVersion": version_of(pod)}, "status": {"phase": "Failed"}}
    with pytest.raises(k8s.ConflictError) as caught:
        await bench.cluster.patch(PODS, "a", bench.namespace, body, subresource="status")
    assert not isinstance(caught.value, k8s.UidMismatchError)
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")


async def test_a_patch_of_what_is_not_there_is_not_found(bench: Bench):
    with pytest.raises(k8s.NotFoundError):
        await bench.cluster.patch(PODS, "a", bench.namespace, {}, subresource="status")


async def test_a_patch_that_is_no_json_is_a_bad_request(bench: Bench):
    await bench.pod("a")
    with pytest.raises(k8s.BadRequestError):
        await bench.cluster.patch(PODS, "a", bench.namespace, b"{")


async def test_an_unknown_kind_of_patch_is_refused(bench: Bench):
    await bench.pod("a")
    path = PODS.path(bench.namespace, "a")
    with pytest.raises(k8s.StatusError) as caught:
        await bench.cluster.send(Request("PATCH", path, {}, b"{}", "application/x-none"))
    assert caught.value.status == 415


# --- delete


async def test_a_bound_pod_is_deleted_gracefully(bench: Bench):
    await bench.pod("a", node=await bench.node())
    await bench.cluster.delete(PODS, "a", bench.namespace)
    going = await bench.get("a")
    assert going["metadata"]["deletionGracePeriodSeconds"] == 30
    pod = await bench.cluster.get(k8s.PODS, "a", bench.namespace)
    assert pod.is_terminating
    await bench.remove("a")
    with pytest.raises(k8s.NotFoundError):
        await bench.get("a")


async def test_a_shorter_grace_period_counts(bench: Bench):
    await bench.pod("a", node=await bench.node())
    await bench.cluster.delete(PODS, "a", bench.namespace)
    first = await bench.cluster.get(k8s.PODS, "a", bench.namespace)
    await bench.cluster.delete(PODS, "a", bench.namespace, grace_period_seconds=5)
    second = await bench.cluster.get(k8s.PODS, "a", bench.namespace)
    assert first.metadata.deletion_timestamp and second.metadata.deletion_timestamp
    shortened = first.metadata.deletion_timestamp - second.metadata.deletion_timestamp
    assert timedelta(seconds=15) <= shortened <= timedelta(seconds=30)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_a_finished_pod_is_deleted_at_once(bench: Bench, phase: str):
    pod = await bench.finished_pod(phase, node=await bench.node())
    await bench.cluster.delete(PODS, name_of(pod), bench.namespace)
    with pytest.raises(k8s.NotFoundError):
        await bench.get(name_of(pod))


async def test_an_unbound_pod_is_deleted_at_once(bench: Bench):
    await bench.pod("a")
    await bench.cluster.delete(PODS, "a", bench.namespace)
    with pytest.raises(k8s.NotFoundError):
        await bench.get("a")


async def test_a_finalizer_holds_a_pod(bench: Bench):
    await bench.pod("a", finalizers=["example.com/hold"])
    await bench.remove("a")
    assert (await bench.get("a"))["metadata"]["deletionTimestamp"]
    free = {"metadata": {"finalizers": None}}
    await bench.cluster.patch(PODS, "a", bench.namespace, free, patch_type=PatchType.MERGE)
    with pytest.raises(k8s.NotFoundError):
        await bench.get("a")


async def test_a_delete_of_another_uid_touches_nothing(bench: Bench):
    pod = await bench.pod("a", node=await bench.node())
    with pytest.raises(k8s.UidMismatchError) as caught:
        await bench.cluster.delete(PODS, "a", bench.namespace, uid=STRANGER)
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")
    assert version_of(await bench.get("a")) == version_of(pod)


async def test_a_pod_made_again_under_the_same_name_is_spared(bench: Bench):
    old = await bench.pod("a")
    await bench.remove("a")
    new = await bench.pod("a")
    with pytest.raises(k8s.UidMismatchError):
        await bench.cluster.delete(PODS, "a", bench.namespace, uid=uid_of(old))
    await bench.cluster.delete(PODS, "a", bench.namespace, uid=uid_of(new))


async def test_a_delete_of_an_old_version_is_a_conflict(bench: Bench):
    pod = await bench.pod("a")
    await bench.set_status(pod, phase="Running")
    with pytest.raises(k8s.ConflictError) as caught:
        await bench.cluster.delete(PODS, "a", bench.namespace, resource_version=version_of(pod))
    assert not isinstance(caught.value, k8s.UidMismatchError)


async def test_a_delete_of_what_is_not_there_is_not_found(bench: Bench):
    with pytest.raises(k8s.NotFoundError):
        await bench.cluster.delete(PODS, "a", bench.namespace, uid=STRANGER)


async def test_an_eviction_that_a_budget_does_not_allow_yet_says_when_to_retry(bench: Bench):
    pod = await bench.pod("a", node=await bench.node(), labels={"app": "web"})
    await bench.set_status(pod, phase="Running", conditions=[condition("Ready")])
    budget = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1}
    made = {"metadata": {"name": "web", "generation": 1}, "spec": budget}
    await bench.cluster.create(BUDGETS, made, bench.namespace)
    path = PODS.path(bench.namespace, "a", "eviction")
    body = b'{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"}}'
    with pytest.raises(k8s.TooManyRequestsError) as caught:
        await bench.cluster.send(Request("POST", path, {}, body))
    assert caught.value.retry_after == 10
    assert (await bench.get("a"))["metadata"].get("deletionTimestamp") is None


# --- dry run


async def test_a_dry_run_changes_nothing(bench: Bench):
    cluster, namespace = bench.cluster, bench.namespace
    pod = await bench.pod("a")
    other = {"metadata": {"name": "b"}, "spec": {"containers": [_container()]}}
    assert name_of(await cluster.create(PODS, other, namespace, dry_run=True)) == "b"
    status = {"status": {"phase": "Running"}}
    tried = await cluster.patch(PODS, "a", namespace, status, subresource="status", dry_run=True)
    assert tried["status"]["phase"] == "Running"
    await cluster.delete(PODS, "a", namespace, grace_period_seconds=0, dry_run=True)
    listing = await cluster.list(PODS, namespace=namespace)
    assert [(name_of(one), version_of(one)) for one in listing.items] == [("a", version_of(pod))]


async def test_a_dry_run_still_checks(bench: Bench):
    await bench.pod("a")
    with pytest.raises(k8s.UidMismatchError):
        await bench.cluster.delete(PODS, "a", bench.namespace, uid=STRANGER, dry_run=True)
    with pytest.raises(k8s.AlreadyExistsError):
        again = {"metadata": {"name": "a"}, "spec": {"containers": [_container()]}}
        await bench.cluster.create(PODS, again, bench.namespace, dry_run=True)


async def test_a_node_has_no_namespace(bench: Bench):
    with pytest.raises(ValueError, match="nodes have no namespace"):
        await bench.cluster.get(NODES, "a", bench.namespace)


def _container() -> Object:
    return {"name": "main", "image": "registry.example/app"}
