"""Creating: identity, rules, and Events."""

from __future__ import annotations

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import EVENTS
from tests.harness.api import PODS, Bench, name_of, uid_of, version_of
from tests.harness.objects import Object, pod_object, tolerating

pytestmark = pytest.mark.parity


async def test_create_gives_identity(bench: Bench) -> None:
    pod = await bench.pod("a")
    assert uid_of(pod)
    assert int(version_of(pod)) > 0
    assert pod["metadata"]["creationTimestamp"]
    assert (pod["kind"], pod["apiVersion"], pod["status"]["phase"]) == ("Pod", "v1", "Pending")


async def test_a_name_can_be_generated(bench: Bench) -> None:
    body = pod_object("") | {"metadata": {"generateName": "a-"}}
    names = {name_of(await bench.cluster.create(PODS, body, bench.namespace)) for _ in range(2)}
    assert len(names) == 2
    assert all(name.startswith("a-") and len(name) > 2 for name in names)


async def test_a_second_of_the_same_name_already_exists(bench: Bench) -> None:
    await bench.pod("a")
    with pytest.raises(k8s.AlreadyExistsError) as caught:
        await bench.pod("a")
    assert (caught.value.status, caught.value.reason) == (409, "AlreadyExists")


async def test_nothing_can_be_created_in_a_namespace_that_is_not_there(bench: Bench) -> None:
    with pytest.raises(k8s.NotFoundError):
        await bench.cluster.create(PODS, pod_object("a"), "no-such")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"metadata": {"name": "Not_A_Name"}}, "metadata.name"),
        ({"spec": {"containers": []}}, "spec.containers"),
        (
            pod_object("a", tolerations=[{"key": "k", "operator": "Near"}]),
            "spec.tolerations[0].operator",
        ),
        (
            pod_object("a", tolerations=[tolerating(1) | {"effect": "NoSchedule"}]),
            "spec.tolerations[0].effect",
        ),
    ],
)
async def test_an_object_that_breaks_a_rule_is_invalid_and_says_where(
    bench: Bench, change: Object, field: str
) -> None:
    body = pod_object("a") | change
    with pytest.raises(k8s.InvalidError) as caught:
        await bench.cluster.create(PODS, body, bench.namespace)
    assert (caught.value.status, caught.value.reason) == (422, "Invalid")
    assert field in {cause["field"] for cause in caught.value.details["causes"]}


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"kind":"Node","apiVersion":"v1"}', b'{"spec":{"nodeName":1}}']
)
async def test_a_body_that_is_no_such_object_is_a_bad_request(bench: Bench, body: bytes) -> None:
    with pytest.raises(k8s.BadRequestError):
        await bench.cluster.create(PODS, body, bench.namespace)


async def test_an_event_is_recorded_and_found_by_its_object(bench: Bench) -> None:
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


async def test_an_event_must_stand_in_the_namespace_of_its_object(bench: Bench) -> None:
    body = {
        "metadata": {"generateName": "a."},
        "involvedObject": {"kind": "Pod", "namespace": "elsewhere", "name": "a"},
    }
    with pytest.raises(k8s.InvalidError):
        await bench.cluster.create(EVENTS, body, bench.namespace)
