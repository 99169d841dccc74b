"""What is read about the devices of pods: few requests, what is needed, and little kept."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.cluster import LiveReader, look_up
from bailiff.decisions import SYSTEMS, NotRead, Options, Scene, Wanted, Why
from bailiff.decisions.device_taints import DEVICE_TAINTS, DeviceTaintFacts
from bailiff.kinds import ObjectMeta, Pod, PodResourceClaim, PodSpec, ResourceClaim
from tests.harness.clocks import ManualClock
from tests.harness.device_objects import allocation, claim, slice_of
from tests.harness.objects import Object
from tests.harness.scripted_server import kubeconfig, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

V1 = "/apis/resource.k8s.io/v1"
DEVICES = ("resourceslices", "resourceclaims")
RULES = ("devicetaintrules", "devicetaintrules/status")


def allocated(name: str, driver: str = "d", pool: str = "p") -> Object:
    metadata = {"name": name, "namespace": "ns"}
    status = {"allocation": allocation(pool, driver=driver)}
    return claim(name) | {"metadata": metadata, "status": status}


def published(name: str, driver: str = "d", pool: str = "p") -> Object:
    return slice_of(name, driver=driver, pool={"name": pool})


def user(*claims: str) -> Pod:
    named = tuple(
        PodResourceClaim(name=f"c{i}", resource_claim_name=c) for i, c in enumerate(claims)
    )
    return Pod(
        metadata=ObjectMeta(name="train", namespace="ns"), spec=PodSpec(resource_claims=named)
    )


async def devices_of(reader: LiveReader, *pods: Pod) -> Any:
    """What the system of devices is told of pods that use some."""
    clock = ManualClock()
    seen = dict(await look_up(reader, SYSTEMS, Scene(pods, clock.now()), Options()))
    return seen[DEVICE_TAINTS]


class Server:
    """An API server with devices; it notes what it is asked but for discovery."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.claims: list[dict[str, Any]] = []
        self.slices: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.forbidden = ""

    async def answer(self, request: web.Request) -> web.Response:
        found = self._discover(request.path)
        if found is None:
            self.asked.append(request.path.removeprefix(V1))
            found = self._find(request)
        status = 200 if found is not None else 404
        if self.forbidden and self.forbidden in request.path:
            status, found = 403, None
        return web.json_response(found or {"kind": "Status"}, status=status)

    def _discover(self, path: str) -> dict[str, Any] | None:
        if path == "/apis/resource.k8s.io" and self.names:
            return {"versions": [{"version": "v1"}]}
        if path == V1:
            return {"resources": [{"name": name} for name in self.names]}
        return None

    def _find(self, request: web.Request) -> dict[str, Any] | None:
        path = request.path
        if path.endswith("/resourceslices"):
            driver = request.query["fieldSelector"].removeprefix("spec.driver=")
            return {"items": [one for one in self.slices if one["spec"]["driver"] == driver]}
        if path.endswith("/resourceclaims"):
            return {"items": self.claims}
        if path.endswith("/devicetaintrules") and RULES[0] in self.names:
            return {"items": [{"metadata": {"name": "recall"}}]}
        name = path.rsplit("/", 1)[1]
        return next((one for one in self.claims if one["metadata"]["name"] == name), None)

    @asynccontextmanager
    async def reader(self, folder: Path) -> AsyncIterator[LiveReader]:
        where = serving(self.answer)
        async with where as port, await k8s.connect(kubeconfig(folder, port)) as cluster:
            yield LiveReader(cluster, ManualClock())


async def test_only_what_decides_is_read(tmp_path: Path) -> None:
    server = Server(*DEVICES, *RULES)
    server.claims = [allocated("a"), allocated("b", "e", "q"), allocated("other", "f")]
    server.slices = [
        *(published("1"), published("2", pool="elsewhere"), published("3")),
        *(published("4", "e", "q"), published("5", "f")),
    ]
    async with server.reader(tmp_path) as reader:
        found = await devices_of(reader, user("a", "b"), user("a", "absent"))
    assert [one.metadata.name for one in found.resource_claims] == ["a", "b"]
    assert [one.metadata.name for one in found.resource_slices] == ["1", "3", "4"]
    assert [one.metadata.name for one in found.device_taint_rules] == ["recall"]
    of_namespace = "/namespaces/ns/resourceclaims/"
    assert server.asked == [
        *(f"{of_namespace}{name}" for name in ("a", "b", "absent")),
        *("/resourceslices", "/resourceslices", "/devicetaintrules"),
    ]


async def test_many_claims_are_listed_at_once(tmp_path: Path) -> None:
    server = Server(*DEVICES)
    names = [f"c{number}" for number in range(9)]
    server.claims = [allocated(name) for name in (*names, "other")]
    async with server.reader(tmp_path) as reader:
        found = await devices_of(reader, user(*names))
    assert [one.metadata.name for one in found.resource_claims] == names
    assert server.asked == ["/namespaces/ns/resourceclaims", "/resourceslices"]


async def test_slices_come_slim_because_there_may_be_thousands(tmp_path: Path) -> None:
    server = Server(*DEVICES)
    server.claims = [allocated("a")]
    server.slices = [published("1"), published("2")]
    async with server.reader(tmp_path) as reader:
        found = await devices_of(reader, user("a"))
    one, other = found.resource_slices
    assert one.spec.devices[0] is other.spec.devices[0]


async def test_without_allocations_no_slice_is_read(tmp_path: Path) -> None:
    server = Server(*DEVICES)
    async with server.reader(tmp_path) as reader:
        found = await devices_of(reader, user("absent"))
    assert found == DeviceTaintFacts()
    assert server.asked == ["/namespaces/ns/resourceclaims/absent"]


async def test_a_cluster_that_serves_no_devices_is_asked_for_none(tmp_path: Path) -> None:
    server = Server()
    async with server.reader(tmp_path) as reader:
        wanted = Wanted(ResourceClaim, "ns", ("a",))
        assert await reader.see(wanted) == NotRead(
            Why.NOT_SERVED, "the cluster serves no ResourceClaim"
        )
    assert set(server.asked) == {"/apis/resource.k8s.io"}


@pytest.mark.parametrize(
    ("claims", "verb"), [(("a",), "get"), (tuple(f"c{i}" for i in range(9)), "list")]
)
async def test_what_may_not_be_read_is_said(
    tmp_path: Path, claims: tuple[str, ...], verb: str
) -> None:
    server = Server(*DEVICES)
    server.forbidden = "resourceclaims"
    async with server.reader(tmp_path) as reader:
        found = await reader.see(Wanted(ResourceClaim, "ns", claims))
    assert isinstance(found, NotRead)
    assert found.why is Why.FORBIDDEN
    assert f"permission to {verb} resourceclaims" in found.detail


async def test_what_is_served_no_longer_is_looked_for_anew(tmp_path: Path) -> None:
    server = Server(*DEVICES, *RULES)
    async with server.reader(tmp_path) as reader:
        await devices_of(reader, user("a"))
        server.names = DEVICES
        with pytest.raises(k8s.NotFoundError):
            await devices_of(reader, user("a"))
        found = await devices_of(reader, user("a"))
    assert found.device_taint_rules == ()
