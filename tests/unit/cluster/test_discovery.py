"""What a cluster serves of resource.k8s.io, and for how long that is believed."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.cluster.discovery import DeviceDiscovery, served
from tests.harness.clocks import ManualClock
from tests.harness.scripted_server import kubeconfig, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bailiff.cluster import Cluster
    from bailiff.cluster.discovery import DeviceApi

DEVICES = ("resourceslices", "resourceclaims", "resourceclaims/status")
RULES = ("devicetaintrules", "devicetaintrules/status")


class Server:
    """An API server that serves these names of resource.k8s.io by version."""

    def __init__(self, **versions: tuple[str, ...]) -> None:
        self.versions = versions
        self.asked = 0
        self.status = 200

    async def answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        if self.status != 200 or not self.versions:
            return web.json_response({"kind": "Status"}, status=max(self.status, 400) + 4)
        *_, last = request.path.split("/")
        if last == "resource.k8s.io":
            return web.json_response({"versions": [{"version": v} for v in self.versions]})
        names = [{"name": name} for name in self.versions[last]]
        return web.json_response({"groupVersion": f"resource.k8s.io/{last}", "resources": names})

    @asynccontextmanager
    async def connected(self, folder: Path) -> AsyncIterator[Cluster]:
        where = serving(self.answer)
        async with where as port, await k8s.connect(kubeconfig(folder, port)) as cluster:
            yield cluster


def versions_of(api: DeviceApi | None) -> tuple[str, ...] | None:
    if api is None:
        return None
    return (api.slices.version, api.claims.version, api.rules.version if api.rules else "")


@pytest.mark.parametrize(
    ("serves", "expected"),
    [
        pytest.param({}, None, id="no such group"),
        pytest.param({"v1": DEVICES}, ("v1", "v1", ""), id="no rules: the default of 1.36"),
        pytest.param(
            {"v1": DEVICES, "v1beta2": DEVICES + RULES}, ("v1", "v1", "v1beta2"), id="1.36"
        ),
        pytest.param(
            {"v1beta2": DEVICES + RULES, "v1": DEVICES + RULES},
            ("v1", "v1", "v1"),
            id="1.37, beta on",
        ),
        pytest.param({"v1": DEVICES + RULES}, ("v1", "v1", "v1"), id="1.37"),
        pytest.param(
            {"v1": DEVICES, "v1alpha3": RULES}, ("v1", "v1", "v1alpha3"), id="1.35, alpha on"
        ),
        pytest.param(
            {"v1": DEVICES, "v1alpha3": RULES[:1]}, ("v1", "v1", ""), id="rules without status"
        ),
        pytest.param({"v1beta2": DEVICES}, ("v1beta2", "v1beta2", ""), id="1.33"),
        pytest.param({"v1beta1": DEVICES}, None, id="another shape"),
        pytest.param({"v1alpha3": DEVICES + RULES}, None, id="rules, but no devices"),
        pytest.param({"v1": DEVICES[:1]}, None, id="no claims"),
        pytest.param({"v2": DEVICES}, None, id="a version of the future"),
    ],
)
async def test_the_versions_that_are_served(
    tmp_path: Path, serves: dict[str, tuple[str, ...]], expected: tuple[str, ...] | None
) -> None:
    async with Server(**serves).connected(tmp_path) as cluster:
        assert versions_of(await served(cluster)) == expected


async def test_an_answer_is_believed_for_a_minute(tmp_path: Path) -> None:
    server, clock = Server(v1=DEVICES), ManualClock()
    async with server.connected(tmp_path) as cluster:
        discovery = DeviceDiscovery(cluster, clock)
        assert versions_of(await discovery.current()) == ("v1", "v1", "")
        server.versions = {}
        clock.advance(59)
        assert versions_of(await discovery.current()) == ("v1", "v1", "")
        assert server.asked == 2
        clock.advance(1)
        assert await discovery.current() is None
        server.versions = {"v1": DEVICES}
        assert await discovery.current() is None
        discovery.forget()
        assert versions_of(await discovery.current()) == ("v1", "v1", "")


async def test_a_failure_is_told_and_not_believed(tmp_path: Path) -> None:
    server = Server(v1=DEVICES)
    async with server.connected(tmp_path) as cluster:
        discovery = DeviceDiscovery(cluster, ManualClock())
        server.status = 500
        with pytest.raises(k8s.ServerError):
            await discovery.current()
        server.status = 200
        assert versions_of(await discovery.current()) == ("v1", "v1", "")


async def test_an_answer_of_another_shape_is_no_discovery(tmp_path: Path) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({"versions": 1})

    async with serving(answer) as port, await k8s.connect(kubeconfig(tmp_path, port)) as cluster:
        with pytest.raises(k8s.ResponseError, match=r"versions"):
            await served(cluster)
