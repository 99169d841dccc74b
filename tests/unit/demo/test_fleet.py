"""What a demo cluster begins with: the README's fleet, or somebody's own file."""

from __future__ import annotations

import json

import pytest

from bailiff_demo import DemoCluster, Fleet, FleetError
from tests.unit.demo.api import seen

NODE = "{apiVersion: v1, kind: Node, metadata: {name: n}}"
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: d}}]}}
status: {reservedFor: [{resource: pods, name: nobody}]}
"""


def test_documents_and_lists_are_taken_as_kubectl_prints_them() -> None:
    printed = f"""
apiVersion: v1
kind: List
items:
- {NODE.replace("n}}", "a, uid: u, resourceVersion: '7', generation: 3}}")}
- {NODE.replace("n}}", "b}}")}
---
{NODE}
"""
    cluster = DemoCluster(lively=False, fleet=Fleet.parse(printed.encode()))
    nodes = seen(cluster, "nodes")
    assert [node["metadata"]["name"] for node in nodes] == ["a", "b", "n"]
    assert nodes[0]["metadata"]["uid"] != "u"
    assert "taints" not in nodes[0]["spec"], "a fleet's nodes are ready at once"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "not valid YAML"),
        ("- 1", "not an object of Kubernetes"),
        ("{kind: Node}", "an object without a name|Node without a name"),
        (NODE.replace("{name: n}", "7"), "Node without a name"),
        (NODE.replace("Node", "Flower"), "v1 Flower is not served here"),
        (NODE.replace("name: n", "name: N N"), r"Node N N: .*metadata\.name"),
        (f"{NODE}\n---\n{NODE}", "Node n: .*already exists"),
        ('{a: "\\ud800"}', "surrogates|utf-8|not valid"),
        (CLAIM, "ResourceClaim c: reserved for nobody, which is not there"),
    ],
)
def test_a_fleet_that_cannot_be_says_why(text: str, why: str) -> None:
    with pytest.raises(FleetError, match=why):
        DemoCluster(lively=False, fleet=Fleet.parse(text.encode()))


def test_a_reading_of_a_whole_cluster_is_a_fleet() -> None:
    """In any order, with the namespaces that are always there, and pods of workloads."""
    owner = {"kind": "ReplicaSet", "name": "web-1", "uid": "old", "controller": True}
    container = [{"name": "c", "image": "i"}]
    meta = {"namespace": "shop", "labels": {"a": "b"}}
    objects = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": "alone"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": "web-1-x"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}},
    ]
    objects[0]["spec"] = objects[1]["spec"] = {"containers": container}
    objects[1]["metadata"] = {**meta, "name": "web-1-x", "ownerReferences": [owner]}
    printed = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    cluster = DemoCluster(lively=False, fleet=Fleet.parse(printed.encode()))
    assert [pod["metadata"]["name"] for pod in seen(cluster, "pods")] == ["alone"]
    assert "shop" in [obj["metadata"]["name"] for obj in seen(cluster, "namespaces")]
