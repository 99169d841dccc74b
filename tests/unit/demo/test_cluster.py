from __future__ import annotations

import asyncio
import base64
import socket

import aiohttp
import pytest
import yaml

from bailiff_demo import DemoCluster, Fleet, FleetError
from tests.unit.demo.api import Client, put, seen


async def test_a_kubeconfig_for_it(cluster: DemoCluster) -> None:
    config = yaml.safe_load(cluster.kubeconfig())
    assert config["current-context"] == "bailiff-demo"
    found = config["clusters"][0]["cluster"]
    assert found["server"] == cluster.url
    assert base64.b64decode(found["certificate-authority-data"]).decode() == cluster.authority
    assert config["users"][0]["user"] == {"token": cluster.token}


def test_no_two_have_the_same_token() -> None:
    assert DemoCluster(lively=False).token != DemoCluster(lively=False).token


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "bailiff.example", ""])
def test_it_listens_for_this_machine_alone(host: str) -> None:
    with pytest.raises(ValueError, match="for this machine alone"):
        DemoCluster(host=host)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer"}, 401),
        ({"authorization": "Bearer nobodys"}, 401),
        ({"authorization": "Basic {token}"}, 401),
        ({"authorization": "Bearer {token}x"}, 401),
        ({"authorization": "Bearer {token}"}, 200),
    ],
)
async def test_it_asks_for_its_token(api: Client, said: dict[str, str], status: int) -> None:
    api.bearer = {name: value.format(token=api.cluster.token) for name, value in said.items()}
    reply = await api.send("GET", "/api/v1/pods")
    assert reply.status == status
    if status == 401:
        assert (reply.body["kind"], reply.body["reason"]) == ("Status", "Unauthorized")
    for path in ("/healthz", "/livez", "/readyz", "/version"):
        assert (await api.send("GET", path)).status == 200


async def test_the_usual_namespaces_and_priorities_are_there(cluster: DemoCluster) -> None:
    found = [o["metadata"]["name"] for o in seen(cluster, "namespaces")]
    assert found == ["default", "kube-node-lease", "kube-public", "kube-system"]
    values = {o["metadata"]["name"]: o["value"] for o in seen(cluster, "priorityclasses")}
    assert values["system-node-critical"] == 2_000_001_000


async def test_two_clusters_do_not_share_anything(api: Client) -> None:
    async with DemoCluster(lively=False) as other:
        assert other.url != api.cluster.url
        put(other, "nodes", {"metadata": {"name": "n"}})
        assert (await api.get("/api/v1/nodes"))["items"] == []


async def test_a_taken_port_is_an_error(cluster: DemoCluster) -> None:
    port = int(cluster.url.rpartition(":")[2])
    with pytest.raises(OSError, match="in use"):
        async with DemoCluster(port=port):
            pass


async def test_it_stops_soon_with_idle_and_busy_clients() -> None:
    cluster = DemoCluster(fleet=Fleet.demo())
    await cluster.__aenter__()
    async with aiohttp.ClientSession() as session:
        api = Client(cluster, session)
        await api.get("/version")
        async with api.watch("/api/v1/pods"), asyncio.timeout(2):
            await cluster.__aexit__()
        with pytest.raises(aiohttp.ClientError):
            await api.get("/version")
    left = [t.get_name() for t in asyncio.all_tasks() if t is not asyncio.current_task()]
    assert left == []


def test_a_fleet_that_breaks_rules_is_refused() -> None:
    broken = Fleet.parse(b"{apiVersion: v1, kind: Node, metadata: {name: 'A B'}}")
    with pytest.raises(FleetError, match=r"Node A B.*metadata\.name"):
        DemoCluster(fleet=broken)


async def test_answers_are_not_held_back_for_acknowledgements(api: Client) -> None:
    """Without TCP_NODELAY every answer would take 40 ms."""
    async with api.watch("/api/v1/pods"):
        (connection,) = api.cluster._server.connections
        accepted = connection.transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
