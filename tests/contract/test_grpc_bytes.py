"""What the API server marshals is what the gRPC face reads: the same pod as from its JSON."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import msgspec
import pytest

from bailiff.cluster import NODES, PODS, NotFoundError, Resource
from bailiff.decisions.device_taints import DeviceTaintFacts
from bailiff.kinds import DeviceTaintRule, Node, Pod, ResourceClaim, ResourceSlice
from bailiff.v1 import eviction_decision_service_pb2 as pb
from tests.harness.api import PODS as PODS_AS_THEY_ARE
from tests.harness.api import Bench, name_of, uid_of
from tests.harness.asking import ask
from tests.harness.device_objects import (
    CLAIMS,
    DRIVER,
    RULES,
    SLICES,
    allocation,
    claim,
    device_taint,
    rule,
    slice_of,
)
from tests.harness.faces.go_bytes import read
from tests.harness.faces.grpc_face import NOW, plain, running, without_zeros
from tests.harness.kube.protobuf import bytes_of, node_bytes, pod_bytes
from tests.harness.objects import Object, condition, container, pod_object, taint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

T = TypeVar("T")

pytestmark = pytest.mark.kube_apiserver

TOLERATIONS = (
    {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
    {"key": "b", "operator": "Equal", "value": "x"},
    {"key": "c", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
)
PENDING = {
    "status": {
        "conditions": [
            {
                "type": "EvictionInProgress",
                "status": "True",
                "reason": "PodsPendingEviction",
                "message": "1 pod",
                "observedGeneration": 1,
                "lastTransitionTime": "2025-12-31T23:59:00Z",
            }
        ]
    }
}
OWNER = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "name": "web",
    "uid": "9c2a6c3e-1111-4222-8333-444455556666",
    "controller": True,
}


async def furnish(bench: Bench) -> tuple[str, str]:
    """A node and a pod in which every field that we read is set."""
    node = await bench.node(
        {**taint("a", "v"), "timeAdded": "2025-12-31T23:59:00Z"}, taint("b", "x", "NoSchedule")
    )
    pod = await bench.pod(
        node=node, tolerations=TOLERATIONS, labels={"app": "web"}, ownerReferences=[OWNER]
    )
    changed = {"lastTransitionTime": "2025-12-31T00:00:00Z"}
    await bench.set_status(
        pod,
        phase="Running",
        conditions=[
            condition("PodScheduled", **changed),
            condition("Ready", "False", reason="Slow", message="not yet"),
        ],
    )
    return node, name_of(pod)


async def furnish_devices(bench: Bench, name: str) -> str:
    """A pod and devices in which every field that we read is set; the claim has the pod's name.

    But `schedulingGroup`, which the server drops while its gate is off.
    """
    node, cluster = await bench.node(), bench.cluster
    taints = device_taint(timeAdded="2025-12-31T23:59:00Z"), {"key": "seen", "effect": "None"}
    await cluster.create(SLICES, slice_of(name, *taints), "")
    await cluster.create(RULES, rule(name, driver=DRIVER, pool=name, device="gpu-0"), "")
    await cluster.patch(RULES, name, "", PENDING, subresource="status")
    gpu = {"example.com/gpu": "1"}
    main = container() | {
        "resources": {"claims": [{"name": "own"}], "requests": gpu, "limits": gpu}
    }
    spec = {
        "nodeName": node,
        "containers": [main],
        "resourceClaims": [
            {"name": "own", "resourceClaimName": name},
            {"name": "made", "resourceClaimTemplateName": "gpu"},
        ],
    }
    body = pod_object(name, **spec)
    pod = await cluster.create(PODS_AS_THEY_ARE, body, bench.namespace)
    made = [{"name": "made", "resourceClaimName": f"{name}-made"}]
    mapping = {"containerName": main["name"], "resourceName": "example.com/gpu", "requestName": "r"}
    await bench.set_status(
        pod,
        resourceClaimStatuses=made,
        extendedResourceClaimStatus={"requestMappings": [mapping], "resourceClaimName": "x"},
    )
    owned = claim(name)
    owned["metadata"] |= {"labels": {"app": "train"}, "ownerReferences": [owner_of(pod)]}
    await cluster.create(CLAIMS, owned, bench.namespace)
    allocated = allocation(name, tolerations=list(TOLERATIONS))
    consumers = [
        {"resource": "pods", "name": name, "uid": uid_of(pod)},
        {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "team", "uid": "g"},
    ]
    status = {"status": {"allocation": allocated, "reservedFor": consumers}}
    await cluster.patch(CLAIMS, name, bench.namespace, status, subresource="status")
    return name


def owner_of(pod: Object) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": name_of(pod),
        "uid": uid_of(pod),
        "controller": True,
    }


@pytest.fixture
async def devices(bench: Bench) -> AsyncIterator[str]:
    """The name of a pod, its claim, a slice and a rule; what has no namespace goes in the end."""
    name = f"pool-{secrets.token_hex(4)}"
    yield await furnish_devices(bench, name)
    for resource in (SLICES, RULES):
        with contextlib.suppress(NotFoundError):
            await bench.cluster.delete(resource, name, "")


async def test_a_pod_and_a_node_read_from_protobuf_and_from_json_are_equal(bench: Bench) -> None:
    node, pod = await furnish(bench)
    marshalled = await pod_bytes(bench.cluster, pod, bench.namespace)
    from_protobuf = read(Pod, marshalled)
    assert from_protobuf == await bench.cluster.get(PODS, pod, bench.namespace)
    assert from_protobuf.spec.tolerations[0].toleration_seconds == 300
    assert from_protobuf.metadata.owner_references[0].controller
    from_protobuf_node = read(Node, await node_bytes(bench.cluster, node))
    assert from_protobuf_node == await bench.cluster.get(NODES, node)
    assert from_protobuf_node.spec.taints[0].time_added is not None


async def test_a_terminating_pod(bench: Bench) -> None:
    created = await bench.pod(node=await bench.node(), finalizers=["example.com/hold"])
    await bench.cluster.delete(PODS, name_of(created), bench.namespace)
    marshalled = await pod_bytes(bench.cluster, name_of(created), bench.namespace)
    pod = read(Pod, marshalled)
    assert pod.is_terminating
    assert pod.metadata.uid == uid_of(created)


async def test_marshalled_objects_are_answered_over_the_wire(bench: Bench) -> None:
    node, pod = await furnish(bench)
    request = pb.DecideRequest()
    request.pod.MergeFromString(await pod_bytes(bench.cluster, pod, bench.namespace))
    request.node.MergeFromString(await node_bytes(bench.cluster, node))
    pod_from_json = await bench.cluster.get(PODS, pod, bench.namespace)
    node_from_json = await bench.cluster.get(NODES, node)
    expected = ask("decide", now=NOW, pod=pod_from_json, node=node_from_json)
    async with running() as face:
        response = await face.stub.Decide(request)
    assert without_zeros(plain(response)) == without_zeros(
        msgspec.json.decode(msgspec.json.encode(expected))
    )


async def test_devices_read_from_protobuf_and_from_json_are_equal(
    bench: Bench, devices: str
) -> None:
    cluster, namespace = bench.cluster, bench.namespace
    published = read(ResourceSlice, await bytes_of(cluster, SLICES, devices))
    assert published == await cluster.get(typed(SLICES, ResourceSlice), devices)
    assert published.spec.devices[0].taints[0].time_added is not None
    found = read(ResourceClaim, await bytes_of(cluster, CLAIMS, devices, namespace))
    assert found == await cluster.get(typed(CLAIMS, ResourceClaim), devices, namespace)
    assert found.status.allocation is not None
    result = found.status.allocation.devices.results[0]
    assert [one.toleration_seconds for one in result.tolerations] == [300, None, 0]
    assert len(found.status.reserved_for) == 2
    tainting = read(DeviceTaintRule, await bytes_of(cluster, RULES, devices))
    assert tainting == await cluster.get(typed(RULES, DeviceTaintRule), devices)
    assert tainting.spec.device_selector is not None
    assert tainting.spec.device_selector.device == "gpu-0"
    assert tainting.status.conditions[0].observed_generation == 1


async def test_a_pod_with_claims_read_from_protobuf_and_from_json_is_equal(
    bench: Bench, devices: str
) -> None:
    marshalled = await pod_bytes(bench.cluster, devices, bench.namespace)
    pod = read(Pod, marshalled)
    assert pod == await bench.cluster.get(PODS, devices, bench.namespace)
    assert pod.spec.resource_claims[1].resource_claim_template_name == "gpu"
    assert pod.status.resource_claim_statuses[0].resource_claim_name == f"{devices}-made"
    assert pod.status.extended_resource_claim_status is not None


async def test_marshalled_devices_are_answered_over_the_wire(bench: Bench, devices: str) -> None:
    cluster, namespace = bench.cluster, bench.namespace
    request = pb.DecideBatchRequest()
    request.pods.add().MergeFromString(await pod_bytes(cluster, devices, namespace))
    told = request.device_taints
    marshalled = await bytes_of(cluster, CLAIMS, devices, namespace)
    told.resource_claims.add().MergeFromString(marshalled)
    told.resource_slices.add().MergeFromString(await bytes_of(cluster, SLICES, devices))
    told.device_taint_rules.add().MergeFromString(await bytes_of(cluster, RULES, devices))
    facts = DeviceTaintFacts(
        resource_claims=(await cluster.get(typed(CLAIMS, ResourceClaim), devices, namespace),),
        resource_slices=(await cluster.get(typed(SLICES, ResourceSlice), devices),),
        device_taint_rules=(await cluster.get(typed(RULES, DeviceTaintRule), devices),),
    )
    pods = (await cluster.get(PODS, devices, namespace),)
    expected = ask("decideBatch", now=NOW, pods=pods, device_taints=facts)
    async with running() as face:
        response = await face.stub.DecideBatch(request)
    assert without_zeros(plain(response)) == without_zeros(
        msgspec.json.decode(msgspec.json.encode(expected))
    )
    (answer,) = response.reports.device_taints.claims
    assert len(answer.reasons) == 2


def typed(resource: Resource[Object], kind: type[T]) -> Resource[T]:
    """The same, decoded as one of our kinds."""
    return replace(resource, kind=kind)  # type: ignore[return-value, arg-type]  # another kind
