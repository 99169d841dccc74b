"""What observers are told of the requests that pass."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.cluster import ClusterSettings, Exchange, Request
from bailiff.cluster.exchanges import OTHER, resource_of
from tests.harness.kube.programs import free_port
from tests.harness.scripted_server import kubeconfig, serving

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("path", "resource"),
    [
        ("/api/v1/nodes", "nodes"),
        ("/api/v1/nodes/a", "nodes"),
        ("/api/v1/namespaces/n", "namespaces"),
        ("/api/v1/namespaces/n/pods", "pods"),
        ("/api/v1/namespaces/n/pods/a", "pods"),
        ("/api/v1/namespaces/n/pods/a/status", "pods/status"),
        ("/apis/coordination.k8s.io/v1/namespaces/n/leases/a", "leases"),
        ("/apis/resource.k8s.io/v1/devicetaintrules/a/status", "devicetaintrules/status"),
        ("/apis/resource.k8s.io/v1", OTHER),
        ("/apis", OTHER),
        ("/version", OTHER),
        ("/", OTHER),
    ],
)
def test_a_path_tells_its_resource_and_no_name(path: str, resource: str) -> None:
    assert resource_of(path) == resource


async def test_every_answer_is_told_with_its_date(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        code = 404 if request.method == "DELETE" else 200
        return web.Response(status=code, headers={"Date": "Thu, 01 Jan 2026 00:00:00 GMT"})

    told: list[Exchange] = []
    async with serving(answer) as port:
        path = kubeconfig(tmp_path, port)
        async with await k8s.connect(path, observers=(told.append,)) as cluster:
            await cluster.send(Request("GET", "/api/v1/nodes"))
            with pytest.raises(k8s.NotFoundError):
                await cluster.send(Request("DELETE", "/api/v1/namespaces/n/pods/a"))
    assert [(one.method, one.resource, one.code) for one in told] == [
        ("GET", "nodes", 200),
        ("DELETE", "pods", 404),
    ]
    assert {one.date for one in told} == {"Thu, 01 Jan 2026 00:00:00 GMT"}
    assert all(0 < one.seconds < 10 for one in told)


async def test_a_request_without_an_answer_is_told_as_code_0(tmp_path: Path) -> None:
    told: list[Exchange] = []
    path = kubeconfig(tmp_path, free_port())
    async with await k8s.connect(path, observers=(told.append,)) as cluster:
        with pytest.raises(k8s.UnreachableError):
            await cluster.send(Request("GET", "/api/v1/nodes"))
    assert [(one.code, one.date) for one in told] == [(0, "")]


async def test_a_server_that_is_silent_too_long_is_told_as_code_0(tmp_path: Path) -> None:
    async def answer(_: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    told: list[Exchange] = []
    async with serving(answer) as port:
        path, bounds = kubeconfig(tmp_path, port), ClusterSettings(request_timeout=0.05)
        async with await k8s.connect(path, settings=bounds, observers=(told.append,)) as cluster:
            with pytest.raises(k8s.RequestTimeoutError):
                await cluster.send(Request("GET", "/api/v1/nodes"))
    assert [one.code for one in told] == [0]
