"""Deleting: grace, finalizers, guards, budgets, and dry runs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import PatchType, Request
from tests.harness.api import BUDGETS, NODES, PODS, STRANGER, Bench, name_of, uid_of, version_of
from tests.harness.objects import condition, pod_object

pytestmark = pytest.mark.parity


async def test_a_bound_pod_is_deleted_gracefully(bench: Bench) -> None:
    await bench.pod("a", node=await bench.node())
    await bench.cluster.delete(PODS, "a", bench.namespace)
    going = await bench.get("a")
    assert going["metadata"]["deletionGracePeriodSeconds"] == 30
    pod = await bench.cluster.get(k8s.PODS, "a", bench.namespace)
    assert pod.is_terminating
    await bench.remove("a")
    with pytest.raises(k8s.NotFoundError):
        await bench.get("a")


async def test_a_shorter_grace_period_counts(bench: Bench) -> None:
    await bench.pod("a", node=await bench.node())
    await bench.cluster.delete(PODS, "a", bench.namespace)
    first = await bench.cluster.get(k8s.PODS, "a", bench.namespace)
    await bench.cluster.delete(PODS, "a", bench.namespace, grace_period_seconds=5)
    second = await bench.cluster.get(k8s.PODS, "a", bench.namespace)
    assert first.metadata.deletion_timestamp is not None
    assert second.metadata.deletion_timestamp is not None
    shortened = first.metadata.deletion_timestamp - second.metadata.deletion_timestamp
    assert timedelta(seconds=15) <= shortened <= timedelta(seconds=30)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_a_finished_pod_is_deleted_at_once(bench: Bench, phase: str) -> None:
    pod = await bench.finished_pod(phase, node=await bench.node())
    await bench.cluster.delete(PODS, name_of(pod), bench.namespace)
    with pytest.raises(k8s.NotFoundError):
        await bench.get(name_of(pod))


async def test_an_unbound_pod_is_deleted_at_once(bench: Bench) -> None:
    await bench.pod("a")
    await bench.cluster.delete(PODS, "a", bench.namespace)
    with pytest.raises(k8s.NotFoundError):
        await bench.get("a")


async def test_a_finalizer_holds_a_pod(bench: Bench) -> None:
    await bench.pod("a", finalizers=["example.com/hold"])
    await bench.remove("a")
    assert (await bench.get("a"))["metadata"]["deletionTimestamp"]
    free = {"metadata": {"finalizers": None}}
    await bench.cluster.patch(PODS, "a", bench.namespace, free, patch_type=PatchType.MERGE)
    with pytest.raises(k8s.NotFoundError):
        await bench.get("a")


async def test_a_delete_of_another_uid_touches_nothing(bench: Bench) -> None:
    pod = await bench.pod("a", node=await bench.node())
    with pytest.raises(k8s.UidMismatchError) as caught:
        await bench.cluster.delete(PODS, "a", bench.namespace, uid=STRANGER)
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")
    assert version_of(await bench.get("a")) == version_of(pod)


async def test_a_pod_made_again_under_the_same_name_is_spared(bench: Bench) -> None:
    old = await bench.pod("a")
    await bench.remove("a")
    new = await bench.pod("a")
    with pytest.raises(k8s.UidMismatchError):
        await bench.cluster.delete(PODS, "a", bench.namespace, uid=uid_of(old))
    await bench.cluster.delete(PODS, "a", bench.namespace, uid=uid_of(new))


async def test_a_delete_of_an_old_version_is_a_conflict(bench: Bench) -> None:
    pod = await bench.pod("a")
    await bench.set_status(pod, phase="Running")
    with pytest.raises(k8s.ConflictError) as caught:
        await bench.cluster.delete(PODS, "a", bench.namespace, resource_version=version_of(pod))
    assert not isinstance(caught.value, k8s.UidMismatchError)


async def test_a_delete_of_what_is_not_there_is_not_found(bench: Bench) -> None:
    with pytest.raises(k8s.NotFoundError):
        await bench.cluster.delete(PODS, "a", bench.namespace, uid=STRANGER)


async def test_an_eviction_that_a_budget_forbids_says_when_to_retry(
    bench: Bench,
) -> None:
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


async def test_a_dry_run_changes_nothing(bench: Bench) -> None:
    cluster, namespace = bench.cluster, bench.namespace
    pod = await bench.pod("a")
    other = pod_object("b")
    assert name_of(await cluster.create(PODS, other, namespace, dry_run=True)) == "b"
    status = {"status": {"phase": "Running"}}
    tried = await cluster.patch(PODS, "a", namespace, status, subresource="status", dry_run=True)
    assert tried["status"]["phase"] == "Running"
    await cluster.delete(PODS, "a", namespace, grace_period_seconds=0, dry_run=True)
    listing = await cluster.list(PODS, namespace=namespace)
    assert [(name_of(one), version_of(one)) for one in listing.items] == [("a", version_of(pod))]


async def test_a_dry_run_still_checks(bench: Bench) -> None:
    await bench.pod("a")
    with pytest.raises(k8s.UidMismatchError):
        await bench.cluster.delete(PODS, "a", bench.namespace, uid=STRANGER, dry_run=True)
    again = pod_object("a")
    with pytest.raises(k8s.AlreadyExistsError):
        await bench.cluster.create(PODS, again, bench.namespace, dry_run=True)


async def test_a_node_has_no_namespace(bench: Bench) -> None:
    with pytest.raises(ValueError, match="nodes have no namespace"):
        await bench.cluster.get(NODES, "a", bench.namespace)
