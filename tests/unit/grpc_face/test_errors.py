"""What cannot be answered: the status, the stable code, the field."""

from __future__ import annotations

import re
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # it ships no types
from grpc_status import rpc_status  # type: ignore[import-untyped]  # it ships no types

from bailiff.decisions import MAX_PODS
from bailiff.decisions.device_taints.facts import MAX_CLAIMS, MAX_RULES, MAX_SLICES
from bailiff.grpc_api import GrpcSettings
from bailiff.grpc_api.errors import RefusedError
from bailiff.v1 import eviction_decision_service_pb2, kubernetes_pb2
from tests.harness.faces.grpc_face import NODE, POD, Face, error_of, plain, running

# Nested messages are given as dicts here, which the generated types do not know of.
pb: Any = eviction_decision_service_pb2
kube: Any = kubernetes_pb2

ONE = ("AdmitUnderPressure", "ReadEvictionConfiguration")
MANY = (
    "Decide",
    "DecideBatch",
    "PreviewTaintChange",
    "PreviewDeviceTaintRule",
    "PlanPressureRound",
    "RankForPressure",
)
UNARY = ONE + MANY
FAR = {"seconds": 253_402_300_800 + 86_400}  # 10000-01-02
CROWDED = kube.Node(spec={"taints": [{"key": "a", "effect": "NoExecute"}] * 1001})
TOLERANT = kube.Pod(spec={"tolerations": [{"key": "b"}] * 1000})
CLAIMS = "$.deviceTaints.resourceClaims"
FAR_TAINT = {"time_added": FAR}


def allocated(results: list[dict[str, Any]]) -> dict[str, Any]:
    return {"status": {"allocation": {"devices": {"results": results}}}}


async def refusal(face: Face, method: str, data: bytes) -> tuple[grpc.StatusCode, str, str]:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await face.raw(method)(data)
    told = error_of(caught.value)
    return caught.value.code(), told["error"], told["path"]


@pytest.mark.parametrize("method", UNARY)
@pytest.mark.parametrize(
    "data", [b"\xff", b"\x0a\x05ab", b"\x0a" * 9, bytes(9)], ids=["tag", "cut", "nest", "zero"]
)
async def test_what_is_no_message_is_malformed(face: Face, method: str, data: bytes) -> None:
    told = await refusal(face, method, data)
    assert told == (grpc.StatusCode.INVALID_ARGUMENT, "malformed_body", "$")


@pytest.mark.parametrize(
    ("nested", "path"),
    [
        ({"metadata": {"name": "@"}}, "$.pods[1].metadata"),
        ({"spec": {"node_name": "@"}}, "$.pods[1].spec"),
        ({"spec": {"tolerations": [{}, {"key": "@"}]}}, "$.pods[1].spec.tolerations[1]"),
        ({"status": {"conditions": [{"type": "@"}]}}, "$.pods[1].status.conditions[0]"),
        (
            {"metadata": {"owner_references": [{"uid": "@"}]}},
            "$.pods[1].metadata.ownerReferences[0]",
        ),
    ],
)
async def test_text_that_is_not_utf8_is_malformed(
    face: Face, nested: dict[str, Any], path: str
) -> None:
    request = pb.DecideBatchRequest(node=NODE, pods=[POD, kube.Pod(**nested)])
    data = request.SerializeToString().replace(b"@", b"\xff")
    told = await refusal(face, "DecideBatch", data)
    assert told == (grpc.StatusCode.INVALID_ARGUMENT, "malformed_body", path)


@pytest.mark.parametrize(
    "nested",
    [
        {"metadata": {"name": "@"}},
        {"metadata": {"labels": {"a": "@"}}},
        {"spec": {"node_name": "@"}},
        {"metadata": {"name": "x" * 254}},
        {"metadata": {"creation_timestamp": {"nanos": -1}}},
    ],
    ids=str,
)
async def test_the_same_fault_is_told_alike_however_long_the_question_is(
    face: Face, nested: dict[str, Any]
) -> None:
    told = set()
    for others in (0, 1000):
        request = pb.DecideBatchRequest(node=NODE, pods=[kube.Pod(**nested)] + [POD] * others)
        data = request.SerializeToString().replace(b"@", b"\xff")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await face.raw("DecideBatch")(data)
        told.add((caught.value.details(), str(error_of(caught.value))))
    assert len(told) == 1


def devices(**facts: Any) -> Any:
    return pb.DecideBatchRequest(pods=[POD], device_taints=facts)


