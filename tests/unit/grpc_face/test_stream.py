"""DecideStream: in order, error by error, no faster than it is read."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # it ships no types

from bailiff.grpc_api import GrpcSettings
from bailiff.v1 import eviction_decision_service_pb2 as pb
from tests.harness.faces.grpc_face import NODE, POD, Face, running

BATCH = pb.DecideBatchRequest(node=NODE, pods=[POD, POD])


def reason(response: pb.DecideStreamResponse) -> str:
    info = error_details_pb2.ErrorInfo()
    assert response.error.details[0].Unpack(info)
    return str(info.reason)


async def test_answers_come_in_order_with_their_ids(face: Face) -> None:
    requests = [pb.DecideStreamRequest(request_id=f"r{i}", batch=BATCH) for i in range(20)]
    answers = [answer async for answer in face.stub.DecideStream(iter(requests))]
    assert [answer.request_id for answer in answers] == [r.request_id for r in requests]
    alone = await face.stub.DecideBatch(BATCH)
    assert all(answer.answer == alone for answer in answers)


async def test_a_stream_is_counted_once_and_each_of_its_requests(face: Face) -> None:
    good, bad = pb.DecideStreamRequest(batch=BATCH), pb.DecideStreamRequest()
    _ = [answer async for answer in face.stub.DecideStream(iter([good, bad, good]))]
    asked, times = "bailiff_grpc_requests_total", "bailiff_grpc_request_duration_seconds_count"
    assert face.sample("bailiff_grpc_streams_total", method="DecideStream", code="OK") == 1
    assert face.sample(asked, method="DecideStream", code="OK") == 2
    assert face.sample(asked, method="DecideStream", code="INVALID_ARGUMENT") == 1
    assert face.sample(times, method="DecideStream") == 3


@pytest.mark.parametrize(
    ("bad", "request_id", "code", "why", "text"),
    [
        pytest.param(
            pb.DecideStreamRequest(request_id="b" * 1001, batch=BATCH).SerializeToString(),
            "",
            3,
            "INVALID_FIELD",
            "at most 1000 characters are allowed, it has 1001",
            id="a long id",
        ),
        pytest.param(b"\xff", "", 3, "MALFORMED_BODY", "not a valid", id="no message"),
        pytest.param(
            pb.DecideStreamRequest(request_id="b").SerializeToString() + b"\x12\x01\xff",
            "b",
            3,
            "MALFORMED_BODY",
            "batch: not a valid",
            id="no batch message",
        ),
        pytest.param(
            pb.DecideStreamRequest(request_id="b").SerializeToString(),
            "b",
            3,
            "INVALID_FIELD",
            "batch: nothing to decide from",
            id="no batch",
        ),
        pytest.param(
            pb.DecideStreamRequest(request_id="b" * 5000).SerializeToString(),
            "",
            8,
            "BODY_TOO_LARGE",
            "at most 4000",
            id="too long",
        ),
    ],
)
async def test_an_error_is_an_answer_and_the_stream_goes_on(
    bad: bytes, request_id: str, code: int, why: str, text: str
) -> None:
    good = pb.DecideStreamRequest(request_id="good", batch=BATCH).SerializeToString()
    async with running(
        GrpcSettings(port=0, max_message_bytes=4000, max_batch_message_bytes=4000)
    ) as face:
        call = face.raw_stream()(iter([good, bad, good]))
        answers = [pb.DecideStreamResponse.FromString(answer) async for answer in call]
        assert await call.code() is grpc.StatusCode.OK
    first, refused, last = answers
    assert first == last
    assert first.WhichOneof("result") == "answer"
    assert (refused.request_id, refused.error.code, reason(refused)) == (request_id, code, why)
    assert text in refused.error.message


async def test_a_client_that_does_not_read_is_not_read_from(face: Face) -> None:
    request = pb.DecideStreamRequest(batch=pb.DecideBatchRequest(node=NODE, pods=[POD] * 1000))
    call = face.stub.DecideStream()
    # The answers fill the windows of the connection, and then nothing moves any more.
    for _ in range(2000):
        try:
            async with asyncio.timeout(1):
                await call.write(request)
        except TimeoutError:
            break
    else:
        pytest.fail("the server read everything though nothing was read from it")
    call.cancel()
