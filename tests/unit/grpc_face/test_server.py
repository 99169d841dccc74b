"""The server around the service: health, reflection, bounds, drain, metrics."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # it ships no types
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # no types
from grpc_status import rpc_status  # type: ignore[import-untyped]  # it ships no types
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.grpc_api import GrpcSettings, create_server
from bailiff.grpc_api.interceptors import Statuses
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceStub
from tests.harness.clocks import ManualClock
from tests.harness.faces.grpc_face import NODE, POD, SERVICE, Face, error_of, running

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
REQUEST = pb.DecideRequest(pod=POD, node=NODE)


@pytest.mark.parametrize("service", ["", SERVICE])
async def test_health_tells_of_the_drain(service: str) -> None:
    server = create_server(GrpcSettings(port=0), ManualClock(), CollectorRegistry(), Options())
    port = await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        health = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service=service)
        assert (await health.Check(request)).status == SERVING
        watch = health.Watch(request)
        assert (await watch.read()).status == SERVING
        stop = asyncio.create_task(server.stop(5))
        assert (await watch.read()).status == NOT_SERVING
        watch.cancel()
        await stop


async def test_health_of_an_unknown_service(face: Face) -> None:
    health = health_pb2_grpc.HealthStub(face.channel)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await health.Check(health_pb2.HealthCheckRequest(service="other"))
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_calls_under_way_end_within_the_grace_and_new_ones_are_refused() -> None:
    server = create_server(GrpcSettings(port=0), ManualClock(), CollectorRegistry(), Options())
    port = await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = EvictionDecisionServiceStub(channel).DecideStream()
        request = pb.DecideStreamRequest(
            request_id="a", batch=pb.DecideBatchRequest(node=NODE, pods=[POD])
        )
        await call.write(request)
        await call.read()
        stop = asyncio.create_task(server.stop(30))
        await asyncio.sleep(0)
        await call.write(request)
        answer = await call.read()
        assert isinstance(answer, pb.DecideStreamResponse)
        assert answer.WhichOneof("result") == "answer"
        await call.done_writing()
        assert await call.code() is grpc.StatusCode.OK
        await stop


async def test_what_outlasts_the_grace_is_cancelled() -> None:
    async with running() as face:
        call = face.raw_stream()()
        await call.write(b"")
        await call.read()
    assert await call.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}


async def test_an_address_in_use_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = create_server(
            GrpcSettings(port=port), ManualClock(), CollectorRegistry(), Options()
        )
        with pytest.raises(OSError, match="in use"):
            await server.start()
        await server.stop(0)


async def test_a_second_server_on_the_same_port_is_an_error(face: Face) -> None:
    second = create_server(
        GrpcSettings(port=face.port), ManualClock(), CollectorRegistry(), Options()
    )
    with pytest.raises(OSError, match="in use"):
        await second.start()


async def test_a_full_server_refuses_calls_for_a_while_and_says_that_it_is_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    going, go_on = asyncio.Event(), asyncio.Event()

    async def slowly(*_: object, **__: object) -> bytes:
        going.set()
        await go_on.wait()
        return b""

    async with running(GrpcSettings(port=0, max_concurrent_rpcs=1)) as face:
        with monkeypatch.context() as patched:
            patched.setattr("bailiff.grpc_api.questions.AskedByMethod._answer", slowly)
            call = face.stub.DecideBatch(pb.DecideBatchRequest(node=NODE))
            await going.wait()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await face.stub.Decide(REQUEST)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert error_of(caught.value)["error"] == "overloaded"
        assert retry_seconds(caught.value) == 1
        refused = {"method": "Decide", "code": "UNAVAILABLE"}
        assert face.sample("bailiff_grpc_requests_total", **refused) == 1
        health = health_pb2_grpc.HealthStub(face.channel)
        assert (await health.Check(health_pb2.HealthCheckRequest())).status == SERVING
        go_on.set()
        await call
        # The place of a call that has ended, however it did, is free again.
        for _ in range(3):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await face.stub.Decide(pb.DecideRequest())
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert (await face.stub.Decide(REQUEST)).HasField("decision")


def retry_seconds(error: grpc.aio.AioRpcError) -> int:
    wait = error_details_pb2.RetryInfo()
    assert any(detail.Unpack(wait) for detail in rpc_status.from_call(error).details)
    return int(wait.retry_delay.seconds)


async def test_a_call_past_its_deadline_stops_working(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = asyncio.Event()

    async def endless(*_: object, **__: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    monkeypatch.setattr("bailiff.grpc_api.questions.AskedByMethod._answer", endless)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await face.stub.DecideBatch(pb.DecideBatchRequest(node=NODE), timeout=0.2)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    async with asyncio.timeout(10):
        await stopped.wait()


async def test_a_caller_that_has_gone_is_no_failure_of_ours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def write(_request: Any, _context: Any) -> None:
        raise grpc.aio.InternalError('Failed "execute_batch"')

    with pytest.raises(asyncio.CancelledError):
        await Statuses().around("DecideBatchInParts", write)(b"", Mock())
    assert not caplog.records


async def test_what_is_counted(face: Face) -> None:
    await face.stub.Decide(REQUEST)
    await face.stub.DecideBatch(pb.DecideBatchRequest(node=NODE, pods=[POD, POD]))
    with pytest.raises(grpc.aio.AioRpcError):
        await face.stub.Decide(pb.DecideRequest())
    calls, seconds = "bailiff_grpc_requests_total", "bailiff_grpc_request_duration_seconds_count"
    assert face.sample(calls, method="Decide", code="OK") == 1
    assert face.sample(calls, method="Decide", code="INVALID_ARGUMENT") == 1
    assert face.sample(seconds, method="Decide") == 2
    assert face.sample("bailiff_grpc_decisions_total", verdict="KEEP", system="") == 3


@pytest.fixture
def grpcurl() -> str:
    path = Path(os.environ.get("KUBEBUILDER_ASSETS", "/nowhere")) / "grpcurl"
    if not path.exists():
        pytest.skip("no grpcurl: KUBEBUILDER_ASSETS names no folder that `make test-assets` built")
    return str(path)


async def run(program: str, *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        program, *arguments, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(30):
        output, _ = await process.communicate()
    assert process.returncode == 0
    return output.decode()


async def test_grpcurl_finds_its_way(grpcurl: str, face: Face) -> None:
    address = f"localhost:{face.port}"
    services = await run(grpcurl, "-plaintext", address, "list")
    assert services.split() == [
        SERVICE,
        "bailiff.v1.SchedulingService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
    ]
    for service in services.split():
        assert f"{service} is a service" in await run(
            grpcurl, "-plaintext", address, "describe", service
        )
    method = await run(grpcurl, "-plaintext", address, "describe", f"{SERVICE}.Decide")
    assert f"{SERVICE}.Decide is a method" in method


async def test_grpcurl_takes_what_kubectl_prints(grpcurl: str, face: Face) -> None:
    facts = {
        "pod": {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web-1", "creationTimestamp": "2025-12-31T00:00:00Z"},
            "spec": {"nodeName": "n", "containers": [], "tolerations": [
                {"key": "a", "operator": "Exists", "tolerationSeconds": 300}
            ]},
        },
        "node": {
            "metadata": {"name": "n"},
            "spec": {"taints": [
                {"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
            ]},
        },
    }  # fmt: skip
    data = ("-plaintext", "-allow-unknown-fields", "-d", json.dumps(facts))
    answer = json.loads(await run(grpcurl, *data, f"localhost:{face.port}", f"{SERVICE}/Decide"))
    assert answer["decision"]["verdict"] == "VERDICT_EVICT_AT"
    assert answer["decision"]["evictAt"] == "2026-01-01T00:05:00Z"


async def test_grpcurl_can_read_the_details_of_an_error(grpcurl: str, face: Face) -> None:
    process = await asyncio.create_subprocess_exec(
        *(grpcurl, "-plaintext", "-format-error", "-d", "{}"),
        *(f"localhost:{face.port}", f"{SERVICE}/Decide"),
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        _, output = await process.communicate()
    info, bad = json.loads(output)["details"]
    assert (info["domain"], info["reason"]) == ("bailiff.dev", "INVALID_FIELD")
    assert bad["fieldViolations"] == [{"field": "pod", "description": "required"}]