FIELDS: list[tuple[str, Any, str]] = [
    ("Decide", pb.DecideRequest(), "$.pod"),
    ("Decide", pb.DecideRequest(pod=POD), "$"),
    ("Decide", pb.DecideRequest(pod=POD, systems=["node-taints"]), "$.node"),
    ("Decide", pb.DecideRequest(pod=POD, node=NODE, systems=["x"]), "$.systems[0]"),
    ("Decide", pb.DecideRequest(pod=POD, node=NODE, now=FAR), "$.now.seconds"),
    ("Decide", pb.DecideRequest(pod=POD, node=NODE, now={"nanos": -1}), "$.now.nanos"),
    ("Decide", pb.DecideRequest(pod=POD, node=NODE, now={"nanos": 10**9}), "$.now.nanos"),
    (
        "Decide",
        pb.DecideRequest(pod=POD, node=NODE, node_taints={"bound_at": FAR}),
        "$.nodeTaints.boundAt.seconds",
    ),
    (
        "Decide",
        pb.DecideRequest(pod=POD, node=NODE, node_taints={"bound_at": {"seconds": -(2**63)}}),
        "$.nodeTaints.boundAt.seconds",
    ),
    (
        "Decide",
        pb.DecideRequest(pod={"metadata": {"deletion_timestamp": FAR}}, node=NODE),
        "$.pod.metadata.deletionTimestamp.seconds",
    ),
    (
        "Decide",
        pb.DecideRequest(
            pod={"status": {"conditions": [{}, {"last_transition_time": FAR}]}}, node=NODE
        ),
        "$.pod.status.conditions[1].lastTransitionTime.seconds",
    ),
    (
        "Decide",
        pb.DecideRequest(pod=POD, node={"spec": {"taints": [{}, {"time_added": FAR}]}}),
        "$.node.spec.taints[1].timeAdded.seconds",
    ),
    *(
        (
            "Decide",
            pb.DecideRequest(pod=POD, node=NODE, node_taints={"first_observed": [observed]}),
            f"$.nodeTaints.firstObserved[0].{missing}",
        )
        for observed, missing in [
            ({"effect": "", "time": {}}, "key"),
            ({"key": "", "time": {}}, "effect"),
            ({"key": "", "effect": ""}, "time"),
        ]
    ),
    ("Decide", pb.DecideRequest(pod=TOLERANT, node=CROWDED), "$.node.spec.taints"),
    ("DecideBatch", pb.DecideBatchRequest(pods=[POD]), "$"),
    ("DecideBatch", pb.DecideBatchRequest(node=NODE, pods=[POD] * (MAX_PODS + 1)), "$.pods"),
    (
        "DecideBatch",
        pb.DecideBatchRequest(
            node=NODE, pods=[POD] * 123 + [kube.Pod(metadata={"creation_timestamp": FAR})]
        ),
        "$.pods[123].metadata.creationTimestamp.seconds",
    ),
    ("PreviewTaintChange", pb.PreviewTaintChangeRequest(node=NODE), "$.addTaints"),
    ("PreviewTaintChange", pb.PreviewTaintChangeRequest(add_taints=[{"key": "a"}]), "$.node"),
    (
        "PreviewTaintChange",
        pb.PreviewTaintChangeRequest(node=NODE, add_taints=[{"time_added": FAR}]),
        "$.addTaints[0].timeAdded.seconds",
    ),
    (
        "PreviewTaintChange",
        pb.PreviewTaintChangeRequest(node=NODE, remove_taints=[{"effect": "NoExecute"}]),
        "$.removeTaints[0].key",
    ),
    ("DecideBatch", devices(resource_claims=[{}] * (MAX_CLAIMS + 1)), CLAIMS),
    (
        "DecideBatch",
        devices(resource_slices=[{}] * (MAX_SLICES + 1)),
        "$.deviceTaints.resourceSlices",
    ),
    (
        "DecideBatch",
        devices(device_taint_rules=[{}] * (MAX_RULES + 1)),
        "$.deviceTaints.deviceTaintRules",
    ),
    (
        "DecideBatch",
        devices(resource_slices=[{}, {"spec": {"devices": [{"taints": [FAR_TAINT]}]}}]),
        "$.deviceTaints.resourceSlices[1].spec.devices[0].taints[0].timeAdded.seconds",
    ),
    (
        "DecideBatch",
        devices(resource_slices=[{"spec": {"devices": [{}] * 25_001}}] * 2),
        "$.deviceTaints.resourceSlices[*].spec.devices",
    ),
    (
        "DecideBatch",
        devices(resource_claims=[allocated([{}] * 50_001)] * 2),
        "$.deviceTaints.resourceClaims[*].status.allocation.devices.results",
    ),
    ("PreviewDeviceTaintRule", pb.PreviewDeviceTaintRuleRequest(pods=[POD]), "$.rule"),
    (
        "PreviewDeviceTaintRule",
        pb.PreviewDeviceTaintRuleRequest(rule={"spec": {"taint": FAR_TAINT}}),
        "$.rule.spec.taint.timeAdded.seconds",
    ),
    (
        "PreviewDeviceTaintRule",
        pb.PreviewDeviceTaintRuleRequest(
            rule={},
            device_taints={"device_taint_rules": [{"metadata": {"deletion_timestamp": FAR}}]},
        ),
        "$.deviceTaints.deviceTaintRules[0].metadata.deletionTimestamp.seconds",
    ),
]


@pytest.mark.parametrize(
    ("method", "request_", "path"), FIELDS, ids=[f"{m} {path}" for m, _, path in FIELDS]
)
async def test_a_wrong_field_is_named(
    face: Face, method: str, request_: Message, path: str
) -> None:
    told = await refusal(face, method, request_.SerializeToString())
    assert told == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_field", path)


