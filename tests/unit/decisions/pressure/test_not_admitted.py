"""Whom a node's kubelet would not start, by what the node itself reports."""

from __future__ import annotations

from typing import Any

import pytest

from bailiff.decisions import SYSTEMS, Options
from bailiff.kinds import (
    Annotations,
    Node,
    NodeCondition,
    NodeStatus,
    NodeSystemInfo,
    Pod,
    PodSpec,
    Toleration,
)
from bailiff.kinds.pod_resources import Container, ResourceRequirements
from tests.harness.kinds import node_of, pod_of

ANY = PodSpec()
GREEDY = PodSpec(containers=(Container(resources=ResourceRequirements(requests={"cpu": "1"})),))


def node(*pressures: str, unknown: str = "", version: str = "v1.37.1") -> Node:
    told = [NodeCondition(type=one, status="True") for one in pressures]
    told += [
        NodeCondition(type="Ready", status="True"),
        NodeCondition(type=unknown, status="Unknown"),
    ]
    info = NodeSystemInfo(kubelet_version=version)
    plain = node_of("n")
    status = NodeStatus(conditions=tuple(told), node_info=info)
    return Node(metadata=plain.metadata, status=status)


def pod(spec: PodSpec = ANY, **meta: Any) -> Pod:
    return Pod(metadata=pod_of("p", **meta).metadata, spec=spec)


def tolerating_memory() -> PodSpec:
    one = Toleration(key="node.kubernetes.io/memory-pressure", operator="Exists")
    return PodSpec(tolerations=(one,))


@pytest.mark.parametrize(
    ("asked", "on", "message"),
    [
        pytest.param(pod(), node(), None, id="no pressure"),
        pytest.param(pod(), node(unknown="MemoryPressure"), None, id="nobody knows"),
        pytest.param(
            pod(), node("MemoryPressure"), "The node had condition: [MemoryPressure]. ",
            id="best effort",
        ),
        pytest.param(pod(GREEDY), node("MemoryPressure"), None, id="asks for something"),
        pytest.param(pod(tolerating_memory()), node("MemoryPressure"), None, id="tolerates it"),
        pytest.param(
            pod(GREEDY), node("PIDPressure", "DiskPressure"),
            "The node had condition: [DiskPressure PIDPressure]. ", id="in the kubelet's order",
        ),
        pytest.param(pod(PodSpec(priority=2 * 10**9)), node("DiskPressure"), None, id="critical"),
        pytest.param(
            pod(annotations=Annotations(config_mirror="")), node("DiskPressure"), None,
            id="shows a static pod",
        ),
    ],
)  # fmt: skip
def test_not_admitted(asked: Pod, on: Node, message: str | None) -> None:
    found = SYSTEMS.not_admitted(asked, on, Options())
    assert (found and found.message) == message
    assert found is None or found.reason == "Evicted"


@pytest.mark.parametrize(("version", "admitted"), [("v1.36.2", False), ("v1.37.0", True)])
def test_goes_by_the_kubelets_version(version: str, *, admitted: bool) -> None:
    asked = pod(PodSpec(containers=GREEDY.containers, resources=ResourceRequirements()))
    found = SYSTEMS.not_admitted(asked, node("MemoryPressure", version=version), Options())
    assert (found is None) is admitted
