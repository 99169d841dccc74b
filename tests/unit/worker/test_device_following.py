"""What the worker follows of a cluster that serves devices, rules, or neither; and changes."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, cast

import pytest
from structlog.testing import capture_logs

from bailiff.cluster import (
    DeviceApi,
    ForbiddenError,
    NotFoundError,
    Replaced,
    Resource,
    Selection,
    ServerError,
    WatchHealth,
)
from bailiff.decisions import Options
from bailiff.worker import Shard
from bailiff.worker.lead.sharding import HeldShard
from bailiff.worker.systems.device_taints import following
from bailiff.worker.systems.device_taints.devices import Devices, Kind, State
from bailiff.worker.systems.device_taints.following import DeviceFollowing
from bailiff.worker.timers.marks import Marks
from tests.harness.worlds.device_world import SERVED

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.looptime(start=0)

FORBIDDEN = ForbiddenError('cannot list resource "resourceclaims"', status=403)


class Watch:
    """A list of nothing, then silence."""

    def __init__(self, opened: list[str], name: str, health: WatchHealth) -> None:
        self.opened = opened
        self.name = name
        self.health = health

    async def events(self) -> AsyncGenerator[Any, None]:
        self.opened.append(self.name)
        try:
            yield Replaced((), "1")
            self.health.synced = self.health.connected = True
            await asyncio.Event().wait()
        finally:
            self.opened.remove(self.name)


class Server:
    """What an API server says of itself when asked."""

    def __init__(self) -> None:
        self.serves: DeviceApi | Exception | None = None
        self.refuses: dict[str, Exception] = {}
        self.opened: list[str] = []
        self.asked = 0
        self.healths: dict[str, WatchHealth] = {}
        self.devices = Devices(Options(), Marks(HeldShard((Shard(),))))

    async def served(self, _: object) -> DeviceApi | None:
        self.asked += 1
        if isinstance(self.serves, Exception):
            raise self.serves
        return self.serves

    async def may_follow(self, _: object, resource: Resource[Any]) -> None:
        if resource.plural in self.refuses:
            raise self.refuses[resource.plural]

    def open(self, resource: Resource[Any], selection: Selection) -> Any:
        assert selection == Selection()
        return Watch(self.opened, f"{resource.plural}.{resource.version}", WatchHealth())

    @contextlib.asynccontextmanager
    async def followed(self) -> AsyncGenerator[None, None]:
        nobody: Any = None  # the cluster is only handed on
        follower = DeviceFollowing(nobody, cast("Any", self), self.devices)
        task = asyncio.create_task(follower.run())
        try:
            await asyncio.sleep(0.01)
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            assert self.opened == []


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(following, "served", server.served)
    monkeypatch.setattr(following, "may_follow", server.may_follow)
    return server


def api(version: str = "v1", rules: str = "v1beta2") -> DeviceApi:
    slices, claims, taints = (SERVED[kind] for kind in Kind)
    return DeviceApi(
        Resource(slices.group, version, slices.plural, slices.kind, namespaced=False),
        Resource(claims.group, version, claims.plural, claims.kind),
        Resource(taints.group, rules, taints.plural, taints.kind, namespaced=False)
        if rules
        else None,
    )


ALL = ["resourceslices.v1", "resourceclaims.v1", "devicetaintrules.v1beta2"]


async def test_everything_that_is_served_is_followed(server):
    server.serves = api()
    async with server.followed():
        assert server.opened == ALL
        assert server.devices.state is State.ON
        assert (server.devices.ready, server.devices.why) == (True, "")
        await asyncio.sleep(3600)
        assert server.opened == ALL
    assert 15 < server.asked < 25


async def test_a_cluster_without_rules_is_followed_without_them_and_says_so(server):
    server.serves = api(rules="")
    async with server.followed():
        assert server.opened == ALL[:2]
        assert server.devices.describe() == {
            "state": "on",
            "synced": True,
            "resourceslices": 0,
            "resourceclaims": 0,
            "why": "the cluster serves no DeviceTaintRules",
        }


async def test_a_cluster_without_devices_is_left_alone_and_that_is_said_once(server):
    with capture_logs() as logs:
        async with server.followed():
            assert server.devices.state is State.OFF
            assert "serves no devices" in server.devices.why
            await asyncio.sleep(3600)
            assert (server.opened, server.devices.synced) == ([], True)
    assert [entry["state"] for entry in logs if entry["event"] == "device taints"] == ["off"]


@pytest.mark.parametrize("kind", [Kind.SLICES, Kind.CLAIMS])
async def test_without_the_right_to_see_slices_or_claims_devices_are_off_and_why_is_said(
    server, kind
):
    server.serves, server.refuses = api(), {kind: FORBIDDEN}
    async with server.followed():
        assert (server.devices.state, server.opened) == (State.OFF, [])
        assert server.devices.why == str(FORBIDDEN)
        # The role is mended; nobody has to start the worker again.
        server.refuses.clear()
        await asyncio.sleep(200)
        assert (server.devices.state, server.devices.why) == (State.ON, "")
        assert server.opened == ALL


async def test_without_the_right_to_see_rules_slices_count_alone(server):
    server.serves, server.refuses = api(), {Kind.RULES: FORBIDDEN}
    async with server.followed():
        assert (server.devices.state, server.opened) == (State.ON, ALL[:2])
        assert server.devices.why == str(FORBIDDEN)


async def test_an_upgrade_changes_the_version_and_forgets_nothing_meanwhile(server):
    server.serves = api("v1beta2")
    async with server.followed():
        assert server.opened[0] == "resourceslices.v1beta2"
        server.serves = api("v1", rules="v1")
        await asyncio.sleep(200)
        assert server.opened == ["resourceslices.v1", "resourceclaims.v1", "devicetaintrules.v1"]
        assert server.devices.ready


async def test_what_is_taken_away_is_believed_when_it_is_said_twice(server):
    server.serves = api()
    async with server.followed():
        server.serves = None
        while server.asked < 2:
            await asyncio.sleep(1)
        assert server.opened == ALL
        # It was a server that had just begun.
        server.serves = api()
        await asyncio.sleep(10)
        assert (server.opened, server.devices.state) == (ALL, State.ON)
        server.serves = None
        await asyncio.sleep(200)
        assert (server.opened, server.devices.state) == ([], State.OFF)
        assert not server.devices.ready
        assert server.healths == {kind.value: WatchHealth() for kind in Kind}


async def test_a_right_that_is_lost_shows_once_the_watch_breaks(server):
    server.serves = api()
    async with server.followed():
        server.refuses = {Kind.CLAIMS: FORBIDDEN}
        await asyncio.sleep(400)
        assert server.opened == ALL
        server.healths[Kind.CLAIMS].connected = False
        await asyncio.sleep(400)
        assert (server.opened, server.devices.state) == ([], State.OFF)
        assert server.devices.why == str(FORBIDDEN)


@pytest.mark.parametrize("error", [ServerError("down", status=500), NotFoundError("", status=404)])
async def test_a_server_that_does_not_tell_changes_nothing_and_is_told_of_once(server, error):
    server.serves = api()
    with capture_logs() as logs:
        async with server.followed():
            server.serves = error
            await asyncio.sleep(3600)
            assert (server.opened, server.devices.state) == (ALL, State.ON)
    said = [entry for entry in logs if entry["event"] == "not known what devices are served"]
    assert len(said) == 1


async def test_as_long_as_nobody_knows_the_reason_is_seen(server):
    server.serves = ServerError("down", status=500)
    async with server.followed():
        assert server.devices.describe() == {"state": "unknown", "synced": False, "why": "down"}
        server.serves = api()
        await asyncio.sleep(10)
        assert (server.devices.state, server.devices.why) == (State.ON, "")


async def test_rules_that_come_later_do_not_wait_for_a_restart(server):
    server.serves = api(rules="")
    async with server.followed():
        server.serves = api()
        await asyncio.sleep(200)
        assert server.opened == ALL


async def test_a_cluster_that_does_not_tell_for_a_minute_makes_the_worker_unready(server):
    server.serves = ServerError("down", status=503)
    async with server.followed():
        await asyncio.sleep(50)
        assert server.devices.complaints() == []
        await asyncio.sleep(10)
        assert server.devices.complaints() == ["not known whether the cluster serves devices: down"]
        server.serves = api()
        await asyncio.sleep(10)
        assert server.devices.complaints() == []
        server.serves = ServerError("down", status=503)
        # What is followed goes on being followed.
        await asyncio.sleep(3600)
        assert server.devices.complaints() == []
