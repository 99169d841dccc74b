"""Requests to the API server: a span within a span, and its traceparent on the wire."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.agent.api import connecting as lean
from bailiff.agent.log import Log
from bailiff.clock import SystemClock
from bailiff.cluster import Request
from bailiff.cluster.kubeconfig import kubeconfig_reader
from bailiff.cluster.spans import template_of
from tests.harness.scripted_server import Answer, kubeconfig, serving
from tests.harness.tracing import InMemory, attributes, id_of, parent_of, trace_of

POD = "/api/v1/namespaces/shop/pods/web-0/status"
TEMPLATE = "/api/v1/namespaces/{namespace}/pods/{name}/status"


@pytest.mark.parametrize(
    ("path", "template"),
    [
        (POD, TEMPLATE),
        ("/api/v1/pods", "/api/v1/pods"),
        ("/api/v1/nodes/a", "/api/v1/nodes/{name}"),
        ("/api/v1/namespaces/a", "/api/v1/namespaces/{name}"),
        ("/api/v1/nodes/a/proxy/stats/summary", "/api/v1/nodes/{name}/proxy"),
        (
            "/apis/coordination.k8s.io/v1/namespaces/n/leases/l",
            "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}",
        ),
        ("/apis/resource.k8s.io/v1", "/apis/resource.k8s.io/v1"),
        ("/version", "/version"),
    ],
)
def test_a_template_names_no_object(path: str, template: str) -> None:
    assert template_of(path) == template


@contextlib.asynccontextmanager
async def connected(way: str, folder: Path, seen: InMemory, answer: Answer):
    """A client of the worker's kind, or of the agent's, of a server that answers so."""
    async with serving(answer) as port:
        path = kubeconfig(folder, port)
        if way == "aiohttp":
            cluster = await k8s.connect(path, tracer=seen.tracer)
        else:
            read = kubeconfig_reader(path, None)
            cluster = await lean.connect(read, SystemClock(), Log(), tracer=seen.tracer)
        async with cluster:
            yield cluster


@pytest.mark.parametrize("way", ["aiohttp", "lean"])
async def test_a_request_within_a_span_is_one_below_it_and_carries_it(way, tmp_path):
    seen, headers = InMemory(), []

    async def answer(request: web.Request) -> web.Response:
        headers.append(request.headers)
        return web.Response(text="{}")

    async with connected(way, tmp_path, seen, answer) as cluster:
        with seen.tracer.span("above"):
            await cluster.send(Request("PATCH", POD, {"fieldManager": "s3cret"}, b"s3cret"))
    span, above = seen.one(f"PATCH {TEMPLATE}"), seen.one("above")
    assert parent_of(span) == id_of(above)
    assert span.kind.name == "CLIENT"
    assert attributes(span) == {
        "http.request.method": "PATCH",
        "url.template": TEMPLATE,
        "bailiff.kubernetes.resource": "pods/status",
        "http.response.status_code": 200,
    }
    assert headers[0]["traceparent"].startswith(f"00-{trace_of(span)}-{id_of(span)}-")
    assert "s3cret" not in span.to_json()


@pytest.mark.parametrize("way", ["aiohttp", "lean"])
async def test_a_request_of_nobody_is_no_trace(way, tmp_path):
    seen, headers = InMemory(), []

    async def answer(request: web.Request) -> web.Response:
        headers.append(request.headers)
        return web.Response(text="{}")

    async with connected(way, tmp_path, seen, answer) as cluster:
        await cluster.send(Request("GET", "/api/v1/nodes"))
    assert seen.names() == []
    assert "traceparent" not in headers[0]


@pytest.mark.parametrize("way", ["aiohttp", "lean"])
async def test_a_refusal_and_a_broken_connection_fail_it(way, tmp_path):
    seen = InMemory()

    async def answer(request: web.Request) -> web.Response:
        if request.method == "DELETE":
            return web.Response(status=409, text="{}")
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with connected(way, tmp_path, seen, answer) as cluster:
        with seen.tracer.span("above"):
            with pytest.raises(k8s.ConflictError):
                await cluster.send(Request("DELETE", "/api/v1/namespaces/n/pods/a"))
            with pytest.raises(k8s.UnreachableError):
                await cluster.send(Request("POST", "/api/v1/namespaces/n/pods", body=b"{}"))
    refused, broken, _ = seen.spans()
    assert attributes(refused)["error.type"] == "409"
    assert attributes(broken)["error.type"] in {"UnreachableError", "ConnectionResetError"}
    assert "http.response.status_code" not in attributes(broken)


async def test_a_watch_is_a_span_until_it_is_accepted(tmp_path):
    seen = InMemory()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"{}\n")
        await asyncio.sleep(5)
        return response

    async with connected("aiohttp", tmp_path, seen, answer) as cluster:
        with seen.tracer.span("above"):
            stream = await cluster.open(Request("GET", "/api/v1/pods", {"watch": "true"}))
            assert seen.names() == ["GET /api/v1/pods"]
            stream.close()
