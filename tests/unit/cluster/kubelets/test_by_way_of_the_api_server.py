"""Kubelets that are not reached straight, by the proxy of the API server."""

from __future__ import annotations

import asyncio
import ipaddress
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from bailiff.cluster import Cluster, Request, UnauthorizedError, connect
from bailiff.cluster.kubelets import (
    KubeletAddressError,
    KubeletError,
    KubeletForbiddenError,
    Kubelets,
    KubeletSettings,
    KubeletStatusError,
    KubeletTimeoutError,
    KubeletTooLongError,
    KubeletUnauthenticatedError,
    KubeletUnreachableError,
    ViaApiServer,
    connect_kubelets,
)
from bailiff.kinds import Node, NodeMeta
from tests.harness.clocks import JumpingClock
from tests.harness.fake_kubelet import answering, fake_kubelet, node_at
from tests.harness.kube.tls import make_tls
from tests.harness.scripted_server import kubeconfig, serving
from tests.harness.summaries import summary_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HERE = (ipaddress.ip_network("127.0.0.0/8"),)
SUMMARY = summary_json("n1", pods=2)
FALL_BACK, ALWAYS = ViaApiServer.WHERE_UNREACHABLE, ViaApiServer.ALWAYS
# Nobody listens there.
AWAY = node_at("n1", "127.0.0.1", 1)


class ApiServer:
    """Answers as it is told, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status, self.body = 200, SUMMARY

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        if self.status == 0:
            await asyncio.sleep(60)
        return web.Response(status=self.status, body=self.body)


@asynccontextmanager
async def clients(
    tmp_path: Path, server: ApiServer, way: ViaApiServer, **own: Any
) -> AsyncIterator[tuple[Cluster, Kubelets]]:
    clock = own.pop("clock", None)
    settings = KubeletSettings(networks=HERE, via_api_server=way, **own)
    async with serving(server.answer) as port:  # noqa: SIM117 - the port is known then
        async with await connect(kubeconfig(tmp_path, port), warn=lambda _: None) as cluster:
            kubelets = await connect_kubelets(cluster, settings, clock, lambda _: None)
            async with kubelets:
                yield cluster, kubelets


async def test_unless_the_settings_say_so_it_is_not_asked(tmp_path: Path) -> None:
    server = ApiServer()
    async with clients(tmp_path, server, ViaApiServer.NEVER) as (_, kubelets):
        with pytest.raises(KubeletUnreachableError):
            await kubelets.summary(AWAY)
    assert server.asked == []


async def test_where_a_kubelet_is_not_reached_it_is_asked(tmp_path: Path) -> None:
    server = ApiServer()
    async with clients(tmp_path, server, FALL_BACK) as (_, kubelets):
        read = await kubelets.summary(AWAY)
    assert (read.via_api_server, len(read.measured.summary.pods)) == (True, 2)
    assert server.asked == ["/api/v1/nodes/n1/proxy/stats/summary"]


async def test_a_node_without_an_address_is_not_reached_either(tmp_path: Path) -> None:
    server = ApiServer()
    async with clients(tmp_path, server, FALL_BACK) as (_, kubelets):
        await kubelets.summary(Node(metadata=NodeMeta(name="n1")))
    assert len(server.asked) == 1


async def test_what_a_kubelet_refuses_is_not_asked_for_by_another_way(tmp_path: Path) -> None:
    server, tls = ApiServer(), make_tls(tmp_path)
    refusing = answering(b"no", "403 Forbidden")
    settings = {"ca_file": tls.ca}
    async with (
        fake_kubelet(refusing, tls) as kubelet,
        clients(tmp_path, server, FALL_BACK, **settings) as (_, kubelets),
    ):
        with pytest.raises(KubeletForbiddenError):
            await kubelets.summary(kubelet.node())
    assert server.asked == []


async def test_for_a_while_the_node_is_not_tried_straight_again(tmp_path: Path) -> None:
    server, tls, clock = ApiServer(), make_tls(tmp_path), JumpingClock()
    settings = {"ca_file": tls.ca, "clock": clock}
    async with (
        fake_kubelet(answering(SUMMARY), tls) as kubelet,
        clients(tmp_path, server, FALL_BACK, **settings) as (_, kubelets),
    ):
        assert (await kubelets.summary(AWAY)).via_api_server
        assert (await kubelets.summary(kubelet.node())).via_api_server
        clock.skip(301)
        assert not (await kubelets.summary(kubelet.node())).via_api_server


async def test_always_asks_the_api_server_alone(tmp_path: Path) -> None:
    server = ApiServer()
    server.body = b"{}"
    async with clients(tmp_path, server, ALWAYS) as (_, kubelets):
        assert await kubelets.configuration(node_at("n1", "10.0.0.1", 10250)) == b"{}"
    assert server.asked == ["/api/v1/nodes/n1/proxy/configz"]


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, b"", KubeletUnauthenticatedError),
        (403, b"", KubeletForbiddenError),
        (404, b"", KubeletStatusError),
        (302, b"", KubeletStatusError),
        (500, b"", KubeletStatusError),
        (502, b"", KubeletUnreachableError),
        (503, b"", KubeletUnreachableError),
        (504, b"", KubeletTimeoutError),
        (0, b"", KubeletTimeoutError),
        (200, b" " * 2_000_000, KubeletTooLongError),
    ],
)
async def test_what_the_api_server_says_is_an_error_of_that_node(
    tmp_path: Path, status: int, body: bytes, error: type[KubeletError]
) -> None:
    server = ApiServer()
    server.status, server.body = status, body
    bounds = {"timeout": 0.3, "max_bytes": 1_000_000}
    async with clients(tmp_path, server, ALWAYS, **bounds) as (_, kubelets):
        with pytest.raises(error, match="/api/v1/nodes/n1/proxy/stats/summary") as caught:
            await kubelets.summary(AWAY)
        assert type(caught.value) is error


async def test_nodes_that_are_away_do_not_slow_down_who_evicts(tmp_path: Path) -> None:
    server = ApiServer()
    server.status = 503
    async with clients(tmp_path, server, ALWAYS) as (cluster, kubelets):
        for _ in range(30):
            with pytest.raises(KubeletUnreachableError):
                await kubelets.summary(AWAY)
            assert cluster.backoff() == 0


async def test_where_both_ways_fail_both_are_told(tmp_path: Path) -> None:
    server = ApiServer()
    server.status = 403
    async with clients(tmp_path, server, FALL_BACK) as (_, kubelets):
        with pytest.raises(KubeletForbiddenError, match=r"127\.0\.0\.1:1.*by way of the API"):
            await kubelets.summary(AWAY)


async def test_when_the_kubelets_are_closed_the_cluster_goes_on(tmp_path: Path) -> None:
    server = ApiServer()
    async with clients(tmp_path, server, ALWAYS) as (cluster, kubelets):
        await kubelets.summary(AWAY)
        await kubelets.close()
        server.body = b'{"kind":"Node"}'
        # Who is closed asks for no other login, and says so.
        server.status = 401
        with pytest.raises(UnauthorizedError):
            await cluster.send(Request("GET", "/version"))
        with pytest.raises((KubeletUnreachableError, KubeletAddressError)):
            await kubelets.summary(AWAY)
