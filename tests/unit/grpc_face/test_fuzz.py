"""Random bytes and broken messages: every call gets a status, and the server lives on."""

from __future__ import annotations

import grpc
import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1.scheduling_service_pb2 import JudgeNodesStreamRequest, JudgeNodesStreamResponse
from tests.harness.faces import device_questions, node_questions, questions
from tests.harness.faces.grpc_face import (
    NODE,
    POD,
    SERVICE,
    Face,
    message_of,
    request_of,
    running,
)
from tests.harness.fuzzing import fuzzed

pytestmark = pytest.mark.schema

EXPECTED = {grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT}
BODIES = {
    "decide": questions.ABOUT_ONE | device_questions.ABOUT_ONE,
    "decideBatch": questions.ABOUT_PODS | device_questions.ABOUT_PODS,
    "previewTaintChange": questions.ABOUT_A_CHANGE,
    "previewDeviceTaintRule": device_questions.ABOUT_A_RULE,
    "judgeNodes": node_questions.ABOUT_NODES | node_questions.with_devices(),
}


@st.composite
def broken(draw: st.DrawFn, messages: st.SearchStrategy[Message]) -> bytes:
    """A valid message with bytes cut out, put in or changed."""
    data = bytearray(draw(messages).SerializeToString())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(data)


async def still_answers(face: Face) -> bool:
    response = await face.stub.Decide(pb.DecideRequest(pod=POD, node=NODE), timeout=30)
    return bool(response.decision.verdict)


def stream_requests() -> st.SearchStrategy[Message]:
    return BODIES["decideBatch"].map(
        lambda batch: message_of({"requestId": "r", "batch": batch}, pb.DecideStreamRequest())
    )


@pytest.mark.parametrize("question", BODIES)
@fuzzed(100)
@given(data=st.data())
async def test_unary_methods(question: str, data: st.DataObject) -> None:
    messages = BODIES[question].map(lambda body: request_of(question, body))
    request = data.draw(st.binary(max_size=200) | broken(messages))
    async with running() as face:
        assert await face.raw_of(question)(request, timeout=30).code() in EXPECTED
        assert await still_answers(face)


@fuzzed(100)
@given(requests=st.lists(st.binary(max_size=200) | broken(stream_requests()), max_size=8))
async def test_the_stream(requests: list[bytes]) -> None:
    async with running() as face:
        call = face.raw_stream()(iter(requests), timeout=30)
        answers = [pb.DecideStreamResponse.FromString(answer) async for answer in call]
        assert await call.code() is grpc.StatusCode.OK
        assert len(answers) == len(requests)
        codes = {answer.error.code for answer in answers}
        assert codes <= {code.value[0] for code in EXPECTED}
        assert await still_answers(face)


@fuzzed(50)
@given(data=st.binary(max_size=100))
@pytest.mark.parametrize(
    "method",
    [
        "/grpc.health.v1.Health/Check",
        f"/{SERVICE}/NoSuchMethod",
        "/no.such.Service/Method",
    ],
)
async def test_whatever_else_is_called(method: str, data: bytes) -> None:
    async with running() as face:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
        call = face.channel.unary_unary(method)
        # Health has grpcio's own parser, which ends what it cannot read with INTERNAL.
        assert await call(data, timeout=30).code() is not grpc.StatusCode.DEADLINE_EXCEEDED
        assert await still_answers(face)


@st.composite
def node_streams(draw: st.DrawFn) -> list[bytes]:
    """The requests of a stream that registers nodes, some of them broken."""
    told = [message_of(one, JudgeNodesStreamRequest()) for one in draw(node_questions.streams())]
    return [
        draw(st.just(one.SerializeToString()) | broken(st.just(one)) | st.binary(max_size=50))
        for one in told
    ]


@fuzzed(100)
@given(requests=node_streams())
async def test_the_stream_of_nodes(requests: list[bytes]) -> None:
    async with running() as face:
        method = "/bailiff.v1.SchedulingService/JudgeNodesStream"
        stream: grpc.aio.StreamStreamMultiCallable[bytes, bytes]
        stream = face.channel.stream_stream(method)
        call = stream(iter(requests), timeout=30)
        answers = [JudgeNodesStreamResponse.FromString(answer) async for answer in call]
        assert await call.code() is grpc.StatusCode.OK
        assert len(answers) == len(requests)
        codes = {answer.error.code for answer in answers}
        assert codes <= {code.value[0] for code in EXPECTED}
        assert await still_answers(face)
