"""A system that nobody has heard of: given to the worker in a list, and nothing else changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar

import msgspec
import pytest

from bailiff.cluster import Changed
from bailiff.decisions import EvictionTerms, Finding, Round, Scene, Verdict
from bailiff.decisions.policies import BlastRadius, Policies
from bailiff.kinds import Annotations, Pod, PodCondition
from bailiff.worker import SYSTEMS, Comparison, ShadowActions, Shard
from bailiff.worker.systems import MakeSystem, Parts, SystemInWorker
from bailiff.worker.systems.system import Work, Writer
from bailiff.worker.timers.eviction import Eviction
from tests.harness.asking import Says
from tests.harness.clocks import START
from tests.harness.faces.asgi import call
from tests.harness.kinds import no_execute, node_of, tolerating
from tests.harness.pages import status_app
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.calls import Call
from tests.harness.worlds.world import World

pytestmark = pytest.mark.looptime(start=0)

NAME = "curfew"
TERMS = EvictionTerms(
    controller="curfew-controller",
    event_reason="Curfew",
    condition=PodCondition(type="DisruptionTarget", status="True", reason="Curfew"),
    grace_period_seconds=7,
)


class Curfew(Finding, frozen=True):
    eviction: ClassVar[EvictionTerms] = TERMS


class Unmarked(Finding, frozen=True):
    eviction: ClassVar[EvictionTerms] = EvictionTerms(controller="c", event_reason="Curfew")


class CurfewInWorker(SystemInWorker):
    """Pods of nodes whose name says so go at second 100; it reads pod and node, and nothing else.

    Attributes:
        lit: nodes where there is no curfew for now.
        evicted_late: pods that went by it, and how late.
        busy: seconds that its writer needs until nothing is under way.
    """

    name = NAME
    condition = TERMS.condition

    def __init__(self, parts: Parts, finding: type[Finding] = Curfew) -> None:
        self.parts = parts
        self.finding = finding
        self.at = START + timedelta(seconds=100)
        self.lit: set[str] = set()
        self.evicted_late: list[tuple[str, float]] = []
        self.followed = self.written = self.drained = self.forgotten = self.turns = 0
        self.busy = 0.0
        self.wrong = ""

    def prepare(self, scene: Scene, *, explain: bool) -> Round | None:
        node, now = scene.node, scene.now
        if node is None or "dark" not in node.metadata.name or node.metadata.name in self.lit:
            return None

        def ask(pod: Pod) -> Finding:
            verdict = Verdict.EVICT_NOW if now >= self.at else Verdict.EVICT_AT
            why = f"curfew on {node.metadata.name}"
            return self.finding(
                system=NAME,
                verdict=verdict,
                reason="Curfew",
                message=why,
                evict_at=self.at,
                cause="curfew",
            )

        return Says(ask)

    def light(self, node: str) -> None:
        self.lit.add(node)
        self.parts.marks.look_at_node(node)

    def followers(self) -> Mapping[str, Work]:
        return {"curfew": self.follow}

    async def follow(self) -> None:
        self.followed += 1
        await asyncio.Event().wait()

    def writers(self) -> Mapping[str, Writer]:
        return {"curfew writer": self}

    async def run(self) -> None:
        self.written += 1
        await asyncio.Event().wait()

    async def drain(self) -> None:
        self.drained += 1

    async def forget(self) -> None:
        self.forgotten += 1
        await asyncio.sleep(self.busy)

    def elected(self) -> None:
        self.turns += 1

    def evicted(self, eviction: Eviction, late: float) -> None:
        self.evicted_late.append((eviction.pod.metadata.name, round(late)))

    def complaints(self) -> list[str]:
        return [self.wrong] if self.wrong else []

    def describe(self) -> dict[str, Any]:
        return {"at": "second 100"}


class Curfewed(World):
    """A world with a dark node and a light one, whose worker knows the curfew too."""

    def __init__(self, systems: tuple[MakeSystem, ...] = SYSTEMS, **settings: Any) -> None:
        self.found = Curfew
        self.graces: list[int | None] = []
        super().__init__(systems=(*systems, self._curfew), **settings)
        self.taint("dark")
        self.taint("light")

    def _curfew(self, parts: Parts) -> CurfewInWorker:
        self.curfew = CurfewInWorker(parts, self.found)
        return self.curfew

    def _take(self, call: Call, current: Pod) -> None:
        self.graces.append(call.body.get("gracePeriodSeconds"))
        super()._take(call, current)

    def count(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"bailiff_worker_{name}", labels)


async def test_its_findings_are_carried_out_as_it_says_and_told_as_its_own(tmp_path):
    path = tmp_path / "audit"
    world = Curfewed(audit_log=path)
    world.add_pod("late", node="dark")
    world.add_pod("safe", node="light")
    async with world.running():
        await asyncio.sleep(99)
        assert world.deletions() == {}
        await asyncio.sleep(10)
        assert world.deletions() == {"late": 100.0}
        async with asyncio.timeout(600):
            while not world.count("audit_lines_total", fate="written"):
                await asyncio.sleep(0.5)
    assert world.graces == [7]
    assert world.reported == [("curfew-controller", "Curfew")]
    assert world.requests == ["patch", "delete"]
    assert world.notes_on("late") == ["Marking for deletion Pod default/late: curfew on dark"]
    assert world.curfew.evicted_late == [("late", 0)]
    assert world.count("evictions_total", by="delete", system=NAME) == 1
    assert world.count("evictions_total", by="delete", system="node-taints") == 0
    assert json.loads(path.read_text())["finding"]["system"] == NAME
    curfew = world.curfew
    assert (curfew.followed, curfew.written, curfew.drained) == (1, 1, 2)


async def test_of_two_systems_the_earlier_evicts_and_both_are_told():
    world = Curfewed()
    world.add_pod("both", tolerating(seconds=200), node="dark")
    world.add_pod("taint", tolerating(seconds=50), node="dark")
    async with world.running():
        world.taint("dark", no_execute())
        await asyncio.sleep(150)
    assert world.deletions() == {"both": 100.0, "taint": 50.0}
    assert world.curfew.evicted_late == [("both", 0)]
    (note,) = world.notes_on("both")
    assert "curfew on dark" in note
    assert "taint maintenance:NoExecute" in note


async def test_what_it_says_of_a_node_is_asked_for_anew_when_it_marks_the_node():
    world = Curfewed()
    world.add_pod("late", node="dark")
    async with world.running():
        await asyncio.sleep(50)
        assert len(world.worker.pending) == 1
        world.curfew.light("dark")
        await asyncio.sleep(100)
    assert world.deletions() == {}
    assert world.count("evictions_cancelled_total", system=NAME) == 1


async def test_without_a_condition_there_is_none_and_the_pod_is_looked_at_all_the_same():
    world = Curfewed()
    world.curfew.finding = Unmarked
    world.add_pod("late", node="dark")
    async with world.running():
        await asyncio.sleep(110)
    assert world.deletions() == {"late": 100.0}
    assert world.requests == ["look", "delete"]
    assert world.graces == [None]


async def test_policies_hold_for_it_and_its_cause_can_be_acknowledged():
    world = Curfewed(policies=Policies(blast_radius=BlastRadius(max_pods=1)))
    for name in ("a", "b"):
        world.add_pod(name, node="dark")
    async with world.running():
        await asyncio.sleep(200)
        assert world.deletions() == {}
        world._put_node(node_of("dark", annotations=Annotations(acknowledged_taints="curfew")))
        await asyncio.sleep(10)
    assert set(world.deletions()) == {"a", "b"}


async def test_its_part_of_the_pages_and_what_it_complains_of_are_shown():
    election = Appointment(leads=True)
    world = Curfewed(election=election)
    worker = world.worker
    app = status_app(worker, world.registry, worker.trust({}))
    async with world.running():
        election.appoint()
        await asyncio.sleep(1)
        told = msgspec.json.decode((await call(app, "GET", "/v1/queue")).body)
        assert told["systems"][NAME] == {"at": "second 100"}
        assert (await call(app, "GET", "/readyz")).status == 200
        world.curfew.wrong = "nobody knows what time it is"
        answer = await call(app, "GET", "/readyz")
        assert (answer.status, answer.body) == (503, f"not ready: {NAME}".encode())
        await asyncio.sleep(2)
        told = msgspec.json.decode((await call(app, "GET", "/v1/queue")).body)
        assert told["notReady"] == [{"check": NAME, "detail": "nobody knows what time it is"}]
    assert world.curfew.turns == 1


class ShadowedCurfew(Curfewed):
    """Somebody else carries the curfew out."""

    def worker_actions(self) -> ShadowActions:
        self.comparison = Comparison(self.clock)
        return ShadowActions(self.comparison)


async def test_a_shadow_judges_who_evicts_by_its_condition():
    world = ShadowedCurfew()
    world.add_pod("late", node="dark")
    world.comparison.look_at(world.worker)
    async with world.running():
        await asyncio.sleep(40)
        pod = world.pods.pop("late")
        assert TERMS.condition is not None
        status = msgspec.structs.replace(pod.status, conditions=(TERMS.condition,))
        gone = msgspec.structs.replace(pod, status=status)
        assert world.comparison.system_by_condition(gone) is world.curfew
        world.comparison.theirs(gone)
        world.pod_watch.send(Changed(gone))
        await asyncio.sleep(1)
    assert world.comparison.report()["counts"]["early"] == 1


async def test_a_finding_that_evicts_and_names_no_terms_is_told_as_the_fault_that_it_is():
    world = Curfewed()
    world.curfew.finding = Finding
    world.curfew.at = START
    world.add_pod("late", node="dark")
    world.relist_nodes()
    world.relist_pods()
    with pytest.raises(ExceptionGroup) as caught:
        await world.worker.run(world.pod_watch, world.node_watch, asyncio.Event())
    assert caught.group_contains(ValueError, match="curfew evicts default/late and names no terms")


async def test_a_share_is_not_left_before_its_writer_has_nothing_under_way():
    election = Appointment(shard=Shard(0, 2))
    world = Curfewed(election=election, shards=Shard.all_of(2))
    world.curfew.busy = 20.0
    async with world.running():
        election.appoint()
        await asyncio.sleep(1)
        election.leads = False
        leaving = asyncio.create_task(election.listener.lost_shard())
        await asyncio.sleep(19)
        assert (world.curfew.forgotten, leaving.done()) == (1, False)
        await asyncio.sleep(2)
        assert leaving.done()
