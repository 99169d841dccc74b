"""Device taints under policies, in shadow mode, in the audit log and in the queue."""

from __future__ import annotations

import asyncio
import contextlib
import json
from datetime import timedelta

import pytest

from bailiff.cluster import Changed, Deleted
from bailiff.decisions.policies import BlastRadius, Cause, EvictionApi, Pause, PauseNotice, Policies
from bailiff.kinds import Annotations
from bailiff.worker import Actions, Comparison, ShadowActions, Watched
from bailiff.worker.observe.queue_query import QueueQuery
from bailiff.worker.systems.device_taints.devices import Kind
from tests.harness.clocks import START
from tests.harness.device_objects import patience
from tests.harness.kinds import no_execute, node_of
from tests.harness.pages import queue_page
from tests.harness.worlds.device_world import DeviceWorld, taint_added, untainted

pytestmark = pytest.mark.looptime(start=0)

PAUSABLE = Policies(pause=Pause(namespace="kube-system", name="bailiff-pause"))
SYSTEM = {"node": "node-taints", "device": "device-taints"}


def tainted(*tolerations, **settings) -> DeviceWorld:
    world = untainted(**settings)
    world.gpu_pod("a", *tolerations)
    world.slice(gpu_a=[taint_added(0)])
    return world


def shown(world: DeviceWorld, **query) -> list[dict]:
    page = queue_page(world.worker.pending, QueueQuery(**query))
    found: list[dict] = page["evictions"]
    return found


# Policies.


async def test_a_pause_holds_what_devices_evict_and_resumption_lets_it_go():
    world = tainted(policies=PAUSABLE)
    world.rule("rule", device="gpu-a")
    notice = PauseNotice(reason="moving racks")
    world.worker.set_pause(notice)
    async with world.running():
        await asyncio.sleep(100)
        assert world.deletions() == {}
        (held,) = shown(world, cause=Cause.PAUSED)
        assert (held["name"], held["state"]) == ("a", "held")
        assert held["system"] == SYSTEM["device"]
        # The status goes on to be told: the rule waits.
        assert world.told() == "1 pod needs to be evicted in 1 namespace."
        world.worker.set_pause(None)
        await asyncio.sleep(30)
    assert world.deletions() == {"a": 100.0}
    assert world.said()[-1][1:] == ("False", "Completed")


async def test_a_budget_holds_what_devices_evict_until_its_hard_deadline():
    api = EvictionApi(deadline_seconds=300)
    world = tainted(policies=Policies(eviction_api=api))
    world.rule("rule", device="gpu-a")
    world.budgets["a"] = "web needs 2 healthy pods and has 2 currently"
    async with world.running():
        await asyncio.sleep(200)
        assert world.deletions() == {}
        assert shown(world)[0]["hold"]["cause"] == "budget"
        await asyncio.sleep(200)
    assert world.deletions()["a"] == pytest.approx(300, abs=1)
    # The Eviction API marks pods in its own way: this worker knows its own evictions.
    assert world.told() == "1 pod evicted since starting the controller."


async def test_what_the_eviction_api_takes_counts_for_the_rule():
    world = tainted(policies=Policies(eviction_api=EvictionApi()))
    world.rule("rule", device="gpu-a")
    async with world.running():
        await asyncio.sleep(30)
    assert world.requests == ["evict"]
    assert world.told() == "1 pod evicted since starting the controller."


async def test_the_blast_radius_counts_what_a_rule_evicts_until_the_rule_is_acknowledged():
    policies = Policies(blast_radius=BlastRadius(max_pods=1))
    world = untainted(policies=policies)
    for name in ("a", "b", "c"):
        world.gpu_pod(name)
        world.add_pod(f"plain-{name}")
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(10)
        assert world.deletions() == {}
        world.rule("rule", at=10, pool="n1")
        await asyncio.sleep(10)
        # Those that the node's taint evicts too go for that no more, and for the rule still.
        world.taint("n1")
        await asyncio.sleep(10)
        assert world.deletions() == {}
        annotations = Annotations(acknowledged_taints="DeviceTaintRule rule")
        world._put_node(node_of("n1", annotations=annotations))
        await asyncio.sleep(10)
    assert set(world.deletions()) == {"a", "b", "c"}


# What is told.


