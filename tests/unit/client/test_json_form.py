"""Messages and their JSON: objects as kubectl prints them, and what no message can hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct

from bailiff.client import json_form, messages
from bailiff.client.json_form.reading import UnreadableError
from bailiff.client.messages import (
    DecideBatchRequest,
    DecideRequest,
    DecideResponse,
    Node,
    Pod,
    Reports,
    Subject,
    Taint,
)
from bailiff.client.rest_words import body_of
from bailiff.decisions import SYSTEMS
from bailiff.v1 import eviction_decision_service_pb2 as pb
from tests.harness import corpus

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web",
        "labels": {"app": "web"},
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [
            {
                "manager": "kubectl",
                "time": "2026-01-01T00:00:00Z",
                "fieldsV1": {"f:spec": {"f:taints": {}}},
            }
        ],
    },
    "spec": {
        "dnsPolicy": "ClusterFirst",
        "terminationGracePeriodSeconds": 30,
        "overhead": None,
        "containers": [
            {"name": "main", "resources": {"limits": {"cpu": 2, "memory": "1Gi"}}, "ports": []}
        ],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "1Mi", "medium": "Memory"}}],
        "tolerations": [{"operator": "Exists", "tolerationSeconds": 5.0}],
    },
    "status": {"hostIP": "10.0.0.1"},
}


def test_a_pod_as_kubectl_prints_it() -> None:
    pod = json_form.read(POD, Pod)
    assert pod.spec.containers[0].resources.limits["memory"].string == "1Gi"
    assert pod.spec.containers[0].resources.limits["cpu"].string == "2"
    assert pod.spec.volumes[0].name == "tmp"
    assert pod.spec.volumes[0].volume_source.empty_dir.size_limit.string == "1Mi"
    assert pod.metadata.managed_fields[0].fields_v1.raw == b'{"f:spec": {"f:taints": {}}}'
    assert pod.spec.tolerations[0].toleration_seconds == 5
    assert pod.metadata.creation_timestamp.ToDatetime(UTC) == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_pod_is_written_as_it_was_read() -> None:
    written = json_form.write(json_form.read(POD, Pod))
    assert written["spec"]["volumes"] == POD["spec"]["volumes"]
    assert written["metadata"]["managedFields"][0]["fieldsV1"] == {"f:spec": {"f:taints": {}}}
    assert written["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "2", "memory": "1Gi"}


@pytest.mark.parametrize(
    "case",
    [case for case in corpus.load() if "not-in-protobuf" not in case],
    ids=lambda case: case["id"],
)
def test_what_is_read_and_written_is_read_again_as_the_same(case: dict[str, Any]) -> None:
    name = corpus.question_of(case, SYSTEMS).name
    kind = getattr(messages, f"{name[0].upper()}{name[1:]}Request")
    try:
        message = json_form.read(case["body"], kind)
    except UnreadableError:
        return
    again = json_form.read(json_form.write(message), kind)
    # Go's time that is not set is none in JSON.
    assert json_form.write(again) == json_form.write(message)


def test_messages_may_stand_in_mappings() -> None:
    pod, node = Pod(), Node()
    node.spec.taints.add(key="a")
    read = json_form.read({"pod": pod, "node": node, "neighbours": {"pods": [pod]}}, DecideRequest)
    assert read.node.spec.taints[0].key == "a"
    assert len(read.neighbours.pods) == 1
    assert body_of({"pod": pod, "node": node}, DecideRequest) == (
        b'{"pod": {}, "node": {"spec": {"taints": [{"key": "a"}]}}}'
    )


def test_times_may_be_datetimes() -> None:
    zone = timezone(timedelta(hours=1))
    for now in (datetime(2026, 1, 1, 1, tzinfo=zone), datetime(2026, 1, 1)):  # noqa: DTZ001
        asked = json_form.read({"pod": {}, "now": now}, DecideRequest)
        assert asked.now.ToJsonString() == "2026-01-01T00:00:00Z"
        assert body_of({"now": now}, DecideRequest) == b'{"now": "2026-01-01T00:00:00Z"}'


def test_no_pods_at_all_are_told_too() -> None:
    asked = json_form.read({"pod": {}, "neighbours": {}}, DecideRequest)
    assert asked.HasField("neighbours")
    assert json_form.write(asked)["neighbours"] == {}


def test_a_time_of_an_object_that_is_not_set_is_left_out() -> None:
    """Go marshals it as an empty message."""
    taint = Taint(key="a")
    taint.time_added.SetInParent()
    assert json_form.write(taint) == {"key": "a"}
    asked = DecideRequest()
    asked.now.SetInParent()
    assert json_form.write(asked) == {"now": "1970-01-01T00:00:00Z"}


def test_systems_without_a_message() -> None:
    spot = {"reclaimAt": "2026-01-01T00:00:00Z"}
    asked = json_form.read({"pod": {}, "spotNodes": spot}, DecideRequest)
    assert asked.others["spotNodes"]["reclaimAt"] == spot["reclaimAt"]
    assert json_form.write(asked)["spotNodes"] == spot
    subject = json_form.read({"kind": "spotNode", "zone": "a"}, Subject, strict=False)
    assert subject.other["zone"] == "a"
    assert json_form.write(subject) == {"kind": "spotNode", "zone": "a"}
    reports = json_form.read({"spot-nodes": {"a": 1}, "device-taints": {"claims": [{}]}}, Reports)
    assert isinstance(reports.others["spot-nodes"], Struct)
    assert len(reports.device_taints.claims) == 1
    assert set(json_form.write(reports)) == {"spot-nodes", "device-taints"}


def test_fields_of_tomorrow_in_an_answer() -> None:
    answer = {"decision": {"verdict": "EVICT_SIDEWAYS", "reason": "New", "more": 1}, "extra": {}}
    read = json_form.read(answer, DecideResponse, strict=False)
    assert (read.decision.verdict, read.decision.reason) == (0, "New")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([], "$"),
        ({"sytems": []}, "$.sytems"),
        ({"pod": []}, "$.pod"),
        ({"pod": {"kind": "Node"}}, "$.pod.kind"),
        ({"pod": {"spec": {"nodeName": 5}}}, "$.pod.spec.nodeName"),
        ({"pod": {"spec": {"tolerations": "all"}}}, "$.pod.spec.tolerations"),
        ({"pod": {"spec": {"tolerations": [5]}}}, "$.pod.spec.tolerations[0]"),
        (
            {"pod": {"spec": {"tolerations": [{"tolerationSeconds": "60"}]}}},
            "$.pod.spec.tolerations[0].tolerationSeconds",
        ),
        ({"pod": {"spec": {"priority": 2**40}}}, "$.pod.spec.priority"),
        ({"pod": {"spec": {"priority": 1.5}}}, "$.pod.spec.priority"),
        ({"pod": {"spec": {"priority": True}}}, "$.pod.spec.priority"),
        ({"pod": {"metadata": {"labels": ["a"]}}}, "$.pod.metadata.labels"),
        ({"pod": {"metadata": {"labels": {"a": 1}}}}, '$.pod.metadata.labels["a"]'),
        ({"pod": {"spec": {"overhead": {"cpu": True}}}}, '$.pod.spec.overhead["cpu"]'),
        ({"now": "soon"}, "$.now"),
        ({"now": 5}, "$.now"),
        ({"now": float("inf")}, "$.now"),
        ({"options": {"explain": "yes"}}, "$.options.explain"),
        ({"options": {"explian": True}}, "$.options.explian"),
        ({"pressure": {"summary": {"a": object()}}}, "$.pressure.summary"),
    ],
)
def test_what_no_message_can_hold(body: object, path: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        json_form.read(body, DecideRequest)
    assert raised.value.field.path == path


def test_absent_values_are_as_kubernetes_reads_them() -> None:
    pods = [None, {"metadata": {"labels": {"a": None}}}]
    read = json_form.read({"pods": pods, "systems": [None]}, DecideBatchRequest)
    assert len(read.pods) == 2
    assert read.pods[1].metadata.labels["a"] == ""
    assert list(read.systems) == [""]


def test_all_messages_have_one_name_to_import_them_by() -> None:
    there = {
        name
        for file in pb.DESCRIPTOR.dependencies
        if file.package == "bailiff.v1"
        for name in file.message_types_by_name
    } | set(pb.DESCRIPTOR.message_types_by_name)
    assert there <= set(dir(messages))
