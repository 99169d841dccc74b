"""What is kept of a node's status, and that nothing is by default."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bailiff.cluster.keeping import Keep
from bailiff.cluster.slimming import slimmer_for
from bailiff.kinds import Node, NodeStatus
from bailiff.kinds.decoding import decode


def decoded(**status: Any) -> Node:
    return decode(json.dumps({"metadata": {"name": "n1"}, "status": status}).encode(), Node)


def condition(
    kind: str, message: str = "kubelet has sufficient memory available"
) -> dict[str, str]:
    return {
        "type": kind,
        "status": "False",
        "lastHeartbeatTime": "2026-01-01T00:00:00Z",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "reason": "KubeletHasSufficientMemory",
        "message": message,
    }


FULL: dict[str, Any] = {
    "conditions": [condition("NetworkUnavailable"), condition("MemoryPressure")],
    "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
    "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
    "nodeInfo": {"kubeletVersion": "v1.36.2", "operatingSystem": "linux", "bootID": "x"},
    "images": [{"names": ["a"]}],
}


def test_by_default_a_node_comes_without_status_and_all_share_the_empty_one() -> None:
    slim = slimmer_for(Node)
    first, second = slim(decoded(**FULL)), slim(decoded(**FULL))
    assert first.status == NodeStatus()
    assert first.status is second.status


def test_where_it_is_kept_so_is_what_pressure_is_told_by() -> None:
    status = slimmer_for(Node, Keep(node_status=True))(decoded(**FULL)).status
    assert [one.type for one in status.conditions] == ["MemoryPressure"]
    assert status.conditions[0].last_transition_time is not None
    assert status.addresses[0].address == "10.0.0.1"
    assert status.daemon_endpoints.kubelet_endpoint.port == 10250
    assert status.node_info.kubelet_version == "v1.36.2"
    assert status.node_info.operating_system == "linux"


def test_nodes_share_the_texts_that_they_have_alike() -> None:
    slim = slimmer_for(Node, Keep(node_status=True))
    first, second = (slim(decoded(**FULL)).status for _ in range(2))
    for field in ("type", "status", "reason", "message"):
        assert getattr(first.conditions[0], field) is getattr(second.conditions[0], field)
    assert first.node_info.kubelet_version is second.node_info.kubelet_version


@pytest.mark.parametrize(
    ("status", "kept"),
    [
        ({"addresses": [{"type": "InternalIP", "address": "a"}] * 100}, 16),
        ({"addresses": [{"type": "InternalIP", "address": "a" * 254}]}, 0),
        ({"addresses": [{"type": "t" * 64, "address": "a"}]}, 0),
        ({"conditions": [condition("Ready")] * 100}, 4),
        ({"conditions": [condition("x" * 5000)]}, 0),
    ],
)
def test_what_a_node_says_of_itself_is_bounded(status: dict[str, Any], kept: int) -> None:
    slimmed = slimmer_for(Node, Keep(node_status=True))(decoded(**status)).status
    assert len(slimmed.addresses) + len(slimmed.conditions) == kept


def test_long_texts_are_cut() -> None:
    node = decoded(
        conditions=[condition("Ready", "m" * 5000)], nodeInfo={"kubeletVersion": "v" * 5000}
    )
    status = slimmer_for(Node, Keep(node_status=True))(node).status
    assert len(status.conditions[0].message) == len(status.node_info.kubelet_version) == 1024