async def test_the_audit_log_names_claim_device_and_who_tainted_it(tmp_path):
    path = tmp_path / "audit"
    world = tainted(patience(3), audit_log=path)
    world.rule("rule", device="gpu-a")
    async with world.running():
        await asyncio.sleep(10)
        async with asyncio.timeout(600):
            while not world.metric("bailiff_worker_audit_lines_total", fate="written"):
                await asyncio.sleep(0.5)
    line = json.loads(path.read_text())
    assert line["finding"]["system"] == SYSTEM["device"]
    assert line["finding"]["reason"] == "TolerationExpired"
    assert line["deadline"] == (START + timedelta(seconds=3)).strftime("%Y-%m-%dT%H:%M:%SZ")
    looked_at = [one["subject"] for one in line["finding"]["trace"] if "subject" in one]
    steps = [one for one in looked_at if one["kind"] == "deviceTaint"]
    assert {one["device"]["device"] for one in steps} == {"gpu-a"}
    assert {one["device"]["claim"]["name"] for one in steps} == {"claim-a"}
    named = [
        (one["device"].get("resourceSlice") or one["device"]["deviceTaintRule"])["name"]
        for one in steps
    ]
    assert sorted(named) == ["n1", "rule"]


async def test_the_queue_names_the_system_and_the_device():
    world = tainted(patience(60))
    world.add_pod("plain", node="n2")
    world.taint("n2", no_execute())
    world.latency = 5.0
    async with world.running():
        await asyncio.sleep(1)
        by_name = {one["name"]: one for one in shown(world)}
    assert by_name["plain"]["system"] == SYSTEM["node"]
    found = by_name["a"]
    assert (found["system"], found["reason"]) == (SYSTEM["device"], "ToleratedUntil")
    assert found["evictAt"] == "2026-01-01T00:01:00Z"
    assert "device gpu.example.com/n1/gpu-a is tolerated" in found["message"]
    assert "(ResourceSlice /n1:uid-" in found["message"]


# Shadow mode.


class Shadowed(DeviceWorld):
    """A cluster in which upstream's device manager evicts."""

    def __init__(self, **settings):
        super().__init__(**settings)

    def worker_actions(self) -> Actions:
        self.comparison = Comparison(self.clock)
        return ShadowActions(self.comparison)

    @contextlib.asynccontextmanager
    async def running(self):
        self.comparison.look_at(self.worker)
        looking = asyncio.create_task(self.comparison.run())
        async with super().running():
            await asyncio.sleep(0.1)
            yield
        looking.cancel()

    def pod_events(self) -> Watched:
        return Watched(self.pod_watch, self.comparison)

    def evicted_in_tree(self, name: str, *, gracefully: bool) -> None:
        gone = self.terminating(name, by_device_manager=True)
        del self.pods[name]
        if gracefully:
            self.pod_watch.send(Changed(gone))
        self.pod_watch.send(Deleted(gone))

    def results(self) -> dict[str, int]:
        counts = self.comparison.report()["counts"]
        return {result: count for result, count in counts.items() if count}


@pytest.mark.parametrize("gracefully", [True, False], ids=["seen going", "gone at once"])
@pytest.mark.parametrize(
    ("seconds", "evicted_at", "result"),
    [
        (10, 10, "agreed"),
        (0, 1, "agreed"),
        (60, 20, "early"),
        (10, 40, "late"),
        (10, None, "missed"),
        (None, 20, "extra"),
    ],
)
async def test_the_shadow_judges_the_device_manager_too(seconds, evicted_at, result, gracefully):
    world = Shadowed()
    world.taint("n1")
    world.slice(gpu_a=[])
    world.gpu_pod("a", patience(seconds))
    async with world.running():
        world.slice(gpu_a=[taint_added(0.1)])
        await asyncio.sleep(evicted_at or 1)
        if evicted_at is not None:
            world.evicted_in_tree("a", gracefully=gracefully)
        await asyncio.sleep(120)
    assert world.results() == {result: 1}


async def test_a_shadow_writes_no_status_of_a_rule():
    world = Shadowed()
    world.taint("n1")
    world.gpu_pod("a")
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(60)
    assert (world.statuses, world.requests, world.notes) == ([], [], [])


async def test_without_devices_the_shadow_does_not_judge_their_manager():
    world = Shadowed(follows=(Kind.SLICES, Kind.CLAIMS))
    world.lists[Kind.CLAIMS] = False
    world.taint("n1")
    world.gpu_pod("a")
    async with world.running():
        world.evicted_in_tree("a", gracefully=True)
        await asyncio.sleep(120)
    assert world.results() == {}
