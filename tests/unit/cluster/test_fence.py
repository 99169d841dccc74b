"""A fenced client: what may not be written now is not sent; what is read is read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.cluster import LEASES, ClusterSettings, Request
from tests.harness.kube.relay import Relay
from tests.harness.kube.tls import make_tls
from tests.harness.scripted_server import kubeconfig, serving
from tests.harness.working import until

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.cluster import Cluster

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("allowed", [True, False])
async def test_only_writes_are_held_back_and_only_while_they_may_not_be(
    tmp_path: Path, method: str, allowed: bool
) -> None:
    arrived = []

    async def answer(request: web.Request) -> web.Response:
        arrived.append(request.method)
        return web.Response(text="{}")

    async with serving(answer) as port, await k8s.connect(kubeconfig(tmp_path, port)) as cluster:
        fenced = cluster.fenced(lambda: allowed)
        if allowed or method == "GET":
            await fenced.send(Request(method, "/x"))
        else:
            with pytest.raises(k8s.FencedError, match=f"{method} /x: not sent"):
                await fenced.send(Request(method, "/x"))
        # The client that it was made from is as free as before.
        await cluster.send(Request(method, "/x"))
    assert arrived == [method] * (2 if allowed or method == "GET" else 1)


async def test_the_fence_is_asked_after_the_login_not_before(tmp_path: Path) -> None:
    """A rejected login is renewed and the request sent again: by then another may lead."""
    order: list[str] = []

    async def answer(_: web.Request) -> web.Response:
        order.append("401")
        return web.Response(status=401)

    def may_write() -> bool:
        order.append("asked")
        return order.count("asked") == 1

    async with serving(answer) as port:
        path = kubeconfig(tmp_path, port, tokenFile=str(tmp_path / "token"))
        (tmp_path / "token").write_text("one")
        async with await k8s.connect(path) as cluster:
            (tmp_path / "token").write_text("two")
            with pytest.raises(k8s.FencedError):
                await cluster.fenced(may_write).delete(LEASES, "a", "b")
    assert order == ["asked", "401", "asked"]


async def test_every_way_to_write_is_fenced(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        raise AssertionError(request.method)

    async with serving(answer) as port, await k8s.connect(kubeconfig(tmp_path, port)) as cluster:
        fenced = cluster.fenced(lambda: False)
        for write in (
            fenced.create(LEASES, {}, "b"),
            fenced.replace(LEASES, "a", "b", {}),
            fenced.patch(LEASES, "a", "b", {}),
            fenced.delete(LEASES, "a", "b"),
        ):
            with pytest.raises(k8s.FencedError):
                await write


@dataclass
class Lead:
    """What the fence asks."""

    held: bool = True

    def may_write(self) -> bool:
        return self.held


class Crowd:
    """A server that answers nothing before it is told to, and notes what arrives."""

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self.go = asyncio.Event()

    async def __call__(self, request: web.Request) -> web.Response:
        self.arrived.append(f"{request.method} {request.path}")
        await self.go.wait()
        return web.Response(text="{}")

    async def has(self, count: int) -> None:
        await until(lambda: len(self.arrived) >= count)


async def test_what_waited_for_its_turn_is_asked_when_it_has_it(tmp_path: Path) -> None:
    """All connections are taken; the lead goes while a delete waits for one."""
    lead, crowd = Lead(), Crowd()
    few = ClusterSettings(max_requests=2, max_watches=1)
    async with (
        serving(crowd) as port,
        await k8s.connect(kubeconfig(tmp_path, port), settings=few) as cluster,
        asyncio.TaskGroup() as group,
    ):
        fenced = cluster.fenced(lead.may_write)
        first = [group.create_task(fenced.send(Request("PATCH", f"/{n}"))) for n in "ab"]
        await crowd.has(2)
        late = [group.create_task(outcome(fenced, f"/{n}")) for n in "cdef"]
        await asyncio.sleep(0)
        lead.held = False
        crowd.go.set()
        assert [await one for one in first] == [b"{}", b"{}"]
        assert [await one for one in late] == [k8s.FencedError] * 4
        # Nothing is left of them: as many requests as before find a connection.
        await asyncio.gather(*(cluster.send(Request("GET", f"/{n}")) for n in "xyz"))
    assert [one for one in crowd.arrived if one.startswith("DELETE")] == []


async def test_what_waited_for_tls_is_asked_when_it_has_it(tmp_path: Path) -> None:
    """The network stands still in the middle of the handshake; meanwhile the lead goes."""
    lead, crowd = Lead(), Crowd()
    crowd.go.set()
    tls = make_tls(tmp_path)
    async with serving(crowd, tls) as port, Relay(port) as relay:
        path = kubeconfig(tmp_path, relay.port, ca=tls.ca)
        async with await k8s.connect(path) as cluster, asyncio.TaskGroup() as group:
            relay.freeze()
            late = [
                group.create_task(outcome(cluster.fenced(lead.may_write), f"/{n}")) for n in "abc"
            ]
            await until(lambda: relay.connections == 3)
            lead.held = False
            relay.thaw()
            assert [await one for one in late] == [k8s.FencedError] * 3
            lead.held = True
            assert await cluster.fenced(lead.may_write).send(Request("PUT", "/y")) == b"{}"
    assert crowd.arrived == ["PUT /y"]


async def outcome(cluster: Cluster, path: str) -> type[Exception] | None:
    """The class of the error that a delete came to."""
    try:
        await cluster.send(Request("DELETE", path))
    except k8s.ClusterError as error:
        return type(error)
    return None
