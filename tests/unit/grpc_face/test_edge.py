"""What a client may make the server hold: connections, calls, bytes, and each for how long."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from typing import TYPE_CHECKING

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # no types
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.grpc_api import GrpcSettings, create_server
from bailiff.grpc_api.doorman import Doorman
from bailiff.grpc_api.rarely import limit_log_of_grpcio
from bailiff.serving import ByteBudget
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceStub
from tests.harness.clocks import START, ManualClock
from tests.harness.faces.grpc_face import (
    NODE,
    POD,
    SERVICE,
    Face,
    error_of,
    running,
    until_taken,
)
from tests.harness.faces.http2 import Http2Client, message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DECIDE, BATCH, STREAM = (f"/{SERVICE}/{name}" for name in ("Decide", "DecideBatch", "DecideStream"))
CHECK, WATCH = (f"/grpc.health.v1.Health/{name}" for name in ("Check", "Watch"))
REQUEST = pb.DecideRequest(pod=POD, node=NODE)
ASKED = REQUEST.SerializeToString()
SERVING = health_pb2.HealthCheckResponse.SERVING
OTHER = "127.0.0.2"


@contextlib.asynccontextmanager
async def client(
    face: Face, window: int = 65_535, address: str = OTHER
) -> AsyncIterator[Http2Client]:
    made = await Http2Client.connect(face.port, window=window, address=address)
    try:
        yield made
    finally:
        await made.close()


async def is_healthy(face: Face) -> bool:
    """Whether somebody else is answered, and told that the server lives."""
    health = health_pb2_grpc.HealthStub(face.channel)
    told = await health.Check(health_pb2.HealthCheckRequest())
    return told.status == SERVING and (await face.stub.Decide(REQUEST)).HasField("decision")


async def follows(face: Face) -> int:
    """What somebody is told who begins to follow the health."""
    watch = health_pb2_grpc.HealthStub(face.channel).Watch(health_pb2.HealthCheckRequest())
    async with asyncio.timeout(20):
        told = await watch.read()
    watch.cancel()
    return int(told.status)


async def error_of_silence(face: Face, method: str) -> tuple[grpc.StatusCode, str]:
    """What a call is told that sends nothing."""
    call: grpc.aio.StreamUnaryCall[bytes, bytes]
    call = face.channel.stream_unary(method)()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async with asyncio.timeout(20):
            await call
    return caught.value.code(), error_of(caught.value)["error"]


@pytest.mark.parametrize("method", [DECIDE, BATCH, f"{BATCH}InParts", CHECK, WATCH])
async def test_a_call_that_sends_nothing_ends(method: str) -> None:
    async with running(GrpcSettings(port=0, message_timeout_seconds=0.2)) as face:
        told = await error_of_silence(face, method)
        assert told == (grpc.StatusCode.DEADLINE_EXCEEDED, "slow_body")
        assert await is_healthy(face)


async def test_a_call_without_a_message_is_malformed(face: Face) -> None:
    call: grpc.aio.StreamUnaryCall[bytes, bytes]
    call = face.channel.stream_unary(DECIDE)()
    await call.done_writing()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error_of(caught.value)["error"] == "malformed_body"


async def test_a_stream_that_rests_ends() -> None:
    settings = GrpcSettings(port=0, message_timeout_seconds=0.1, stream_idle_seconds=1.0)
    async with running(settings) as face:
        call = face.raw_stream()()
        await call.write(b"")
        await call.read()
        async with asyncio.timeout(20):
            assert await call.code() is grpc.StatusCode.UNAVAILABLE
        assert "nothing was sent in this stream for 1 s" in await call.details()


@pytest.mark.parametrize("method", [DECIDE, BATCH])
async def test_calls_that_send_nothing_make_room_for_those_that_do(method: str) -> None:
    settings = GrpcSettings(port=0, max_concurrent_rpcs=2)
    async with running(settings) as face, client(face) as silent:
        streams = [silent.call(method) for _ in range(10)]
        async with asyncio.timeout(20):
            # One address has half of the places.
            while len(silent.ended) < len(streams) - 1:
                await asyncio.sleep(0.02)
        for _ in range(10):
            assert await is_healthy(face)


async def test_streams_take_no_place_of_calls_and_one_address_has_half_of_them() -> None:
    settings = GrpcSettings(port=0, max_concurrent_rpcs=1, max_streams=4)
    async with running(settings) as face, client(face) as other:
        streams = [other.call(STREAM) for _ in range(3)]
        await other.end_of(streams[2])
        assert other.ended == {streams[2]}
        assert await is_healthy(face)
        asked = iter([pb.DecideStreamRequest()])
        (answer,) = [one async for one in face.stub.DecideStream(asked)]
        assert answer.HasField("error")


@pytest.mark.parametrize("most", [1, 2])
async def test_a_stream_that_rests_makes_room_for_another(most: int) -> None:
    async with running(GrpcSettings(port=0, max_streams=most)) as face:
        resting = face.raw_stream()()
        await resting.write(b"")
        await resting.read()
        async with asyncio.timeout(20):
            while not resting.done():
                with contextlib.suppress(grpc.aio.AioRpcError):
                    async for _ in face.stub.DecideStream(iter([pb.DecideStreamRequest()])):
                        pass
                await asyncio.sleep(0.1)
        assert await resting.code() is grpc.StatusCode.UNAVAILABLE


async def test_who_follows_the_health_makes_room_for_others() -> None:
    async with running(GrpcSettings(port=0, max_watches=4)) as face, client(face) as greedy:
        streams = [greedy.call(WATCH) for _ in range(20)]
        for stream in streams:
            await greedy.send(stream, message(b""), end=True)
        watch = health_pb2_grpc.HealthStub(face.channel).Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == SERVING
        async with asyncio.timeout(20):
            while len(greedy.ended) < 18:
                await asyncio.sleep(0.02)
        # Of one address, too, the last that came are there.
        assert greedy.ended == set(streams[:18])
        assert await is_healthy(face)
        watch.cancel()


async def test_who_follows_the_health_and_does_not_read_is_told_of_its_end_once_it_reads() -> None:
    async with (
        running(GrpcSettings(port=0, max_watches=4)) as face,
        client(face, window=0) as greedy,
    ):
        streams = [greedy.call(WATCH) for _ in range(6)]
        for stream in streams:
            await greedy.send(stream, message(b""), end=True)
        # They are being written to, and cannot be ended meanwhile; their places are free.
        for _ in range(10):
            assert await is_healthy(face)
        assert await follows(face) == SERVING
        greedy.widen(65_535)
        async with asyncio.timeout(20):
            while len(greedy.ended) < 4:
                await asyncio.sleep(0.02)
        assert greedy.ended == set(streams[:4])


async def test_who_follows_the_health_and_does_not_read_keeps_it_from_nobody() -> None:
    settings = GrpcSettings(port=0)
    server = create_server(settings, ManualClock(START), CollectorRegistry(), Options())
    port = await server.start()
    silent = await Http2Client.connect(port, window=0)
    await silent.send(silent.call(WATCH), message(b""), end=True)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel, asyncio.timeout(20):
        health = health_pb2_grpc.HealthStub(channel)
        watch = health.Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == SERVING
        stopping = asyncio.create_task(server.stop(1))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        watch.cancel()
        await stopping
    await silent.close()


async def test_questions_about_the_health_that_do_not_come_refuse_no_other() -> None:
    async with (
        running(GrpcSettings(port=0, max_concurrent_rpcs=2)) as face,
        client(face) as greedy,
        client(face, address="127.0.0.1") as neighbour,
    ):
        for _ in range(20):
            greedy.call(CHECK)
            neighbour.call(CHECK)
        health = health_pb2_grpc.HealthStub(face.channel)
        for _ in range(20):
            assert (await health.Check(health_pb2.HealthCheckRequest())).status == SERVING


@pytest.mark.parametrize("method", [BATCH, STREAM])
async def test_of_messages_that_do_not_end_no_more_is_taken_than_there_is(method: str) -> None:
    budget = ByteBudget(2_000_000)
    # Who is not read any more cannot say that it has gone: its bytes come back when time is up.
    settings = GrpcSettings(port=0, message_timeout_seconds=4.0)
    async with running(settings, budget=budget) as face, contextlib.AsyncExitStack() as stack:
        sending = []
        for _ in range(4):
            one = await stack.enter_async_context(client(face))
            stream = one.call(method)
            data = message(bytes(4_000_000))[:-1]
            sending.append(asyncio.create_task(one.send(stream, data)))
        taken = -1
        async with asyncio.timeout(20):
            while budget.taken > taken or not taken:
                taken = budget.taken
                await asyncio.sleep(0.3)
        # One address has half of it.
        assert 500_000 < budget.taken <= 1_000_000
        assert not any(one.done() for one in sending)
        assert await is_healthy(face)
        for task in sending:
            task.cancel()
        await stack.aclose()
        await until_taken(budget, 0)


async def test_a_long_message_is_taken_once_there_is_memory_again() -> None:
    # On a busy machine the caller takes its time, and must not be taken for one who stalls.
    budget = ByteBudget(24_000_000, spared_seconds=60)
    asked = pb.DecideBatchRequest(node=NODE, pods=[POD] * 20_000)
    assert 100_000 < asked.ByteSize() < 400_000
    budget.take(23_900_000)
    async with running(GrpcSettings(port=0), budget=budget) as face:
        call = asyncio.ensure_future(face.stub.DecideBatch(asked))
        await asyncio.sleep(1)
        assert not call.done()
        budget.give_back(23_900_000)
        async with asyncio.timeout(20):
            assert len((await call).decisions) == 20_000
        await until_taken(budget, 0)


async def test_a_message_that_does_not_end_ends_its_stream_with_its_connection() -> None:
    settings = GrpcSettings(port=0, message_timeout_seconds=0.4)
    async with running(settings) as face, client(face) as one:
        await one.send(one.call(STREAM), message(bytes(100))[:50])
        async with asyncio.timeout(20):
            await one.closed.wait()
        assert face.sample("bailiff_grpc_connections_ended_total", reason="slow_message") == 1
        assert await is_healthy(face)


@pytest.mark.parametrize("count", [1, 3])
async def test_an_answer_that_is_not_read_ends_its_connection(count: int) -> None:
    settings = GrpcSettings(port=0, answer_timeout_seconds=0.5)
    async with running(settings) as face, client(face, window=0) as one:
        for _ in range(count):
            await one.send(one.call(DECIDE), message(ASKED), end=True)
        async with asyncio.timeout(20):
            await one.closed.wait()
        assert face.sample("bailiff_grpc_connections_ended_total", reason="slow_reader") == 1
        assert await is_healthy(face)


async def test_a_stream_whose_answers_are_not_read_ends_with_its_connection() -> None:
    settings = GrpcSettings(port=0, answer_timeout_seconds=0.5)
    async with running(settings) as face, client(face, window=0) as one:
        await one.send(one.call(STREAM), message(b""))
        async with asyncio.timeout(20):
            await one.closed.wait()
        assert await is_healthy(face)
    assert face.budget.taken == 0


async def test_of_answers_that_are_not_read_there_are_only_so_many() -> None:
    settings = GrpcSettings(port=0, max_concurrent_rpcs=3, max_streams=3)
    async with running(settings) as face, client(face, window=0) as one:
        for _ in range(20):
            await one.send(one.call(DECIDE), message(ASKED), end=True)
            await asyncio.sleep(0.01)
        async with asyncio.timeout(20):
            await one.closed.wait()
        assert face.sample("bailiff_grpc_connections_ended_total", reason="unread_answers") == 1
        assert await is_healthy(face)


@pytest.mark.parametrize(
    ("settings", "from_one"),
    [
        pytest.param(GrpcSettings(port=0, max_connections_per_peer=3), 3, id="of one address"),
        # The last one is for an address that has none.
        pytest.param(GrpcSettings(port=0, max_connections=4), 2, id="in all"),
    ],
)
async def test_connections_are_bounded(settings: GrpcSettings, from_one: int) -> None:
    async with (
        running(settings) as face,
        contextlib.AsyncExitStack() as stack,
    ):
        assert await is_healthy(face)
        opened = [await stack.enter_async_context(client(face)) for _ in range(5)]
        async with asyncio.timeout(20):
            for one in opened[from_one:]:
                await one.closed.wait()
        assert not any(one.closed.is_set() for one in opened[:from_one])
        assert face.sample("bailiff_grpc_connections") == from_one + 1
        refused = face.sample("bailiff_grpc_connections_ended_total", reason="refused")
        assert refused == 5 - from_one
        assert await is_healthy(face)
        await opened[0].close()
        async with asyncio.timeout(20):
            while face.sample("bailiff_grpc_connections") > from_one:
                await asyncio.sleep(0.02)
        again = await stack.enter_async_context(client(face))
        await again.send(again.call(DECIDE), message(ASKED), end=True)
        await again.end_of(1)
        assert again.answers[1] > 0


async def test_a_trusted_proxy_is_bounded_in_all_only() -> None:
    settings = GrpcSettings(port=0, max_connections_per_peer=1, max_connections=4)
    async with (
        running(settings, is_proxy=lambda address: address == OTHER) as face,
        client(face) as one,
        client(face) as two,
    ):
        for each in (one, two):
            await each.send(each.call(DECIDE), message(ASKED), end=True)
            await each.end_of(1)
            assert each.answers[1] > 0


async def test_a_client_that_is_told_no_connection_sees_unavailable() -> None:
    async with running(GrpcSettings(port=0, max_connections=1)) as face:
        assert await is_healthy(face)
        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{face.port}", options) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await EvictionDecisionServiceStub(channel).Decide(REQUEST, timeout=20)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def calls_that_ended(face: Face) -> float:
    """Of our service, however they ended."""
    (requests,) = (one for one in face.registry.collect() if one.name == "bailiff_grpc_requests")
    return sum(one.value for one in requests.samples if one.name.endswith("_total"))


async def test_nobody_waits_behind_all_the_calls_of_another() -> None:
    async with (
        running(GrpcSettings(port=0, max_concurrent_rpcs=4)) as face,
        contextlib.AsyncExitStack() as stack,
    ):
        assert await is_healthy(face)
        greedy = [await stack.enter_async_context(client(face)) for _ in range(8)]
        for one in greedy:
            for _ in range(100):
                one.call(DECIDE)
        # What they have written has left, so that the next question comes after it.
        await asyncio.sleep(0)
        await face.stub.Decide(REQUEST)
        assert calls_that_ended(face) < 200


async def test_who_begins_more_than_can_be_led_in_loses_the_connection() -> None:
    async with running(GrpcSettings(port=0, message_timeout_seconds=0.4)) as face:
        async with client(face) as one:
            for _ in range(500):
                one.reset(one.call(DECIDE))
            async with asyncio.timeout(20):
                await one.closed.wait()
        assert face.sample("bailiff_grpc_connections_ended_total", reason="unserved") == 1
        assert await is_healthy(face)


async def test_a_call_that_has_waited_too_long_is_refused() -> None:
    async with running(GrpcSettings(port=0, max_queue_age_seconds=1e-9)) as face:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await face.stub.Decide(REQUEST)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert "has waited for more than" in str(caught.value.details())
        health = health_pb2_grpc.HealthStub(face.channel)
        assert (await health.Check(health_pb2.HealthCheckRequest())).status == SERVING


@pytest.mark.parametrize("path", [b"/x/\xff", b"\xff", b"/bailiff.v1.Nobody/Decide", b"/"])
async def test_no_path_ends_the_server(face: Face, path: bytes) -> None:
    async with client(face) as one:
        for _ in range(3):
            await one.send(one.call(path), message(b""), end=True)
        await one.end_of(5)
        assert not one.closed.is_set()
        assert await is_healthy(face)


async def test_an_unknown_method_is_unimplemented(face: Face) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await face.raw("Nothing")(b"")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_headers_that_are_no_text_are_logged_once(
    face: Face, caplog: pytest.LogCaptureFixture
) -> None:
    limit_log_of_grpcio()
    async with client(face) as one:
        for _ in range(50):
            stream = one.call(DECIDE, [(b"x", b"\xff")])
            await one.send(stream, message(ASKED), end=True)
            await one.end_of(stream)
        assert await is_healthy(face)
    assert len([one for one in caplog.records if one.name == "grpc._cython.cygrpc"]) <= 1


@pytest.mark.parametrize(("count", "is_answered"), [(80, True), (150, False)])
async def test_headers_are_bounded(face: Face, count: int, is_answered: bool) -> None:
    async with client(face) as one:
        for _ in range(10):
            stream = one.call(DECIDE, [(f"x-{i}".encode(), b"v" * 120) for i in range(count)])
            await one.send(stream, message(ASKED), end=True)
            await one.end_of(stream)
            assert (stream in one.answers) == is_answered
    assert await is_healthy(face)


async def test_nobody_else_reaches_what_is_behind_the_door(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever dials the inner socket is no connection that the door has led there.
    monkeypatch.setattr(Doorman, "name", lambda *_: None)
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{face.port}", options) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await EvictionDecisionServiceStub(channel).Decide(REQUEST, timeout=20)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert caught.value.details() == "the connection has ended"


async def test_a_connection_that_says_nothing_ends() -> None:
    async with running(GrpcSettings(port=0, message_timeout_seconds=0.3)) as face:
        reader, writer = await asyncio.open_connection("127.0.0.1", face.port)
        async with asyncio.timeout(20):
            await reader.read()
            while not reader.at_eof():
                await reader.read(1000)
        writer.close()
        assert await is_healthy(face)


async def test_what_is_no_http2_does_no_harm(face: Face) -> None:
    for data in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", bytes(1000), b"\x16\x03\x01" + bytes(300)):
        with socket.create_connection(("127.0.0.1", face.port)) as one:
            one.sendall(data)
    assert await is_healthy(face)
    assert logging.getLogger("grpc._cython.cygrpc").filters
