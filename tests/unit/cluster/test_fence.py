"""A fenced client: what may not be written now is not sent; what is read is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.cluster import LEASES, Request
from tests.harness.scripted_server import kubeconfig, serving

if TYPE_CHECKING:
    from pathlib import Path

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
