"""Long questions and long answers: in threads, few at a time, in parts, and each bounded."""

from __future__ import annotations

import asyncio
import math
import sys
import threading
from typing import Any

import grpc
import pytest

from bailiff.decisions import SYSTEMS, Size
from bailiff.grpc_api import GrpcSettings
from bailiff.grpc_api.bounds import MessageBounds
from bailiff.grpc_api.counting import MAX_FIELDS, MAX_ITEMS
from bailiff.grpc_api.errors import AnswerTooLargeError, OverloadedError
from bailiff.grpc_api.parts import PART_BYTES, parts
from bailiff.grpc_api.questions import AskedByMethod
from bailiff.serving import ByteBudget, Threads
from bailiff.turns import is_long_protobuf
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2 as kube
from tests.harness.corpus import answer_of_core
from tests.harness.faces.device_questions import NODE, Body
from tests.harness.faces.grpc_face import (
    Face,
    ask,
    error_of,
    message_of,
    request_of,
    running,
    without_zeros,
)
from tests.harness.faces.grpc_in_process import asked_in_process

DRIVER = "gpu.example.com"


def many(count: int) -> Body:
    """Pods with a tainted GPU each."""
    user = {"resource": "pods", "name": "p"}
    result = {"driver": DRIVER, "pool": "n"}
    taint = {"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:10Z"}
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
        "deviceTaints": {
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
                    "spec": {"deviceSelector": {"driver": DRIVER}, "taint": taint},
                }
            ],
        },
    }


def batch(count: int) -> pb.DecideBatchRequest:
    return message_of(many(count), pb.DecideBatchRequest())


@pytest.mark.parametrize("beside", [{}, {"node": NODE}], ids=["devices alone", "and a node"])
async def test_a_question_that_is_put_aside_is_answered_as_any_other(beside: Body) -> None:
    body = many(1000) | beside
    assert is_long_protobuf(request_of("decideBatch", body).ByteSize())
    expected = answer_of_core(SYSTEMS.questions["decideBatch"], body)
    assert without_zeros(await ask("decideBatch", body)) == without_zeros(expected)


async def test_an_error_of_a_question_that_is_put_aside_is_told(face: Face) -> None:
    body = {
        "pods": [{}],
        "deviceTaints": {"resourceSlices": [{"spec": {"devices": [{"name": "x" * 50}] * 51_000}}]},
    }
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await face.stub.DecideBatch(message_of(body, pb.DecideBatchRequest()))
    path = "$.deviceTaints.resourceSlices[*].spec.devices"
    assert error_of(caught.value) == {"error": "invalid_field", "path": path}


