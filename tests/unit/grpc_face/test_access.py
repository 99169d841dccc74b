"""Who may call which method, and how a refusal is told over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # it ships no types
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc  # type: ignore[import-untyped]
from grpc_status import rpc_status  # type: ignore[import-untyped]  # it ships no types
from prometheus_client import CollectorRegistry

from bailiff.access import AccessSettings, Account, Asked, Guard, Rules, grpc_rules
from bailiff.grpc_api import GrpcSettings
from bailiff.grpc_api.doorman import Doorman
from bailiff.grpc_api.interceptors import Layers
from bailiff.grpc_api.layers import Rooms
from bailiff.grpc_api.metrics import GrpcMetrics
from bailiff.serving import ByteBudget, Gate
from bailiff.v1 import eviction_decision_service_pb2 as pb
from tests.harness.clocks import ManualClock
from tests.harness.faces.grpc_face import NODE, POD, Face, running
from tests.harness.reviewing import Reviewer

ONE = pb.DecideRequest(node=NODE, pod=POD)
BATCH = pb.DecideBatchRequest(node=NODE, pods=[POD])
GOOD = (("authorization", "Bearer good"),)
Metadata = tuple[tuple[str, str], ...]


@asynccontextmanager
async def guarded(
    reviewer: Reviewer | None = None, settings: Mapping[str, float] | None = None
) -> AsyncIterator[Face]:
    given = AccessSettings.model_validate(settings or {})
    guard = Guard(given, ManualClock(), reviewer=reviewer or Reviewer())
    async with running(guard=guard) as face:
        yield face


async def refusal(call: Any) -> tuple[str, str, int]:
    """The status, the reason, and the seconds to wait; OK where there is none."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        info, wait = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
        for detail in rpc_status.from_call(error).details:
            detail.Unpack(info)
            detail.Unpack(wait)
        return error.code().name, info.reason, wait.retry_delay.seconds
    return "OK", "", 0


async def all_of(call: Any) -> list[Any]:
    return [answer async for answer in call]


async def test_whoever_is_known_is_answered_by_every_kind_of_method() -> None:
    async with guarded() as face:
        for _ in range(2):
            answer = await face.stub.Decide(ONE, metadata=GOOD)
            assert answer.decision.reason == "NoTaint"
        parts = await all_of(face.stub.DecideBatchInParts(BATCH, metadata=GOOD))
        assert [len(part.decisions) for part in parts] == [1]
        requests = iter([pb.DecideStreamRequest(request_id=name, batch=BATCH) for name in "ab"])
        answers = await all_of(face.stub.DecideStream(requests, metadata=GOOD))
        assert [answer.request_id for answer in answers] == ["a", "b"]


@pytest.mark.parametrize(
    "metadata",
    [
        (),
        (("authorization", "Bearer bad"),),
        (("authorization", "Basic YTpi"),),
        (*GOOD, *GOOD),
        (("x-token", "good"),),
    ],
)
async def test_nobody_else_is(metadata: Metadata) -> None:
    unauthenticated = ("UNAUTHENTICATED", "UNAUTHENTICATED", 0)
    async with guarded() as face:
        assert await refusal(face.stub.Decide(ONE, metadata=metadata)) == unauthenticated
        in_parts = all_of(face.stub.DecideBatchInParts(BATCH, metadata=metadata))
        assert await refusal(in_parts) == unauthenticated
        stream = all_of(face.stub.DecideStream(iter(()), metadata=metadata))
        assert await refusal(stream) == unauthenticated
        count = face.sample("bailiff_grpc_requests_total", method="Decide", code="UNAUTHENTICATED")
        assert count == 1


