"""Nodes that fall silent on a real API server: their Leases and conditions stop.

All times are a small part of the usual ones, and real: what a Lease tells cannot be skipped.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

import pytest

from bailiff.bootstrap.node_loss import Losing
from bailiff.decisions.node_loss.facts import OffProof
from bailiff.decisions.node_loss.settings import NodeLossSettings
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.lost_nodes import Fleet
from tests.harness.working import running_worker, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from bailiff.cluster import Cluster
    from bailiff.worker import Worker
    from tests.harness.api import Bench

pytestmark = pytest.mark.kube_apiserver

SETTINGS = NodeLossSettings(after=6.0, silent_after=4.0, rate=5.0, reduced_rate=5.0)
# From the last sign of life: silent after 4 s and lost for 6 s; a renewal comes every second, and a
# look every second at most.
EARLIEST, LATEST = 9.0, 30.0
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


class SaysOff:
    """A fence that says what a test says."""

    def __init__(self) -> None:
        self.off = False

    async def ask(self, node: str) -> OffProof:
        return OffProof(off=self.off, by="test", message=node)


@pytest.fixture
async def fleet(bench: Bench) -> AsyncIterator[Fleet]:
    async with Fleet(bench).living() as fleet:
        yield fleet


@pytest.fixture
async def zone() -> str:
    return f"zone-{secrets.token_hex(3)}"


def losing(as_worker: Cluster, **mode: object) -> AbstractAsyncContextManager[Worker]:
    chosen = NodeLossMode(settings=SETTINGS, **mode)  # type: ignore[arg-type]  # as fields have it
    return running_worker(as_worker, losing=Losing(chosen, None))


async def test_a_silent_node_is_acted_on_after_its_time_and_not_before(
    fleet: Fleet, zone: str, as_worker: Cluster
) -> None:
    lost, *others = await fleet.add(4, zone)
    await fleet.pod("web", lost)
    await fleet.pod("agent", lost, owner="DaemonSet")
    await fleet.pod("other", others[0])
    async with losing(as_worker):
        await asyncio.sleep(2)
        fleet.silent.add(lost)
        await asyncio.sleep(EARLIEST - 1)
        assert not await fleet.is_ending("web")
        await until(lambda: fleet.is_ending("web"), LATEST)
        pod = await fleet.get("web")
        assert pod is not None
        assert pod["status"]["reason"] == "NodeLost"
        assert pod["status"]["message"] == f"Node {lost} which was running pod web is unresponsive"
        await until(lambda: told(fleet, lost, "DeletingAllPods"))
        await until(lambda: told(fleet, "web", "NodeControllerEviction"))
        await until(lambda: is_marked_not_ready(fleet, "agent"))
        await asyncio.sleep(6)
        agent = await fleet.get("agent")
    assert agent is not None
    assert "deletionTimestamp" not in agent["metadata"]
    assert agent["status"]["reason"] == "NodeLost"
    assert not await fleet.is_ending("other")


async def told(fleet: Fleet, about: str, reason: str) -> bool:
    return reason in await fleet.events(about)


async def is_marked_not_ready(fleet: Fleet, name: str) -> bool:
    pod = await fleet.get(name)
    assert pod is not None
    (ready,) = [one for one in pod["status"]["conditions"] if one["type"] == "Ready"]
    return bool(ready["status"] == "False")


async def test_a_node_that_comes_back_in_time_is_left_alone(
    fleet: Fleet, zone: str, as_worker: Cluster
) -> None:
    lost, *_ = await fleet.add(4, zone)
    await fleet.pod("web", lost)
    async with losing(as_worker):
        await asyncio.sleep(2)
        fleet.silent.add(lost)
        await until(lambda: is_noted(fleet, lost), LATEST)
        await fleet.come_back(lost)
        await until(lambda: is_not_noted(fleet, lost), LATEST)
        await asyncio.sleep(12)
    assert not await fleet.is_ending("web")


async def is_noted(fleet: Fleet, name: str) -> bool:
    return "bailiff.dev/node-loss" in (await fleet.node(name))["metadata"].get("annotations", {})


async def is_not_noted(fleet: Fleet, name: str) -> bool:
    return not await is_noted(fleet, name)


async def test_a_zone_that_is_cut_off_loses_nobody(
    fleet: Fleet, zone: str, as_worker: Cluster
) -> None:
    cut, other = await fleet.add(3, zone), await fleet.add(3, f"{zone}-b")
    for name in (*cut, *other):
        await fleet.pod(f"on-{name}", name)
    async with losing(as_worker):
        await asyncio.sleep(2)
        fleet.silent.update(cut)
        for name in cut:
            await fleet.say_ready(name, "Unknown")
        await asyncio.sleep(20)
    assert [one for one in await fleet.pods() if await fleet.is_ending(one)] == []


async def test_a_clock_of_a_node_that_is_off_by_an_hour_changes_nothing(
    fleet: Fleet, zone: str, as_worker: Cluster
) -> None:
    behind, ahead, lost, _ = await fleet.add(4, zone)
    fleet.clock_off = {behind: -3600.0, ahead: 3600.0, lost: 3600.0}
    for name in (behind, ahead, lost):
        await fleet.pod(f"on-{name}", name)
    async with losing(as_worker):
        await asyncio.sleep(2)
        fleet.silent.add(lost)
        await until(lambda: fleet.is_ending(f"on-{lost}"), LATEST)
        await asyncio.sleep(5)
    assert not await fleet.is_ending(f"on-{behind}")
    assert not await fleet.is_ending(f"on-{ahead}")


async def test_a_worker_killed_in_the_middle_does_not_start_the_time_over(
    fleet: Fleet, zone: str, as_worker: Cluster
) -> None:
    lost, *_ = await fleet.add(4, zone)
    await fleet.pod("web", lost)
    loop = asyncio.get_running_loop()
    async with losing(as_worker):
        await asyncio.sleep(2)
        fleet.silent.add(lost)
        silent_at = loop.time()
        await until(lambda: is_noted(fleet, lost), LATEST)
    await asyncio.sleep(2)
    async with losing(as_worker):
        # The first look proves nothing, so that four seconds pass before the note is believed.
        await until(lambda: fleet.is_ending("web"), 25)
        took = loop.time() - silent_at
    assert took >= EARLIEST


async def test_pods_of_a_stateful_set_wait_for_proof_and_go_with_it(
    fleet: Fleet, zone: str, as_worker: Cluster
) -> None:
    lost, *_ = await fleet.add(4, zone)
    await fleet.pod("db-0", lost, owner="StatefulSet")
    async with losing(as_worker) as worker:
        await asyncio.sleep(2)
        fleet.silent.add(lost)
        await until(lambda: fleet.is_ending("db-0"), LATEST)
        # Its grace period is 30 s; the stand-in of a kubelet that is gone ends nobody.
        pod = await fleet.get("db-0")
        assert pod is not None
        assert pod["metadata"]["deletionGracePeriodSeconds"] > 0
        taint = {"key": OUT_OF_SERVICE, "value": "nodeshutdown", "effect": "NoSchedule"}
        await fleet.bench.taint(lost, taint)
        await until(lambda: fleet.is_gone("db-0"), LATEST)
        assert worker.systems["node-loss"].describe()["stuck"]["count"] == 0


async def test_a_fence_that_says_off_has_the_node_tainted_and_its_pods_gone(
    fleet: Fleet, zone: str, as_worker: Cluster
) -> None:
    lost, *_ = await fleet.add(4, zone)
    await fleet.pod("db-0", lost, owner="StatefulSet")
    await fleet.bench.taint(lost, {"key": "example.com/kept", "effect": "NoSchedule"})
    fence = SaysOff()
    fence.off = True
    async with losing(as_worker, fence=fence, taints_fenced=True):
        await asyncio.sleep(2)
        fleet.silent.add(lost)
        await until(lambda: fleet.is_gone("db-0"), LATEST)
        assert set(await fleet.taints(lost)) == {"example.com/kept", OUT_OF_SERVICE}
        await fleet.come_back(lost)
        await until(lambda: has_only_the_kept_taint(fleet, lost), LATEST)


async def has_only_the_kept_taint(fleet: Fleet, name: str) -> bool:
    return await fleet.taints(name) == ["example.com/kept"]


async def test_off_while_the_lease_renews_deletes_nobody(
    fleet: Fleet, zone: str, as_worker: Cluster
) -> None:
    wrong, *_ = await fleet.add(4, zone)
    await fleet.pod("db-0", wrong, owner="StatefulSet")
    await fleet.pod("web", wrong)
    fence = SaysOff()
    fence.off = True
    async with losing(as_worker, fence=fence, taints_fenced=True) as worker:
        await asyncio.sleep(2)
        await fleet.say_ready(wrong, "False")
        await until(lambda: told(fleet, wrong, "NodeLossContradiction"), LATEST)
        assert not worker.systems["node-loss"].complaints()
        await asyncio.sleep(8)
    assert not await fleet.is_ending("db-0")
    assert not await fleet.is_ending("web")
    assert OUT_OF_SERVICE not in await fleet.taints(wrong)