@pytest.mark.parametrize("method", ["DecideBatch", "DecideBatchInParts"])
async def test_a_question_longer_than_any_other_may_be_is_answered(method: str) -> None:
    request = batch(200)
    size = request.ByteSize()
    allowed = GrpcSettings(port=0, max_message_bytes=size // 4, max_batch_message_bytes=size)
    async with running(allowed) as face:
        call = getattr(face.stub, method)(request)
        answers = [await call] if method == "DecideBatch" else [part async for part in call]
    (answer,) = answers
    assert len(answer.decisions) == len(answer.reports.device_taints.claims) == 200


async def test_too_many_long_questions_at_a_time_are_told_so() -> None:
    settings = GrpcSettings(port=0, max_message_bytes=100, max_long_messages=0)
    async with running(settings) as face:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await face.stub.DecideBatch(batch(20))
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert error_of(caught.value)["error"] == "overloaded"
        short = pb.DecideBatchRequest(pods=[kube.Pod()], node=kube.Node())
        assert len((await face.stub.DecideBatch(short)).decisions) == 1


async def test_a_caller_that_gives_up_keeps_its_place_until_its_thread_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    going, go_on = threading.Event(), threading.Event()
    answer_long = AskedByMethod.answer_long

    def slowly(self: AskedByMethod, data: bytes, in_one: bool) -> bytes:
        going.set()
        go_on.wait()
        return answer_long(self, data, in_one)

    monkeypatch.setattr(AskedByMethod, "answer_long", slowly)
    settings = GrpcSettings(port=0, max_message_bytes=100, max_long_messages=1)
    question = message_of(many(1000), pb.DecideBatchRequest())
    async with running(settings) as face:
        try:
            hasty = face.stub.DecideBatch(question)
            await asyncio.to_thread(going.wait)
            hasty.cancel()
            for _ in range(3):
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await face.stub.DecideBatch(question, timeout=2)
                assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        finally:
            go_on.set()
        async with asyncio.timeout(10):
            while not await is_answered(face, question):
                await asyncio.sleep(0.01)


async def is_answered(face: Face, question: pb.DecideBatchRequest) -> bool:
    try:
        return len((await face.stub.DecideBatch(question)).decisions) == len(question.pods)
    except grpc.aio.AioRpcError:
        return False


def test_only_long_questions_take_a_place_and_give_it_back() -> None:
    bounds = MessageBounds(GrpcSettings(max_message_bytes=10, max_long_messages=2))

    def admit(length: int) -> Any:
        return bounds.admit(bytes(length), bounds.longest(Size.MANY))

    with admit(11), admit(11):
        with admit(10):
            pass
        with pytest.raises(OverloadedError), admit(11):
            pass
    with admit(11), pytest.raises(RuntimeError), admit(11):
        raise RuntimeError
    with admit(11), admit(11):
        pass


async def test_an_answer_too_long_for_one_message_is_had_in_parts() -> None:
    request = batch(300)
    async with running(GrpcSettings(port=0)) as face:
        whole = await face.stub.DecideBatch(request)
    settings = GrpcSettings(port=0, max_answer_bytes=whole.ByteSize() - 1)
    async with running(settings) as face:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await face.stub.DecideBatch(request)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert error_of(caught.value)["error"] == "answer_too_large"
        assert "call DecideBatchInParts" in str(caught.value.details())
        given = {"verdict": "EVICT_AT", "system": "device-taints"}
        assert not face.sample("bailiff_grpc_decisions_total", **given)
        stream = face.stub.DecideStream(iter([pb.DecideStreamRequest(batch=request)]))
        (answer,) = [one async for one in stream]
        assert "call DecideBatchInParts" in answer.error.message
        told = [part async for part in face.stub.DecideBatchInParts(request)]
    merged = pb.DecideBatchResponse()
    for part in told:
        merged.MergeFrom(part)
    assert merged == whole


def test_parts_merge_to_the_whole_and_none_is_long_protobuf() -> None:
    answer = pb.PreviewDeviceTaintRuleResponse(published_devices=3, namespaces=2)
    answer.rule.name = "r"
    answer.condition.message = "m" * (PART_BYTES + 1)
    for index in range(5000):
        answer.decisions.add(node=f"node-{index}", message="x" * 500)
    told = list(parts(answer.SerializeToString(), answer.DESCRIPTOR, 2 * PART_BYTES))
    assert len(told) >= 4
    merged = pb.PreviewDeviceTaintRuleResponse()
    for part in told:
        assert len(part) <= PART_BYTES + 100 or b"m" * PART_BYTES in part
        merged.MergeFromString(part)
    assert merged == answer


def test_claims_of_a_report_are_parted_too() -> None:
    answer = pb.DecideBatchResponse()
    for index in range(5000):
        claim = answer.reports.device_taints.claims.add()
        claim.claim.name = f"{index}-{'x' * 500}"
    told = list(parts(answer.SerializeToString(), answer.DESCRIPTOR, 2 * PART_BYTES))
    assert len(told) > 2
    assert max(map(len, told)) < PART_BYTES + 100
    merged = pb.DecideBatchResponse()
    for part in told:
        merged.MergeFromString(part)
    assert merged == answer


def test_an_entry_that_fits_no_message_is_told() -> None:
    answer = pb.DecideBatchResponse()
    answer.decisions.add(message="x" * 2 * PART_BYTES)
    with pytest.raises(AnswerTooLargeError, match="without a trace"):
        list(parts(answer.SerializeToString(), answer.DESCRIPTOR, PART_BYTES))


def tolerating(count: int) -> kube.Pod:
    return kube.Pod(spec=kube.PodSpec(tolerations=[kube.Toleration()] * count))


async def test_lists_in_an_object_are_counted_before_they_are_read(face: Face) -> None:
    asked = pb.DecideRequest(pod=tolerating(MAX_FIELDS + 1), node=kube.Node())
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await face.stub.Decide(asked)
    assert error_of(caught.value) == {"error": "invalid_field", "path": "$.pod.spec"}
    assert f"more than {MAX_FIELDS} fields" in str(caught.value.details())


async def test_all_lists_of_a_question_are_counted_together(face: Face) -> None:
    each = MAX_ITEMS // 11
    asked = pb.DecideBatchRequest(pods=[tolerating(each)] * 12, node=kube.Node())
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await face.stub.DecideBatch(asked)
    told = error_of(caught.value)
    assert told == {"error": "invalid_field", "path": "$.pods[10].spec.tolerations"}
    # Nothing of it is left for the next question.
    asked = pb.DecideBatchRequest(pods=[tolerating(each)] * 10, node=kube.Node())
    assert len((await face.stub.DecideBatch(asked)).decisions) == 10


async def test_the_stream_takes_devices_as_a_batch_does(face: Face) -> None:
    with_devices = message_of(many(3) | {"node": NODE}, pb.DecideBatchRequest())
    without = pb.DecideBatchRequest(node=with_devices.node, pods=with_devices.pods)
    batches = (with_devices, without, with_devices)
    requests = [pb.DecideStreamRequest(batch=one) for one in batches]
    answers = [answer.answer async for answer in face.stub.DecideStream(iter(requests))]
    assert answers == [await face.stub.DecideBatch(one) for one in batches]
    systems = [[f.system for f in one.decisions[0].findings] for one in answers]
    assert systems == [["node-taints", "device-taints"], ["node-taints"], *systems[:1]]


async def test_what_devices_decide_is_counted(face: Face) -> None:
    await face.stub.DecideBatch(batch(3))
    rule, *_ = many(0)["deviceTaints"]["deviceTaintRules"]
    asked = many(2) | {"rule": rule}
    await face.stub.PreviewDeviceTaintRule(message_of(asked, pb.PreviewDeviceTaintRuleRequest()))
    given = {"verdict": "EVICT_AT", "system": "device-taints"}
    assert face.sample("bailiff_grpc_decisions_total", **given) == 5
    for method in ("DecideBatch", "PreviewDeviceTaintRule"):
        assert face.sample("bailiff_grpc_requests_total", method=method, code="OK") == 1


async def test_of_a_question_that_waits_for_a_thread_only_its_bytes_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads, over = Threads(1, math.inf, ByteBudget()), threading.Event()
    asked = asked_in_process("decideBatch", threads)
    pods = [kube.Pod(metadata=kube.ObjectMeta(name=f"p-{i}")) for i in range(5000)]
    data = pb.DecideBatchRequest(pods=pods, node=kube.Node()).SerializeToString()
    assert not is_long_protobuf(len(data))
    facts = asked._facts
    parse, parsed = facts._parse, list[Any]()

    def seen(data: bytes) -> Any:
        parsed.append(parse(data))
        return parsed[0]

    monkeypatch.setattr(facts, "_parse", seen)
    works = asyncio.create_task(threads.run(over.wait))
    waits = asyncio.create_task(asked.answer(data))
    await asyncio.sleep(0.01)
    holders = sys.getrefcount(parsed[0])
    over.set()
    await asyncio.gather(works, waits)
    assert holders == 2
