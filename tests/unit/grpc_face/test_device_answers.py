"""Questions with devices are answered as by the core, long ones too."""

from __future__ import annotations

from typing import Any

import grpc
import msgspec
import pytest
from hypothesis import given, settings

from bailiff.decisions import (
    DeviceFacts,
    DeviceTaintRuleFacts,
    Facts,
    NodeFacts,
    decide,
    decide_devices,
    decide_node,
    preview_rule,
)
from bailiff.grpc_api import GrpcSettings
from bailiff.grpc_api.bounds import MessageBounds
from bailiff.grpc_api.errors import OverloadedError
from bailiff.kinds import decode
from bailiff.turns import LONG
from bailiff.v1 import eviction_decision_service_pb2 as pb
from tests.harness.faces.device_questions import (
    ABOUT_A_NODE,
    ABOUT_A_RULE,
    ABOUT_ONE,
    ABOUT_PODS,
    NODE,
    Body,
)
from tests.harness.faces.grpc_face import (
    NOW,
    Face,
    ask,
    error_of,
    message_of,
    running,
)


def builtins(answer: object) -> Any:
    return msgspec.to_builtins(answer)


@settings(max_examples=60, deadline=None)
@given(body=ABOUT_PODS)
async def test_devices_alone(body: Body) -> None:
    facts = decode(msgspec.json.encode(body), DeviceFacts)
    assert await ask("device-taints", body) == builtins(decide_devices(facts, NOW))


@settings(max_examples=60, deadline=None)
@given(body=ABOUT_ONE)
async def test_one_pod_with_devices(body: Body) -> None:
    facts = decode(msgspec.json.encode(body), Facts)
    assert await ask("decide", body) == builtins(decide(facts, NOW))


@settings(max_examples=60, deadline=None)
@given(body=ABOUT_A_NODE)
async def test_a_batch_with_devices(body: Body) -> None:
    facts = decode(msgspec.json.encode(body), NodeFacts)
    assert (await ask("node", body))["decisions"] == list(builtins(decide_node(facts, NOW)))


@settings(max_examples=60, deadline=None)
@given(body=ABOUT_A_RULE)
async def test_a_rule(body: Body) -> None:
    facts = decode(msgspec.json.encode(body), DeviceTaintRuleFacts)
    assert await ask("device-taint-rule", body) == builtins(preview_rule(facts, NOW))


def many(count: int) -> Body:
    """Pods with a tainted GPU each."""
    user = {"resource": "pods", "name": "p"}
    result = {"driver": "gpu.example.com", "pool": "n"}
    return {
        "pods": [
            {
                "metadata": {"namespace": "shop", "name": f"p-{i}", "uid": f"u-{i}"},
                "spec": {
                    "nodeName": "n",
                    "resourceClaims": [{"name": "gpu", "resourceClaimName": f"c-{i}"}],
                },
            }
            for i in range(count)
        ],
        "resourceClaims": [
            {
                "metadata": {"namespace": "shop", "name": f"c-{i}"},
                "status": {
                    "allocation": {"devices": {"results": [result | {"device": f"g-{i}"}]}},
                    "reservedFor": [user | {"uid": f"u-{i}"}],
                },
            }
            for i in range(count)
        ],
        "deviceTaintRules": [
            {
                "metadata": {"name": "r"},
                "spec": {
                    "deviceSelector": {"driver": "gpu.example.com"},
                    "taint": {
                        "key": "a",
                        "effect": "NoExecute",
                        "timeAdded": "2026-01-01T00:00:10Z",
                    },
                },
            }
        ],
    }


async def test_a_question_that_is_put_aside_is_answered_as_any_other() -> None:
    body = many(4000)
    request = message_of(body, pb.DecideDeviceTaintsRequest())
    assert request.ByteSize() > LONG
    facts = decode(msgspec.json.encode(body), DeviceFacts)
    assert await ask("device-taints", body) == builtins(decide_devices(facts, NOW))
    beside = body | {"node": NODE, "pods": body["pods"][:1000]}
    facts_of_node = decode(msgspec.json.encode(beside), NodeFacts)
    answer = await ask("node", beside)
    assert answer["decisions"] == list(builtins(decide_node(facts_of_node, NOW)))


