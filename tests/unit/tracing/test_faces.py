"""Spans of requests, of both faces, and of what the core is asked for them."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased
from prometheus_client import CollectorRegistry
from starlette.types import Message

from bailiff.decisions import Options
from bailiff.grpc_api.tracing import answering
from bailiff.rest_api import RestSettings, create_app
from bailiff.rest_api.examples.nodes import ONE_POD
from bailiff.rest_api.middleware import Boundary
from bailiff.rest_api.tracing import Traced
from bailiff.tracing import NO_TRACER
from bailiff.v1 import eviction_decision_service_pb2 as pb
from tests.harness.faces.asgi import call
from tests.harness.faces.grpc_face import NODE, POD, running
from tests.harness.faces.rest_face import CLOCK
from tests.harness.lookups import DictSource
from tests.harness.tracing import (
    CALLER,
    KEPT,
    LEFT_OUT,
    TRACE,
    InMemory,
    attributes,
    id_of,
    parent_of,
    trace_of,
)

BODY = ONE_POD["timed"].body
BATCH = pb.DecideBatchRequest(node=NODE, pods=[POD, POD])
DECIDE = "bailiff.v1.EvictionDecisionService/Decide"
STREAM = "bailiff.v1.EvictionDecisionService/DecideStream"


def app_of(tracer):
    parts = (RestSettings(), CLOCK, CollectorRegistry(), Options(), DictSource())
    return create_app(*parts, tracer=tracer)


async def test_a_rest_request_is_a_span_of_its_caller_s_trace_with_a_decision_in_it():
    seen = InMemory()
    headers = {"traceparent": KEPT, "tracestate": "vendor=1", "x-request-id": "mine"}
    answer = await call(app_of(seen.tracer), "POST", "/v1/decisions", BODY, headers)
    assert answer.status == 200
    server, decision = seen.one("POST /v1/decisions"), seen.one("decide")
    assert (trace_of(server), parent_of(server)) == (TRACE, CALLER)
    assert server.kind.name == "SERVER"
    assert server.context.trace_state.get("vendor") == "1"
    assert attributes(server) == {
        "http.request.method": "POST",
        "url.scheme": "http",
        "http.route": "/v1/decisions",
        "http.response.status_code": 200,
        "bailiff.request_id": "mine",
    }
    assert (trace_of(decision), parent_of(decision)) == (TRACE, id_of(server))
    told = attributes(decision)
    assert told.pop("bailiff.steps") > 0
    assert told == {"bailiff.question": "decide", "bailiff.pods": 1, "bailiff.verdicts.evict_at": 1}


async def test_what_a_thread_decides_is_within_the_request():
    seen = InMemory()
    body = {"node": BODY["node"], "pods": [BODY["pod"]] * 3000, "now": "2026-05-04T12:00:00Z"}
    answer = await call(app_of(seen.tracer), "POST", "/v1/decisions/batch", body)
    assert answer.status == 200
    decision = seen.one("decide")
    assert parent_of(decision) == id_of(seen.one("POST /v1/decisions/batch"))
    assert attributes(decision)["bailiff.pods"] == 3000


async def test_nothing_of_what_is_sent_is_told():
    seen = InMemory()
    headers = {"authorization": "Bearer s3cret", "x-request-id": "r"}
    body = {**BODY, "pod": {**BODY["pod"], "metadata": {"name": "s3cret-pod"}}}
    await call(app_of(seen.tracer), "POST", "/v1/decisions?token=s3cret", body, headers)
    await call(app_of(seen.tracer), "POST", "/v1/s3cret", b"s3cret", headers)
    await call(app_of(seen.tracer), "POST", "/v1/decisions", b'{"s3cret": 1}', headers)
    assert len(seen.spans()) == 4
    assert not [span for span in seen.spans() if "s3cret" in span.to_json()]


@pytest.mark.parametrize(
    ("sampler", "traceparent", "kept"),
    [
        (ALWAYS_OFF, KEPT, True),
        (ALWAYS_ON, LEFT_OUT, False),
        (ALWAYS_OFF, "", False),
        (ALWAYS_ON, "", True),
        (ALWAYS_ON, "nonsense", True),
    ],
)
async def test_the_caller_says_whether_its_trace_is_kept_and_else_the_sampler(
    sampler, traceparent, kept
):
    seen = InMemory(ParentBased(sampler))
    headers = {"traceparent": traceparent} if traceparent else {}
    await call(app_of(seen.tracer), "POST", "/v1/decisions", BODY, headers)
    assert bool(seen.spans()) is kept


async def test_a_long_tracestate_is_not_carried_on():
    seen = InMemory()
    headers = {"traceparent": KEPT, "tracestate": f"a={'b' * 255},c={'d' * 255}"}
    await call(app_of(seen.tracer), "POST", "/v1/decisions", BODY, headers)
    assert len(seen.one("decide").context.trace_state) == 0
    assert trace_of(seen.one("decide")) == TRACE


async def test_probes_and_metrics_are_not_traced_and_problems_are():
    seen = InMemory()
    app = app_of(seen.tracer)
    for path in ("/healthz", "/readyz", "/metrics"):
        await call(app, "GET", path)
    assert seen.names() == []
    await call(app, "MADEUP", "/v1/nothing")
    (span,) = seen.spans()
    assert span.name == "_OTHER"
    assert attributes(span)["http.response.status_code"] == 404
    assert span.status.is_unset


async def test_a_fault_of_ours_fails_the_span_and_its_log_line_is_within_it(monkeypatch):
    seen = InMemory()
    app = app_of(seen.tracer)
    ids = []

    async def broken(*_):
        ids.append(seen.tracer.ids())
        raise RuntimeError("s3cret")

    monkeypatch.setattr(app.middleware_stack.app, "app", broken)
    answer = await call(app, "POST", "/v1/decisions", BODY)
    assert answer.status == 500
    span = seen.one("POST")
    assert ids == [{"trace_id": trace_of(span), "span_id": id_of(span)}]
    assert not span.status.is_ok
    assert attributes(span)["error.type"] == "500"
    assert "s3cret" not in span.to_json()


async def hanging(*_):
    await asyncio.Event().wait()


async def raising(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    raise RuntimeError("s3cret")


async def test_a_fault_after_half_an_answer_is_told_by_its_class(monkeypatch):
    seen = InMemory()
    app = app_of(seen.tracer)
    monkeypatch.setattr(app.middleware_stack.app, "app", raising)
    with pytest.raises(RuntimeError):
        await call(app, "POST", "/v1/decisions", BODY)
    span = seen.one("POST")
    assert attributes(span)["error.type"] == "RuntimeError"
    assert "s3cret" not in span.to_json()


async def test_a_rest_caller_that_hangs_up_while_it_sends_fails_no_span():
    seen = InMemory()
    gone: list[Message] = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]
    await call(app_of(seen.tracer), "POST", "/v1/decisions", messages=gone)
    span = seen.one("POST /v1/decisions")
    assert span.status.is_unset
    assert not {"error.type", "http.response.status_code"} & set(attributes(span))


async def test_a_rest_caller_that_hangs_up_while_it_waits_fails_no_span(monkeypatch):
    seen = InMemory()
    app = app_of(seen.tracer)
    monkeypatch.setattr(app.middleware_stack.app, "app", hanging)
    asked = asyncio.create_task(call(app, "POST", "/v1/decisions", BODY))
    await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert seen.one("POST").status.is_unset
    assert "error.type" not in attributes(seen.one("POST"))


async def test_a_grpc_caller_that_hangs_up_fails_no_span_and_a_fault_of_ours_does():
    seen = InMemory()
    with pytest.raises(asyncio.CancelledError), answering(seen.tracer, "s/gone"):
        raise asyncio.CancelledError
    with pytest.raises(RuntimeError), answering(seen.tracer, "s/broken"):
        raise RuntimeError("s3cret")
    gone, broken = seen.one("s/gone"), seen.one("s/broken")
    assert attributes(gone)["rpc.response.status_code"] == "CANCELLED"
    assert gone.status.is_unset
    assert attributes(broken)["rpc.response.status_code"] == "UNKNOWN"
    assert attributes(broken)["error.type"] == "RuntimeError"
    assert "s3cret" not in broken.to_json()


async def test_a_head_request_is_told_of_as_its_get_is():
    seen = InMemory()
    answer = await call(app_of(seen.tracer), "HEAD", "/openapi.json", headers={"x-request-id": "r"})
    assert answer.status == 200
    told = attributes(seen.one("HEAD /openapi.json"))
    assert (told["http.route"], told["bailiff.request_id"]) == ("/openapi.json", "r")


async def test_off_there_is_no_layer():
    assert isinstance(app_of(NO_TRACER).middleware_stack, Boundary)
    assert isinstance(app_of(InMemory().tracer).middleware_stack, Traced)


async def test_a_grpc_call_is_a_span_of_its_caller_s_trace_with_a_decision_in_it():
    seen = InMemory()
    async with running(tracer=seen.tracer) as face:
        request = pb.DecideRequest(node=NODE, pod=POD)
        await face.stub.Decide(request, metadata=(("traceparent", KEPT),))
    server, decision = seen.one(DECIDE), seen.one("decide")
    assert (trace_of(server), parent_of(server)) == (TRACE, CALLER)
    assert attributes(server) == {
        "rpc.system.name": "grpc",
        "rpc.method": DECIDE,
        "rpc.response.status_code": "OK",
    }
    assert parent_of(decision) == id_of(server)


async def test_a_call_that_is_refused_says_with_which_status():
    seen = InMemory()
    async with running(tracer=seen.tracer) as face:
        with pytest.raises(grpc.aio.AioRpcError):
            await face.raw("Decide")(b"\xff")
    assert attributes(seen.one(DECIDE))["rpc.response.status_code"] == "INVALID_ARGUMENT"
    assert seen.one(DECIDE).status.is_unset


async def test_a_stream_is_no_span_and_each_of_its_requests_is():
    seen = InMemory()
    good, bad = pb.DecideStreamRequest(batch=BATCH), pb.DecideStreamRequest(request_id="x" * 2000)
    async with running(tracer=seen.tracer) as face:
        stream = face.stub.DecideStream(metadata=(("traceparent", KEPT),))
        for asked in (good, bad):
            await stream.write(asked)
            await stream.read()
        # The stream is open, and both are written.
        first, second = (span for span in seen.spans() if span.name == STREAM)
        await stream.done_writing()
        await asyncio.sleep(0)
    assert [attributes(one)["rpc.response.status_code"] for one in (first, second)] == [
        "OK",
        "INVALID_ARGUMENT",
    ]
    assert {parent_of(first), parent_of(second)} == {CALLER}
    assert parent_of(seen.one("decide")) == id_of(first)
    assert seen.names().count(STREAM) == 2
