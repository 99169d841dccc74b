"""A system in the list that the composition root is given is carried out as its terms say."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.cluster import UnreachableError, Unreadable
from bailiff.decisions import Finding, Options, Round, Scene, System, Systems, Verdict
from bailiff.decisions.cost import Cost
from bailiff.decisions.policies import EvictionApi, Policies
from bailiff.decisions.system import NoFacts
from bailiff.kinds import Pod
from bailiff.worker import halves_of
from tests.harness.clocks import START
from tests.harness.made_up_system import (
    LIGHTS,
    NAME,
    TERMS,
    THREE_SYSTEMS,
    LightsOutEviction,
    dark_node,
)
from tests.harness.worlds.calls import Call
from tests.harness.worlds.world import World, attempts

pytestmark = pytest.mark.looptime(start=0)

REASON = "LightsOut"


class Lit(World):
    """A world whose worker is given one system more, and a node whose lights go out at 60 s."""

    def __init__(self, systems: Systems = THREE_SYSTEMS, **settings: Any) -> None:
        super().__init__(systems=halves_of(systems), **settings)
        self._put_node(dark_node("n1", START))

    def sent(self, verb: str) -> list[Call]:
        """The requests about pods, of that kind."""
        return [call for call in self.calls if call.verb == verb]

    def status_of(self, name: str) -> dict[str, Any]:
        """What was written into the status of a pod, in all."""
        written: dict[str, Any] = {}
        for call in self.sent("patch"):
            written |= call.body.get("status", {}) if call.name == name else {}
        return written

    def finish(self, name: str, phase: str) -> None:
        """The kubelet says that it has ended, and the watch has not told yet."""
        pod = self.pods[name]
        self.pods[name] = replace(pod, status=replace(pod.status, phase=phase))

    def evicted(self, by: str = "delete") -> float:
        labels = {"by": by, "system": NAME}
        return self.registry.get_sample_value("bailiff_worker_evictions_total", labels) or 0


async def test_its_pod_goes_at_its_instant_with_its_condition_phase_grace_period_and_event():
    world = Lit()
    world.lingering = True
    world.add_pod("shop")
    async with world.running():
        await asyncio.sleep(59)
        assert world.requests == []
        await asyncio.sleep(5)
    assert world.deletions() == {"shop": 60.0}
    # A pod that has ended is deleted at once, so its phase is written when its grace period runs.
    assert world.requests == ["patch", "delete", "look", "phase"]
    (condition,) = world.sent("patch")[0].body["status"]["conditions"]
    assert TERMS.condition is not None
    assert (condition["type"], condition["status"]) == ("DisruptionTarget", "True")
    assert (condition["reason"], condition["message"]) == (REASON, TERMS.condition.message)
    assert world.sent("patch")[-1].body["status"] == {"phase": "Failed", "reason": REASON}
    (delete,) = world.sent("delete")
    assert delete.body["gracePeriodSeconds"] == 7
    assert world.pods["shop"].is_terminating
    assert world.reported == [("lights-out-controller", "LightsOutEviction")]
    assert world.evicted() == 1


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_a_pod_that_has_ended_by_itself_keeps_its_phase(phase):
    world = Lit()
    world.add_pod("job")
    async with world.running():
        await asyncio.sleep(59)
        world.finish("job", phase)
        await asyncio.sleep(5)
        world.put(world.pods["job"])
        await asyncio.sleep(60)
    assert world.deletions() == {}
    assert world.pods["job"].status.phase == phase


async def test_one_that_ends_by_itself_while_it_is_deleted_keeps_its_phase():
    world = Lit()
    world.lingering = True
    world.add_pod("job")
    take = world._take

    def finished(call: Call, current: Pod) -> None:
        take(call, current)
        world.finish("job", "Succeeded")

    world._take = finished  # type: ignore[method-assign]  # its kubelet is quick
    async with world.running():
        await asyncio.sleep(65)
    assert world.requests == ["patch", "delete", "look"]
    assert (world.pods["job"].status.phase, world.evicted()) == ("Succeeded", 1)


async def test_a_pod_whose_delete_is_refused_is_not_said_to_have_ended():
    world = Lit()
    world.lingering = True
    world.add_pod("shop")
    async with world.running():
        await asyncio.sleep(59)
        world.deny(500, "delete", until=65)
        await asyncio.sleep(3)
        assert world.pods["shop"].status.phase == "Running"
        await asyncio.sleep(60)
    assert set(world.deletions()) == {"shop"}
    assert world.pods["shop"].status.phase == "Failed"


async def test_an_eviction_is_one_though_its_phase_could_not_be_written():
    world = Lit()
    world.lingering = True
    world.add_pod("shop")
    world.late_failures = [UnreachableError("no answer")]
    async with world.running():
        await asyncio.sleep(120)
    assert world.deletions() == {"shop": 60.0}
    assert world.requests == ["patch", "delete", "look"]
    assert (world.evicted(), attempts(world, "deleted")) == (1, 1)


async def test_by_the_eviction_api_its_grace_period_and_its_phase_count_too():
    world = Lit(policies=Policies(eviction_api=EvictionApi()))
    world.lingering = True
    world.add_pod("shop")
    async with world.running():
        await asyncio.sleep(65)
    assert world.deletions() == {"shop": 60.0}
    (evict,) = world.sent("evict")
    assert evict.body["deleteOptions"]["gracePeriodSeconds"] == 7
    assert world.pods["shop"].status.phase == "Failed"
    assert world.evicted("evictionApi") == 1


async def test_what_its_budget_protects_is_not_said_to_have_ended():
    world = Lit(policies=Policies(eviction_api=EvictionApi()))
    world.add_pod("shop")
    world.budgets["shop"] = "no disruption allowed"
    async with world.running():
        await asyncio.sleep(65)
    assert (world.pods["shop"].status.phase, world.deletions()) == ("Running", {})


@pytest.fixture
def pods_stay(monkeypatch):
    """QuestionTerms by which the object of the pod stays."""
    monkeypatch.setattr(LightsOutEviction, "eviction", replace(TERMS, keeps_pod=True))


@pytest.mark.usefixtures("pods_stay")
@pytest.mark.parametrize("policies", [Policies(), Policies(eviction_api=EvictionApi())])
@pytest.mark.parametrize("systems", [THREE_SYSTEMS, Systems((LIGHTS,))])
async def test_one_that_keeps_its_object_is_through_when_its_status_says_so(policies, systems):
    world = Lit(systems, policies=policies)
    world.add_pod("shop")
    async with world.running():
        await asyncio.sleep(61)
        assert world.pods["shop"].status.phase == "Failed"
        assert len(world.worker.pending) == 0
        await asyncio.sleep(600)
    assert world.requests == ["patch"]
    assert (world.evicted(), attempts(world, "marked")) == (1, 1)
    assert not [note for note in world.notes_on("shop") if note.startswith("Cancelling")]


@pytest.mark.usefixtures("pods_stay")
async def test_one_that_keeps_its_object_is_tried_again_while_its_status_does_not_show_it():
    world = Lit()
    world.add_pod("shop")
    write = world._write_status
    lost = [True, True]

    def swallow(current: Pod, call: Call) -> Pod:
        return current if lost and lost.pop() else write(current, call)

    world._write_status = swallow  # type: ignore[method-assign]  # a proxy that keeps nothing
    async with world.running():
        await asyncio.sleep(61)
        assert (world.pods["shop"].status.phase, world.evicted()) == ("Running", 0)
        await asyncio.sleep(60)
    assert world.pods["shop"].status.phase == "Failed"
    assert (world.deletions(), world.evicted(), attempts(world, "survived")) == ({}, 1, 2)


class _Orphaned(Round):
    def of(self, pod: Pod) -> Finding:
        return LightsOutEviction(NAME, Verdict.EVICT_NOW, "Orphaned", "its node is gone")


class Orphans(System[NoFacts]):
    """Pods go whose node is gone."""

    name = NAME
    facts = NoFacts

    def is_reached(self, scene: Scene, facts: NoFacts) -> bool:
        return scene.without_node

    def cost(self, scene: Scene, facts: NoFacts, options: Options) -> Cost:
        return Cost()

    def prepare(self, scene: Scene, facts: NoFacts, options: Options) -> Round:
        return _Orphaned()


async def test_a_node_that_is_not_known_is_not_said_to_be_gone():
    world = Lit(Systems((Orphans(),)))
    world.add_pod("spoilt")
    # The watch of pods may be ahead of that of nodes.
    world.add_pod("early", node="new")
    async with world.running():
        await asyncio.sleep(1)
        world.node_watch.send(Unreadable(world.nodes["n1"].metadata, "", deleted=False))
        await asyncio.sleep(60)
        assert world.worker.mirror.is_unreadable("n1")
    assert world.requests == []
