"""The bytes of Kubernetes' own messages are ours: same numbers, same types."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from bailiff.grpc.kubernetes import read_node, read_pod
from bailiff.grpc.wire import wire_class
from bailiff.kinds import (
    Node,
    NodeSpec,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    Taint,
    Toleration,
)
from bailiff.v1 import kubernetes_pb2

# Written down from k8s.io/api v0.36.2, core/v1/generated.proto, and k8s.io/apimachinery v0.36.2,
# pkg/apis/meta/v1/generated.proto. Kubernetes writes names in camelCase; ours follow protobuf's
# style, and their JSON names are Kubernetes'. metav1.Time is Timestamp's twin.
KUBERNETES = {
    "ObjectMeta": """
        1 string name; 3 string namespace; 5 string uid; 6 string resourceVersion;
        7 int64 generation; 8 Time creationTimestamp; 9 Time deletionTimestamp;
        12 map annotations; 13 repeated OwnerReference ownerReferences
    """,
    "OwnerReference": """
        1 string kind; 3 string name; 4 string uid; 5 string apiVersion; 6 bool controller
    """,
    "Pod": "1 ObjectMeta metadata; 2 PodSpec spec; 3 PodStatus status",
    "PodSpec": "10 string nodeName; 22 repeated Toleration tolerations",
    "PodStatus": "1 string phase; 2 repeated PodCondition conditions",
    "PodCondition": """
        1 string type; 2 string status; 4 Time lastTransitionTime; 5 string reason;
        6 string message; 7 int64 observedGeneration
    """,
    "Toleration": """
        1 string key; 2 string operator; 3 string value; 4 string effect;
        5 int64 tolerationSeconds
    """,
    "Node": "1 ObjectMeta metadata; 2 NodeSpec spec",
    "NodeSpec": "5 repeated Taint taints",
    "Taint": "1 string key; 2 string value; 3 string effect; 4 Time timeAdded",
    "Time": "1 int64 seconds; 2 int32 nanos",
}
SCALARS = {
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_BOOL: "bool",
}


def describe(field: FieldDescriptor) -> str:
    message = field.message_type
    if message and message.GetOptions().map_entry:
        return f"{field.number} map {field.json_name}"
    kind = message.name.replace("Timestamp", "Time") if message else SCALARS[field.type]
    repeated = "repeated " if field.is_repeated else ""
    return f"{field.number} {repeated}{kind} {field.json_name}"


@pytest.mark.parametrize("name", KUBERNETES)
def test_every_field_has_the_number_and_type_that_kubernetes_gives_it(name: str) -> None:
    messages = {**kubernetes_pb2.DESCRIPTOR.message_types_by_name, "Time": Timestamp.DESCRIPTOR}
    expected = " ".join(KUBERNETES[name].split()).split("; ")
    assert [describe(field) for field in messages[name].fields] == expected


def test_no_message_is_missing_from_the_table() -> None:
    assert {*kubernetes_pb2.DESCRIPTOR.message_types_by_name, "Time"} == set(KUBERNETES)


# Bytes as Go's generated marshallers write them: proto2, every non-pointer field also when empty.


def text(number: int, value: str) -> bytes:
    return nested(number, value.encode())


def nested(number: int, *parts: bytes) -> bytes:
    data = b"".join(parts)
    return varint(number << 3 | 2) + varint(len(data)) + data


def integer(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value & (2**64 - 1))


def varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def time(number: int, seconds: int) -> bytes:
    return nested(number, integer(1, seconds), integer(2, 0))


def zero_time(number: int) -> bytes:
    return nested(number)


# Labels, managed fields, containers, an unknown number far out, fixed-width and group fields.
STRANGE = (
    nested(11, text(1, "app"), text(2, "web"))
    + nested(17, text(1, "kubectl"))
    + nested(5000, b"\xff\x00")
    + varint(5001 << 3 | 1)
    + bytes(8)
    + varint(5002 << 3 | 5)
    + bytes(4)
    + varint(5003 << 3 | 3)
    + varint(5003 << 3 | 4)
)
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
            nested(2, text(1, "container"), text(2, "image")),
            text(10, "node-1"),
            nested(22, text(1, "a"), text(2, "Exists"), text(3, ""), text(4, "NoExecute")),
            nested(22, text(1, ""), text(2, ""), text(3, ""), text(4, ""), integer(5, -1)),
            nested(22, text(1, "b"), text(2, ""), text(3, ""), text(4, ""), integer(5, 0)),
        ),
        nested(
            3,
            text(1, "Running"),
            nested(2, text(1, "PodScheduled"), text(2, "True"), zero_time(3), zero_time(4)),
            nested(2, text(1, "Ready"), text(2, "False"), zero_time(3), time(4, -1), text(5, "R")),
            text(6, "10.0.0.1"),
        ),
    )
)


def pod_of(data: bytes) -> Pod:
    return read_pod(wire_class(kubernetes_pb2.Pod).FromString(data))


def test_a_pod_as_go_marshals_it() -> None:
    assert pod_of(POD) == Pod(
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
        ),
        spec=PodSpec(
            node_name="node-1",
            tolerations=(
                Toleration(key="a", operator="Exists", effect="NoExecute"),
                Toleration(toleration_seconds=-1),
                Toleration(key="b", toleration_seconds=0),
            ),
        ),
        status=PodStatus(
            phase="Running",
            conditions=(
                PodCondition(type="PodScheduled", status="True"),
                PodCondition(
                    type="Ready",
                    status="False",
                    reason="R",
                    last_transition_time=datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
                ),
            ),
        ),
    )


def test_a_node_as_go_marshals_it() -> None:
    taints = (
        nested(5, text(1, "a"), text(2, "v"), text(3, "NoExecute"), time(4, 0)),
        nested(5, text(1, "b"), text(2, ""), text(3, "NoSchedule")),
    )
    node = nested(1, text(1, "node-1"), zero_time(8)) + nested(2, text(1, "10.0.0.0/24"), *taints)
    assert read_node(node) == Node(
        metadata=ObjectMeta(name="node-1"),
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


@pytest.mark.parametrize(
    ("time_bytes", "expected"),
    [
        pytest.param(zero_time(8), None, id="Go's zero time is not set"),
        pytest.param(b"", None, id="absent"),
        pytest.param(time(8, 0), datetime(1970, 1, 1, tzinfo=UTC), id="Go's 1970 is an instant"),
    ],
)
def test_times_where_go_has_no_pointer(time_bytes: bytes, expected: datetime | None) -> None:
    assert pod_of(nested(1, time_bytes)).metadata.creation_timestamp == expected


def test_nothing_at_all_is_an_empty_pod() -> None:
    assert pod_of(b"") == Pod()