async def test_health_is_told_to_everybody_and_reflection_to_whoever_is_known() -> None:
    async with guarded() as face:
        health = health_pb2_grpc.HealthStub(face.channel)
        assert (await health.Check(health_pb2.HealthCheckRequest())).status == 1
        reflection = reflection_pb2_grpc.ServerReflectionStub(face.channel)
        asked = [reflection_pb2.ServerReflectionRequest(list_services="")]
        stranger = reflection.ServerReflectionInfo(iter(asked))
        assert (await refusal(all_of(stranger)))[0] == "UNAUTHENTICATED"
        (told,) = await all_of(reflection.ServerReflectionInfo(iter(asked), metadata=GOOD))
        assert "bailiff.v1.EvictionDecisionService" in str(told)


async def test_a_method_that_is_in_no_table_is_forbidden_to_everybody() -> None:
    async def serve(request: bytes, context: object) -> bytes:
        return b"secret"

    class Handler(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails) -> Any:
            return grpc.unary_unary_rpc_method_handler(serve)

    guard = Guard(AccessSettings(), ManualClock(), reviewer=Reviewer())
    settings, metrics = GrpcSettings(), GrpcMetrics(CollectorRegistry())
    doorman = Doorman(settings, ByteBudget(), metrics)
    rules = Rules(grpc_rules(["bailiff.v1.EvictionDecisionService/Decide"]))
    rooms = Rooms(settings, doorman, metrics, ManualClock(), Gate(), rules, guard)
    server = grpc.aio.server(interceptors=[Layers(rooms.layers_of)])
    server.add_generic_rpc_handlers([Handler()])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            method: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
            method = channel.unary_unary("/new.Service/Method")
            assert await refusal(method(b"", metadata=GOOD)) == (
                "PERMISSION_DENIED",
                "FORBIDDEN",
                0,
            )
    finally:
        await server.stop(0)


async def test_what_the_api_server_does_not_say_is_unavailable() -> None:
    async with guarded(Reviewer(away=True)) as face:
        told = await refusal(face.stub.Decide(ONE, metadata=GOOD))
        assert told == ("UNAVAILABLE", "AUTHENTICATION_UNAVAILABLE", 1)


async def test_who_asks_too_much_is_told_when_to_come_again() -> None:
    exhausted = ("RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS", 2)
    settings = {"max_burst_requests": 2, "max_requests_per_second": 0.5}
    async with guarded(settings=settings) as face:
        for expected in (("OK", "", 0), ("OK", "", 0), exhausted):
            assert await refusal(face.stub.Decide(ONE, metadata=GOOD)) == expected
    async with guarded(settings=settings) as face:
        requests = iter([pb.DecideStreamRequest(batch=BATCH) for _ in range(3)])
        stream = face.stub.DecideStream(requests, metadata=GOOD)
        assert await refusal(all_of(stream)) == exhausted


async def test_where_nobody_is_asked_a_proxy_on_this_machine_has_no_quota() -> None:
    guard = Guard(AccessSettings(max_burst_requests=1), ManualClock())
    async with running(guard=guard, is_proxy=lambda _: True) as face:
        for _ in range(3):
            assert await refusal(face.stub.Decide(ONE)) == ("OK", "", 0)


async def test_bytes_of_streams_are_charged_too() -> None:
    async with guarded(settings={"max_burst_bytes": 10, "max_bytes_per_second": 1}) as face:
        requests = iter([pb.DecideStreamRequest(batch=BATCH)])
        await all_of(face.stub.DecideStream(requests, metadata=GOOD))
        code, _, seconds = await refusal(face.stub.Decide(ONE, metadata=GOOD))
        assert code == "RESOURCE_EXHAUSTED"
        assert seconds > BATCH.ByteSize()


async def test_the_guard_gets_the_address_of_a_proxy() -> None:
    asked: list[str] = []

    class Listening(Guard):
        async def admit(self, rules: Rules, asking: Asked) -> Account | None:
            asked.append(asking.address)
            return await super().admit(rules, asking)

    guard = Listening(AccessSettings(), ManualClock(), reviewer=Reviewer())
    async with running(guard=guard, is_proxy=lambda address: address == "127.0.0.1") as face:
        assert (await refusal(face.stub.Decide(ONE)))[0] == "UNAUTHENTICATED"
    assert asked == ["127.0.0.1"]