@pytest.mark.parametrize(
    ("seconds", "decided_at"),
    [
        # As REST answers 9999-12-31T23:59:59-23:59 and 0001-01-01T00:00:00+23:59.
        (253_402_300_799 + 86_340, "9999-12-31T23:59:59Z"),
        (-62_135_596_800 - 86_340, "0001-01-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ],
)
async def test_an_instant_that_another_offset_can_write_is_moved_as_by_rest(
    face: Face, seconds: int, decided_at: str
) -> None:
    request = pb.DecideRequest(pod=POD, node=NODE, now={"seconds": seconds})
    assert plain(await face.stub.Decide(request))["decision"]["decidedAt"] == decided_at


async def test_the_longest_batch_is_answered(face: Face) -> None:
    response = await face.stub.DecideBatch(pb.DecideBatchRequest(node=NODE, pods=[POD] * MAX_PODS))
    assert len(response.decisions) == MAX_PODS


@pytest.mark.parametrize(
    ("methods", "most", "of_a_batch"), [(ONE, 100, 150), (MANY, 100, 50), (MANY, 150, 200)]
)
async def test_too_long_a_request(methods: tuple[str, ...], most: int, of_a_batch: int) -> None:
    settings = GrpcSettings(port=0, max_message_bytes=most, max_batch_message_bytes=of_a_batch)
    allowed = most if methods == ONE else max(most, of_a_batch)
    async with running(settings) as face:
        for method in methods:
            told = await refusal(face, method, bytes(allowed + 1))
            assert told == (grpc.StatusCode.RESOURCE_EXHAUSTED, "body_too_large", "$")
            # Not too long, and no message.
            assert (await refusal(face, method, bytes(allowed)))[1] == "malformed_body"
            # Far too long: the transport does not even take it, and has no details to give.
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await face.raw(method)(bytes(2 * most + 1))
            assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert rpc_status.from_call(caught.value) is None


async def test_programs_are_told_one_word_and_whose_word_it_is(face: Face) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await face.stub.Decide(pb.DecideRequest())
    info = error_details_pb2.ErrorInfo()
    assert rpc_status.from_call(caught.value).details[0].Unpack(info)
    assert (info.domain, info.reason) == ("bailiff.dev", "INVALID_FIELD")


@pytest.mark.parametrize("kind", [RefusedError, *RefusedError.__subclasses__()])
def test_reasons_are_spelled_as_google_wants_them(kind: type[RefusedError]) -> None:
    assert re.fullmatch("[A-Z][A-Z0-9_]+[A-Z0-9]", kind.code)


async def test_our_own_fault_is_told_without_particulars(
    face: Face, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("bailiff.grpc_api.questions.AskedByMethod._plan", fail)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await face.stub.Decide(pb.DecideRequest(pod=POD, node=NODE))
    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert error_of(caught.value)["error"] == "internal"
    assert "secret" not in str(caught.value.details())
    assert "secret" in caplog.text


@pytest.mark.parametrize("letter", ["s", "é", "中", "😀"])
async def test_an_error_about_very_long_text_still_arrives(face: Face, letter: str) -> None:
    request = pb.DecideRequest(pod=POD, node=NODE, systems=["s" * 100_000])
    told = await refusal(face, "Decide", request.SerializeToString())
    assert told == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_field", "$.systems[0]")
    request = pb.DecideRequest(pod=POD, node=NODE)
    request.others[letter * 2000].update({"a": 1})
    told = await refusal(face, "Decide", request.SerializeToString())
    assert told[:2] == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_field")


@pytest.mark.parametrize(
    ("method", "message", "path", "told"),
    [
        (
            "RankForPressure",
            pb.RankForPressureRequest(signal="mem"),
            "signal",
            "must be one of memory.available, ",
        ),
        (
            "ReadEvictionConfiguration",
            pb.ReadEvictionConfigurationRequest(
                configuration={"raw": b"{}"}, extensions={"stall_window": "20s"}
            ),
            "extensions.stall_window",
            "must be one of 10s, 60s, 300s, got '20s'",
        ),
        (
            "ReadEvictionConfiguration",
            pb.ReadEvictionConfigurationRequest(
                configuration={"raw": b"{}"}, extensions={"dry_run_hard": ["mem"]}
            ),
            "extensions.dry_run_hard[0]",
            "must be one of memory.available, ",
        ),
        (
            "DecideBatch",
            pb.DecideBatchRequest(
                pods=[kube.Pod(spec={"overhead": {"memory": {"string": "12Mo"}}})], node=kube.Node()
            ),
            "pods[0].spec.overhead",
            "must be a quantity such as 100Mi, 1.5G or 250m",
        ),
    ],
    ids=lambda told: told if isinstance(told, str) else "",
)
async def test_a_wrong_word_is_answered_with_those_allowed(
    face: Face, method: str, message: Message, path: str, told: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await face.raw(method)(message.SerializeToString())
    status = rpc_status.from_call(caught.value)
    bad = error_details_pb2.BadRequest()
    assert any(detail.Unpack(bad) for detail in status.details)
    assert bad.field_violations[0].field.startswith(path)
    assert bad.field_violations[0].description.startswith(told)