async def test_an_error_of_a_question_that_is_put_aside_is_told(face: Face) -> None:
    body = many(4000)
    del body["pods"], body["resourceClaims"]
    body["resourceSlices"] = [{"spec": {"devices": [{"name": "x" * 50}] * 51_000}}]
    request = message_of(body | {"pods": [{}]}, pb.DecideDeviceTaintsRequest())
    assert request.ByteSize() > LONG
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await face.stub.DecideDeviceTaints(request)
    path = "$.resourceSlices[*].spec.devices"
    assert error_of(caught.value) == {"error": "invalid_field", "path": path}


async def test_a_question_longer_than_any_other_may_be_is_answered() -> None:
    request = message_of(many(200), pb.DecideDeviceTaintsRequest())
    size = request.ByteSize()
    allowed = GrpcSettings(port=0, max_message_bytes=size // 4, max_device_message_bytes=size)
    async with running(allowed) as face:
        response = await face.stub.DecideDeviceTaints(request)
    assert len(response.decisions) == len(response.claims) == 200


async def test_too_many_long_questions_at_a_time_are_told_so() -> None:
    settings = GrpcSettings(port=0, max_message_bytes=100, max_long_messages=0)
    async with running(settings) as face:
        request = message_of(many(20), pb.DecideDeviceTaintsRequest())
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await face.stub.DecideDeviceTaints(request)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert error_of(caught.value)["error"] == "overloaded"
        short = message_of({"pods": [{}]}, pb.DecideDeviceTaintsRequest())
        assert len((await face.stub.DecideDeviceTaints(short)).decisions) == 1


def test_only_long_questions_take_a_place_and_give_it_back() -> None:
    bounds = MessageBounds(GrpcSettings(max_message_bytes=10, max_long_messages=2))
    with bounds.admit(bytes(11)), bounds.admit(bytes(11)):
        with bounds.admit(bytes(10)):
            pass
        with pytest.raises(OverloadedError), bounds.admit(bytes(11)):
            pass
    with bounds.admit(bytes(11)), pytest.raises(RuntimeError), bounds.admit(bytes(11)):
        raise RuntimeError
    with bounds.admit(bytes(11)), bounds.admit(bytes(11)):
        pass


async def test_the_stream_takes_devices_as_a_batch_does(face: Face) -> None:
    batch = message_of(many(3) | {"node": NODE}, pb.DecideNodeRequest())
    empty = pb.DecideNodeRequest(node=batch.node, pods=batch.pods)
    requests = [pb.DecideStreamRequest(batch=one) for one in (batch, empty, batch)]
    answers = [answer.answer async for answer in face.stub.DecideStream(iter(requests))]
    expected = [await face.stub.DecideNode(one) for one in (batch, empty, batch)]
    assert answers == expected
    systems = [[f.system for f in one.decisions[0].findings] for one in answers]
    assert systems == [["node-taints", "device-taints"], ["node-taints"], *systems[:1]]


async def test_what_devices_decide_is_counted(face: Face) -> None:
    await face.stub.DecideDeviceTaints(message_of(many(3), pb.DecideDeviceTaintsRequest()))
    rule, *_ = many(0)["deviceTaintRules"]
    asked = many(2) | {"rule": rule}
    await face.stub.PreviewDeviceTaintRule(message_of(asked, pb.PreviewDeviceTaintRuleRequest()))
    given = {"verdict": "EVICT_AT", "system": "device-taints"}
    assert face.sample("bailiff_grpc_decisions_total", **given) == 5
    for method in ("DecideDeviceTaints", "PreviewDeviceTaintRule"):
        assert face.sample("bailiff_grpc_requests_total", method=method, code="OK") == 1
