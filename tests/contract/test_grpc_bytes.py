"""What the API server marshals is what the gRPC face reads: the same pod as from its JSON."""

from __future__ import annotations

import msgspec
import pytest

from bailiff.cluster import NODES, PODS
from bailiff.decisions import Facts, decide
from bailiff.grpc.kubernetes import read_node, read_pod
from bailiff.grpc.wire import wire_class
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2
from tests.contract.api import Bench, condition, name_of, taint, uid_of
from tests.kube.protobuf import node_bytes, pod_bytes
from tests.unit.grpc_face.face import NOW, decision_of, running

pytestmark = [
    pytest.mark.kube_apiserver,
    pytest.mark.parametrize("api", ["kube-apiserver"], indirect=True),
]

TOLERATIONS = (
    {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
    {"key": "b", "operator": "Equal", "value": "x"},
    {"key": "c", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
)
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


async def test_a_pod_and_a_node_read_from_protobuf_and_from_json_are_equal(bench: Bench) -> None:
    node, pod = await furnish(bench)
    marshalled = await pod_bytes(bench.cluster, pod, bench.namespace)
    from_protobuf = read_pod(wire_class(kubernetes_pb2.Pod).FromString(marshalled))
    assert from_protobuf == await bench.cluster.get(PODS, pod, bench.namespace)
    assert from_protobuf.spec.tolerations[0].toleration_seconds == 300
    assert from_protobuf.metadata.owner_references[0].controller
    from_protobuf_node = read_node(await node_bytes(bench.cluster, node))
    assert from_protobuf_node == await bench.cluster.get(NODES, node)
    assert from_protobuf_node.spec.taints[0].time_added is not None


async def test_a_terminating_pod(bench: Bench) -> None:
    created = await bench.pod(node=await bench.node(), finalizers=["example.com/hold"])
    await bench.cluster.delete(PODS, name_of(created), bench.namespace)
    marshalled = await pod_bytes(bench.cluster, name_of(created), bench.namespace)
    pod = read_pod(wire_class(kubernetes_pb2.Pod).FromString(marshalled))
    assert pod.is_terminating
    assert pod.metadata.uid == uid_of(created)


async def test_marshalled_objects_are_answered_over_the_wire(bench: Bench) -> None:
    node, pod = await furnish(bench)
    request = pb.DecideRequest()
    request.pod.MergeFromString(await pod_bytes(bench.cluster, pod, bench.namespace))
    request.node.MergeFromString(await node_bytes(bench.cluster, node))
    pod_from_json = await bench.cluster.get(PODS, pod, bench.namespace)
    node_from_json = await bench.cluster.get(NODES, node)
    facts = Facts(pod=pod_from_json, node=node_from_json)
    async with running() as face:
        response = await face.stub.Decide(request)
    expected = decide(facts, NOW)
    assert msgspec.to_builtins(decision_of(response.decision)) == msgspec.to_builtins(expected)
