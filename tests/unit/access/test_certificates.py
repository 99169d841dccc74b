"""Callers who are known by their certificates, at REST and at gRPC."""

import datetime as dt
import ssl

import aiohttp
import grpc
import pytest
from prometheus_client import CollectorRegistry

from bailiff.access import AccessSettings, Guard, Right
from bailiff.clock import SystemClock
from bailiff.decisions import Options
from bailiff.grpc_api import GrpcSettings, create_server
from bailiff.rest_api import RestServer, RestSettings, create_app
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceStub
from tests.harness.faces.grpc_face import NODE, POD
from tests.harness.reviewing import Reviewer
from tests.harness.secured import client_of, made, serving_tls, trusting

ONE = {"pod": {"metadata": {"name": "web"}}, "node": {"metadata": {"name": "n1"}}}
METRICS = Right("get", path="/metrics")


@pytest.fixture
def tls(tmp_path):
    return made(tmp_path / "first")


@pytest.fixture
def carl(tls, tmp_path):
    return client_of(tls, tmp_path / "carl", user="carl", groups=("ops",))


def guard_of(**given):
    return Guard(AccessSettings(), SystemClock(), certificates=True, **given)


async def test_rest(tls, carl):
    guard = guard_of(reviewer=Reviewer(rights={("carl", METRICS)}))
    settings = RestSettings(port=0)
    clock, registry, options = SystemClock(), CollectorRegistry(), Options()
    app = create_app(settings, clock, registry, options, guard=guard)
    server = RestServer(app, settings, tls=serving_tls(tls, client_ca=tls.ca))
    port = await server.start()
    try:
        async with aiohttp.ClientSession(f"https://127.0.0.1:{port}") as session:

            async def status(method: str, path: str, context: ssl.SSLContext, token="") -> int:
                bearer = {"Authorization": f"Bearer {token}"} if token else {}
                body = ONE if method == "POST" else None
                async with session.request(
                    method, path, ssl=context, headers=bearer, json=body
                ) as answer:
                    return answer.status

            own, nobody = trusting(tls, carl), trusting(tls)
            assert await status("POST", "/v1/decisions", own) == 200
            assert await status("GET", "/metrics", own) == 200
            assert await status("GET", "/v1/nodes/n1/decisions", own) == 403
            assert await status("POST", "/v1/decisions", nobody) == 401
            assert await status("POST", "/v1/decisions", nobody, "good") == 200
            assert await status("GET", "/metrics", nobody, "good") == 403
    finally:
        await server.stop(0)
    assert guard.metrics.authentication["certificate"] == 3


async def test_grpc(tls, carl):
    guard = guard_of()
    settings = GrpcSettings(port=0)
    clock, registry, options = SystemClock(), CollectorRegistry(), Options()
    serving = serving_tls(tls, client_ca=tls.ca)
    server = create_server(settings, clock, registry, options, tls=serving, guard=guard)
    port = await server.start()
    found = []
    try:
        for one in (carl, None):
            pair = () if one is None else (one.key.read_bytes(), one.certificate.read_bytes())
            credentials = grpc.ssl_channel_credentials(tls.ca.read_bytes(), *pair)
            alone = (("grpc.use_local_subchannel_pool", 1),)
            address = f"127.0.0.1:{port}"
            async with grpc.aio.secure_channel(address, credentials, alone) as channel:
                call = EvictionDecisionServiceStub(channel).Decide(
                    pb.DecideRequest(node=NODE, pod=POD), timeout=20
                )
                found.append((await call.code()).name)
    finally:
        await server.stop(0)
    assert found == ["OK", "UNAUTHENTICATED"]


async def test_one_that_has_expired_meanwhile_is_nobodys(tls, carl):
    class Later(SystemClock):
        def now(self) -> dt.datetime:
            return super().now() + dt.timedelta(days=2)

    guard = Guard(AccessSettings(), Later(), certificates=True)
    settings = RestSettings(port=0)
    app = create_app(settings, SystemClock(), CollectorRegistry(), Options(), guard=guard)
    server = RestServer(app, settings, tls=serving_tls(tls, client_ca=tls.ca))
    port = await server.start()
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"https://127.0.0.1:{port}/metrics", ssl=trusting(tls, carl)) as answer,
        ):
            assert answer.status == 401
    finally:
        await server.stop(0)
