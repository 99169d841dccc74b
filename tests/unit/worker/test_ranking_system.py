"""A system that ranks, remembers, and changes its mind with time alone, run by a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.cluster import Changed, Deleted, Replaced
from bailiff.decisions import Round, Scene
from bailiff.kinds import Pod
from bailiff.worker.mirror.slices import SLICE
from bailiff.worker.systems import MakeSystem, Parts, SystemInWorker
from bailiff.worker.timers.wakes import Wakes
from tests.harness.asking import Says
from tests.harness.clocks import ManualClock
from tests.harness.evaluating import Evaluating
from tests.harness.kinds import no_execute, pod_of, tolerating
from tests.harness.ranking_system import (
    NAME,
    TERMS,
    WORKER_WITH_SEATS,
    seating_node,
)
from tests.harness.worlds.hall import Hall
from tests.harness.worlds.world import World

pytestmark = pytest.mark.looptime(start=0)


async def test_the_lowest_goes_when_its_time_has_come_though_nothing_changes():
    world = Hall()
    for name, priority in (("low", 1), ("middle", 2), ("high", 3)):
        world.sit(name, priority)
    async with world.running():
        await asyncio.sleep(59)
        assert world.requests == []
        assert world.seats.told == [("n1", True)]
        await asyncio.sleep(3)
        assert world.deletions() == {"low": 60.0}
        await asyncio.sleep(200)
    assert world.deletions() == {"low": 60.0}
    assert world.seats.told == [("n1", True), ("n1", False)]


async def test_what_it_says_of_one_pod_changes_with_another():
    world = Hall()
    for name, priority in (("low", 1), ("middle", 2), ("high", 3)):
        world.sit(name, priority)
    async with world.running():
        await asyncio.sleep(30)
        world.sit("lowest", 0)
        await asyncio.sleep(29)
        world.remove_pod("high")
        await asyncio.sleep(10)
        assert world.deletions() == {"lowest": 60.0}
        world.sit("highest", 9)
        await asyncio.sleep(30)
        world.remove_pod("highest")
        await asyncio.sleep(100)
    assert world.deletions() == {"lowest": 60.0}


async def test_a_pod_that_comes_has_the_whole_node_looked_at():
    world = Hall()
    for name, priority in (("low", 1), ("middle", 2)):
        world.sit(name, priority)
    async with world.running():
        await asyncio.sleep(10)
        world.sit("high", 3)
        await asyncio.sleep(70)
    assert world.deletions() == {"low": 70.0}


async def test_a_pod_that_goes_has_the_whole_node_looked_at():
    world = Hall()
    for name, priority in (("low", 1), ("middle", 2), ("high", 3)):
        world.sit(name, priority)
    async with world.running():
        await asyncio.sleep(30)
        world.remove_pod("high")
        await asyncio.sleep(10)
        world.sit("other", 3)
        await asyncio.sleep(70)
    assert world.deletions() == {"low": 100.0}


async def test_each_waits_for_its_turn_by_the_state_that_a_round_has_left():
    world = Hall()
    for priority in range(4):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(300)
    assert list(world.deletions()) == ["p0", "p1"]


async def test_what_is_written_is_told_by_the_finding_of_the_moment():
    world = Hall()
    world.lingering = True
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(65)
    words = "3 pods for 2 seats"
    mark, _, end = (call.body.get("status", {}) for call in world.calls if call.verb == "patch")
    (condition,) = mark["conditions"]
    assert condition["message"] == words
    assert (end["reason"], end["message"]) == ("Unseated", words)
    (delete,) = [call for call in world.calls if call.verb == "delete"]
    assert delete.body["gracePeriodSeconds"] == TERMS.grace_period_seconds
    assert world.notes_on("p0") == [words]


async def test_its_words_stay_its_own_where_another_system_will_evict_the_pod_too():
    world = Hall()
    world.lingering = True
    node = seating_node("n1", 2)
    taints = (*node.spec.taints, no_execute())
    world._put_node(replace(node, spec=replace(node.spec, taints=taints)))
    for priority in range(3):
        world.sit(f"p{priority}", priority, tolerating(seconds=600))
    async with world.running():
        await asyncio.sleep(65)
    *_, end = (call.body["status"] for call in world.calls if call.step == "phase")
    assert end["message"] == "3 pods for 2 seats"
    assert world.notes_on("p0") == ["3 pods for 2 seats"]


class Seating(Evaluating):
    """An evaluator of a node whose pods take several steps, stepped by hand."""

    def __init__(self, systems: Sequence[MakeSystem] = WORKER_WITH_SEATS) -> None:
        self.hand = ManualClock()
        super().__init__(self.hand, systems=systems)
        self.tell_node(Replaced((seating_node("n1", 2),), "1"))
        numbers = range(SLICE + 10)
        pods = tuple(pod_of(f"p{n}", "n1", uid=f"p{n}", priority=-n) for n in numbers)
        self.tell_pod(Replaced(pods, "1"))
        self.through()


def test_all_pods_of_a_crowd_are_ranked_together_and_once():
    hall = Seating()
    asked: list[int] = []
    seats = hall.systems[NAME]
    prepare = seats.prepare

    def counted(scene: Scene, *, explain: bool) -> Round | None:
        asked.append(len(scene.pods))
        return prepare(scene, explain=explain)

    seats.prepare = counted  # type: ignore[method-assign]
    hall.hand.advance(60)
    hall.marks.look_at_node("n1")
    assert hall.through() == 2
    assert asked == [SLICE + 10]
    assert [one.pod.metadata.name for one in hall.pending] == [f"p{SLICE + 9}"]


class Strict(SystemInWorker):
    """Ranks, and knows the pods that it was shown, and no others; it has them all stay."""

    name = "strict"
    ranks = True

    def __init__(self, parts: Parts) -> None:
        self.asked: list[str] = []
        self.shown: list[tuple[str, ...]] = []

    def prepare(self, scene: Scene, *, explain: bool) -> Round | None:
        self.shown.append(tuple(pod.metadata.name for pod in scene.on_node))
        known = {pod.metadata.uid for pod in scene.pods}

        def of(pod: Pod) -> None:
            assert pod.metadata.uid in known
            self.asked.append(pod.metadata.uid)

        return Says(of)


def test_a_pod_that_is_replaced_under_its_name_while_a_crowd_is_looked_at_has_its_own_look():
    hall = Seating((Strict,))
    strict = hall.systems["strict"]
    assert isinstance(strict, Strict)
    strict.asked.clear()
    hall.marks.look_at_node("n1")
    hall.evaluator.step()
    hall.tell_pod(Changed(pod_of(f"p{SLICE + 9}", "n1", uid="another")))
    hall.tell_pod(Changed(pod_of(f"p{SLICE + 8}", "n2", uid=f"p{SLICE + 8}")))
    hall.evaluator.step()
    assert strict.asked == [f"p{n}" for n in range(SLICE + 8)]
    hall.through()
    assert "another" in strict.asked


def test_pods_are_shown_in_one_order_whichever_of_them_is_asked_about():
    """A system that tells equals by their order would contradict itself before each attempt."""
    hall = Seating((Strict,))
    strict = hall.systems["strict"]
    assert isinstance(strict, Strict)
    (together, *_) = strict.shown
    for number in (0, 5, SLICE + 9):
        pod = hall.mirror.pod(("default", f"p{number}"))
        assert pod is not None
        hall.evaluator.finding(pod)
        assert strict.shown[-1] == together


def test_what_was_ranked_on_a_node_that_has_gone_meanwhile_evicts_nobody():
    hall = Seating()
    hall.hand.advance(60)
    hall.marks.look_at_node("n1")
    hall.evaluator.step()
    hall.tell_node(Deleted(seating_node("n1", 2)))
    hall.evaluator.step()
    assert len(hall.pending) == 0


class Curtain(SystemInWorker):
    """Keeps all pods, and will think again at second 60 where there is any."""

    name = "curtain"

    def __init__(self, parts: Parts) -> None:
        self.at = parts.clock.now() + timedelta(seconds=60)
        self.looks = 0

    def prepare(self, scene: Scene, *, explain: bool) -> Round | None:
        self.looks += 1
        said = Says(lambda _: None)
        said.holds_until = self.at if scene.pods and scene.now < self.at else None
        return said


async def test_a_pod_that_comes_may_bring_an_instant_with_it():
    world = World(systems=(Curtain,))
    world.taint("n1")
    (curtain,) = world.worker.systems.values()
    assert isinstance(curtain, Curtain)
    async with world.running():
        await asyncio.sleep(10)
        world.add_pod("pod")
        await asyncio.sleep(49)
        before = curtain.looks
        await asyncio.sleep(2)
        assert curtain.looks == before + 1


def test_a_system_that_says_from_now_on_is_not_asked_without_end():
    clock = ManualClock()
    wakes = Wakes(clock)
    wakes.set("n1", clock.now())
    assert list(wakes.take_due()) == []
    assert wakes.wait() == 1.0
    clock.advance(1)
    assert list(wakes.take_due()) == ["n1"]
    assert wakes.wait() is None


def test_a_node_is_looked_at_at_the_sooner_of_two_instants():
    clock = ManualClock()
    wakes, now = Wakes(clock), clock.now()
    wakes.set("n1", now + timedelta(seconds=60))
    wakes.set_sooner("n1", now + timedelta(seconds=90))
    wakes.set_sooner("n1", None)
    clock.advance(59.5)
    assert list(wakes.take_due()) == []
    assert wakes.wait() == 0.5
    wakes.set_sooner("n2", now + timedelta(seconds=70))
    clock.advance(0.5)
    assert list(wakes.take_due()) == ["n1"]
    wakes.set("n2", None)
    assert wakes.wait() is None
