"""Pods and nodes as Go marshals them are read as what they are."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bailiff.grpc_api.errors import FieldError
from bailiff.kinds import (
    Annotations,
    DaemonEndpoint,
    Node,
    NodeAddress,
    NodeCondition,
    NodeDaemonEndpoints,
    NodeMeta,
    NodeSpec,
    NodeStatus,
    NodeSystemInfo,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodCondition,
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSchedulingGroup,
    PodSpec,
    PodStatus,
    Taint,
    Toleration,
)
from bailiff.kinds.pod_resources import Container, ContainerStatus, ResourceRequirements
from bailiff.kinds.pod_volumes import EmptyDir, Volume, VolumeSource
from tests.harness.faces.go_bytes import integer, nested, read, text, time, varint, zero_time

# Managed fields, containers, an unknown number far out, fixed-width and group fields.
STRANGE = (
    nested(17, text(1, "kubectl"))
    + nested(5000, b"\xff\x00")
    + varint(5001 << 3 | 1)
    + bytes(8)
    + varint(5002 << 3 | 5)
    + bytes(4)
    + varint(5003 << 3 | 3)
    + varint(5003 << 3 | 4)
)


def quantity(number: int, written: str) -> bytes:
    return nested(number, text(1, written))


def of_resource(number: int, resource: str, written: str) -> bytes:
    return nested(number, text(1, resource), quantity(2, written))


POD = b"".join(
    (
        nested(
            1,
            text(1, "web-1"),
            text(2, ""),
            text(3, "shop"),
            text(4, ""),
            text(5, "uid-1"),
            text(6, "77"),
            integer(7, 2),
            time(8, 1_760_000_000),
            nested(11, text(1, "app"), text(2, "web")),
            nested(11, text(1, "empty"), text(2, "")),
            nested(
                13,
                text(1, "ReplicaSet"),
                text(3, "web"),
                text(4, "uid-0"),
                text(5, "apps/v1"),
                integer(6, 1),
                integer(7, 1),
            ),
            STRANGE,
        ),
        nested(
            2,
            nested(1, text(1, "scratch"), nested(2, nested(2, text(1, ""), quantity(2, "1Gi")))),
            nested(1, text(1, "host"), nested(2, nested(1, text(1, "/data"), text(2, "")))),
            nested(1, text(1, "secret"), nested(2, nested(6, text(1, "s")))),
            nested(
                2,
                text(1, "container"),
                text(2, "image"),
                nested(8, of_resource(1, "memory", "2Gi"), of_resource(2, "memory", "1Gi")),
            ),
            integer(4, 30),
            text(10, "node-1"),
            nested(22, text(1, "a"), text(2, "Exists"), text(3, ""), text(4, "NoExecute")),
            nested(22, text(1, ""), text(2, ""), text(3, ""), text(4, ""), integer(5, -1)),
            nested(22, text(1, "b"), text(2, ""), text(3, ""), text(4, ""), integer(5, 0)),
            nested(20, text(1, "sidecar"), nested(8), text(24, "Always")),
            text(24, "high"),
            integer(25, -7),
            of_resource(32, "cpu", "250m"),
            nested(39, text(1, "own"), text(3, "own-gpu")),
            nested(39, text(1, "made"), text(4, "gpu-template")),
            nested(40, of_resource(2, "cpu", "1")),
            nested(43, text(1, "team")),
        ),
        nested(
            3,
            text(1, "Running"),
            nested(2, text(1, "PodScheduled"), text(2, "True"), zero_time(3), zero_time(4)),
            nested(2, text(1, "Ready"), text(2, "False"), zero_time(3), time(4, -1), text(5, "R")),
            text(6, "10.0.0.1"),
            nested(8, text(1, "container"), of_resource(10, "memory", "1Gi"), nested(11)),
            text(9, "Burstable"),
            nested(15, text(1, "made"), text(2, "made-gpu")),
            nested(15, text(1, "no-need")),
            nested(18, nested(1, text(1, "c"), text(2, "r")), text(2, "extended-gpu")),
        ),
    )
)


def test_a_pod_as_go_marshals_it() -> None:
    assert read(Pod, POD) == Pod(
        metadata=ObjectMeta(
            name="web-1",
            namespace="shop",
            uid="uid-1",
            resource_version="77",
            generation=2,
            creation_timestamp=datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC),
            owner_references=(
                OwnerReference(
                    api_version="apps/v1",
                    kind="ReplicaSet",
                    name="web",
                    uid="uid-0",
                    controller=True,
                ),
            ),
            labels={"app": "web", "empty": ""},
        ),
        spec=PodSpec(
            node_name="node-1",
            tolerations=(
                Toleration(key="a", operator="Exists", effect="NoExecute"),
                Toleration(toleration_seconds=-1),
                Toleration(key="b", toleration_seconds=0),
            ),
            priority=-7,
            resource_claims=(
                PodResourceClaim(name="own", resource_claim_name="own-gpu"),
                PodResourceClaim(name="made", resource_claim_template_name="gpu-template"),
            ),
            scheduling_group=PodSchedulingGroup(pod_group_name="team"),
            volumes=(
                Volume(name="scratch", empty_dir=EmptyDir(size_limit="1Gi")),
                Volume(name="host", host_path=VolumeSource()),
                Volume(name="secret"),
            ),
            containers=(
                Container(
                    name="container",
                    resources=ResourceRequirements(
                        limits={"memory": "2Gi"}, requests={"memory": "1Gi"}
                    ),
                ),
            ),
            init_containers=(Container(name="sidecar", restart_policy="Always"),),
            priority_class_name="high",
            termination_grace_period_seconds=30,
            overhead={"cpu": "250m"},
            resources=ResourceRequirements(requests={"cpu": "1"}),
        ),
        status=PodStatus(
            phase="Running",
            qos_class="Burstable",
            container_statuses=(
                ContainerStatus(
                    name="container",
                    allocated_resources={"memory": "1Gi"},
                    resources=ResourceRequirements(),
                ),
            ),
            conditions=(
                PodCondition(type="PodScheduled", status="True"),
                PodCondition(
                    type="Ready",
                    status="False",
                    reason="R",
                    last_transition_time=datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
                ),
            ),
            resource_claim_statuses=(
                PodResourceClaimStatus(name="made", resource_claim_name="made-gpu"),
                PodResourceClaimStatus(name="no-need"),
            ),
            extended_resource_claim_status=PodExtendedResourceClaimStatus(
                resource_claim_name="extended-gpu"
            ),
        ),
    )


def test_a_node_as_go_marshals_it() -> None:
    taints = (
        nested(5, text(1, "a"), text(2, "v"), text(3, "NoExecute"), time(4, 0)),
        nested(5, text(1, "b"), text(2, ""), text(3, "NoSchedule")),
    )
    node = nested(1, text(1, "node-1"), zero_time(8)) + nested(2, text(1, "10.0.0.0/24"), *taints)
    assert read(Node, node) == Node(
        metadata=NodeMeta(name="node-1"),
        spec=NodeSpec(
            taints=(
                Taint(
                    key="a",
                    value="v",
                    effect="NoExecute",
                    time_added=datetime(1970, 1, 1, tzinfo=UTC),
                ),
                Taint(key="b", effect="NoSchedule"),
            )
        ),
    )


def test_a_nodes_status_as_go_marshals_it() -> None:
    cpu = nested(1, text(1, "cpu"), nested(2, text(1, "4")))
    condition = nested(
        4,
        text(1, "MemoryPressure"),
        text(2, "True"),
        time(3, 60),
        zero_time(4),
        text(5, "KubeletHasInsufficientMemory"),
        text(6, "kubelet has insufficient memory available"),
    )
    info = nested(7, text(1, "id"), text(7, "v1.36.2"), text(8, ""), text(9, "linux"), text(10, ""))
    address = nested(5, text(1, "InternalIP"), text(2, "10.0.0.1"))
    status = nested(
        3, cpu, text(3, ""), condition, address, nested(6, nested(1, integer(1, 10250))), info
    )
    assert read(Node, status).status == NodeStatus(
        conditions=(
            NodeCondition(
                type="MemoryPressure",
                status="True",
                last_heartbeat_time=datetime(1970, 1, 1, 0, 1, tzinfo=UTC),
                reason="KubeletHasInsufficientMemory",
                message="kubelet has insufficient memory available",
            ),
        ),
        addresses=(NodeAddress(type="InternalIP", address="10.0.0.1"),),
        daemon_endpoints=NodeDaemonEndpoints(kubelet_endpoint=DaemonEndpoint(port=10250)),
        node_info=NodeSystemInfo(kubelet_version="v1.36.2", operating_system="linux"),
    )


def managed(seconds: int, fields: bytes) -> bytes:
    """An entry of managedFields as Go marshals it."""
    entry = text(1, "kubectl-taint"), text(2, "Update"), text(3, "v1"), time(4, seconds)
    return nested(17, *entry, text(6, "FieldsV1"), nested(7, nested(1, fields)), text(8, ""))


def test_of_a_node_as_go_marshals_it_the_last_edit_of_its_taints_is_read() -> None:
    entries = (
        managed(5, b'{"f:spec":{"f:taints":{}}}'),
        managed(7, b'{"f:spec":{"f:podCIDR":{}}}'),
        managed(9, b""),
        nested(17),
    )
    node = read(Node, nested(1, text(1, "node-1"), *entries))
    assert node.taints_edited == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize("fields", [b"{", b'{"f:spec":{"f:taints":5}}', b"[]", b"\xff"])
def test_managed_fields_that_are_none_are_refused(fields: bytes) -> None:
    with pytest.raises(FieldError) as caught:
        read(Node, nested(1, managed(5, fields)))
    assert caught.value.path.startswith("metadata.managed_fields[0].fields_v1.raw")


@pytest.mark.parametrize(
    ("time_bytes", "expected"),
    [
        pytest.param(zero_time(8), None, id="Go's zero time is not set"),
        pytest.param(b"", None, id="absent"),
        pytest.param(time(8, 0), datetime(1970, 1, 1, tzinfo=UTC), id="Go's 1970 is an instant"),
    ],
)
def test_times_where_go_has_no_pointer(time_bytes: bytes, expected: datetime | None) -> None:
    assert read(Pod, nested(1, time_bytes)).metadata.creation_timestamp == expected


def test_nothing_at_all_is_an_empty_pod() -> None:
    assert read(Pod, b"") == Pod()


KNOWN = (
    nested(12, text(1, "bailiff.dev/do-not-evict"), text(2, "true")),
    nested(12, text(1, "kubernetes.io/config.source"), text(2, "file")),
    nested(12, text(1, "kubernetes.io/config.mirror"), text(2, "")),
)
# Longer keys, a longer value, and bytes that are no text.
OTHERS = (
    nested(12, text(1, "bailiff.dev/do-not-evict-today"), text(2, "true")),
    nested(12, text(1, "kubectl.kubernetes.io/last-applied"), text(2, "{" * 5000)),
    nested(12, text(1, "x"), nested(2, b"\xff")),
)


@pytest.mark.parametrize(
    "entries",
    [KNOWN, OTHERS + KNOWN, KNOWN + OTHERS],
    ids=["alone", "behind others", "before others"],
)
def test_those_annotations_of_a_pod_that_a_rule_reads(entries: tuple[bytes, ...]) -> None:
    pod = read(Pod, nested(1, text(1, "a"), *entries))
    assert pod.metadata.annotations == Annotations(
        do_not_evict="true", config_source="file", config_mirror=""
    )


def test_an_annotation_may_say_its_value_first() -> None:
    entry = nested(12, text(2, "true"), text(1, "bailiff.dev/do-not-evict"))
    pod = read(Pod, nested(1, entry))
    assert pod.metadata.annotations.do_not_evict == "true"
