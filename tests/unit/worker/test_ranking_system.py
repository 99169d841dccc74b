"""A system that ranks, remembers, and changes its mind with time alone, run by a worker."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.cluster import Changed, Deleted, Replaced, Unreadable
from bailiff.decisions import Round, Scene
from bailiff.decisions.policies import Pause, PauseNotice, Policies
from bailiff.kinds import Toleration
from bailiff.worker import Shard
from bailiff.worker.mirror.slices import SLICE
from bailiff.worker.systems import Parts, SystemInWorker
from bailiff.worker.timers.wakes import Wakes
from tests.harness.asking import Says
from tests.harness.clocks import ManualClock
from tests.harness.evaluating import Evaluating
from tests.harness.kinds import no_execute, pod_of, tolerating
from tests.harness.ranking_system import (
    NAME,
    TERMS,
    WORKER_WITH_SEATS,
    SeatsInWorker,
    seating_node,
)
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.world import YESTERDAY, World

pytestmark = pytest.mark.looptime(start=0)


class Hall(World):
    """A node n1 with two seats."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(systems=WORKER_WITH_SEATS, **settings)
        self._put_node(seating_node("n1", 2))

    @property
    def seats(self) -> SeatsInWorker:
        found = self.worker.systems[NAME]
        assert isinstance(found, SeatsInWorker)
        return found

    def sit(self, name: str, priority: int, *tolerations: Toleration) -> None:
        meta: dict[str, Any] = {"uid": f"uid-{name}", "creation_timestamp": YESTERDAY}
        self.put(pod_of(name, "n1", *tolerations, phase="Running", priority=priority, **meta))


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


class Counted(Hall):
    """Four pods, and an usher who counts them; the cluster needs a while for each request."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.latency = 0.2
        self.lingering = True
        for priority in range(4):
            self.sit(f"p{priority}", priority)

    def count(self, pods: int) -> None:
        self.seats.count("n1", pods)


async def test_by_one_count_one_pod_goes_though_its_own_status_has_the_node_looked_at():
    world = Counted()
    world.count(4)
    async with world.running():
        await asyncio.sleep(100)
        assert list(world.deletions()) == ["p0"]
        world.remove_pod("p0")
        await asyncio.sleep(50)
        assert list(world.deletions()) == ["p0"]
        world.count(3)
        await asyncio.sleep(50)
    assert list(world.deletions()) == ["p0", "p1"]


async def test_a_newer_count_chooses_nobody_else_while_the_eviction_is_under_way():
    world = Counted()
    world.count(4)
    async with world.running():
        await asyncio.sleep(60.1)
        world.sit("lowest", -1)
        world.count(5)
        await asyncio.sleep(0.2)
        assert [one.pod.metadata.name for one in world.worker.pending] == ["p0"]
        await asyncio.sleep(20)
    assert list(world.deletions()) == ["p0", "lowest"]


async def test_an_eviction_that_fails_is_told_and_the_next_round_tries_the_same_pod_again():
    world = Counted()
    world.count(4)
    world.deny(403, "delete", until=100)
    async with world.running():
        for _ in range(9):
            await asyncio.sleep(10)
            world.count(4)
        assert {name for name, _ in world.seats.heard} == {"p0"}
        assert world.seats.heard[:3] == [
            ("p0", "began"), ("p0", "failed: denied"), ("p0", "began"),
        ]  # fmt: skip
        await asyncio.sleep(300)
    assert list(world.deletions()) == ["p0"]
    assert world.seats.heard[-1] == ("p0", "ended: deleted")


async def test_what_never_began_is_told_to_be_over_too():
    world = Hall(policies=Policies(pause=Pause(namespace="ops")))
    world.worker.set_pause(PauseNotice())
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(70)
        world.remove_pod("p2")
        await asyncio.sleep(10)
    assert world.seats.heard == [("p0", "ended: kept")]
    # It was never announced, so there is nothing to take back.
    assert ("usher", "Reseated") not in world.reported


async def test_what_was_announced_is_taken_back_by_the_reason_of_its_own():
    world = Hall()
    world.deny(403, "delete", until=100)
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(70)
        world.remove_pod("p2")
        await asyncio.sleep(40)
    assert world.deletions() == {}
    assert world.reported.count(("usher", "Unseated")) == 1
    assert world.reported.count(("usher", "Reseated")) == 1
    assert world.seats.heard[-1] == ("p0", "ended: kept")


async def test_a_node_that_comes_back_under_its_name_begins_anew():
    world = Hall()
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(50)
        world.remove_node("n1")
        await asyncio.sleep(5)
        world._put_node(seating_node("n1", 2))
        await asyncio.sleep(100)
    assert world.deletions() == {"p0": 115.0}


async def test_another_node_of_the_same_name_begins_anew():
    world = Hall()
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(50)
        node = seating_node("n1", 2)
        world._put_node(replace(node, metadata=replace(node.metadata, uid="another")))
        await asyncio.sleep(100)
    assert world.deletions() == {"p0": 110.0}


async def test_a_node_that_cannot_be_read_is_not_gone():
    world = Hall()
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        await asyncio.sleep(50)
        world.node_watch.send(Unreadable(world.nodes["n1"].metadata, "", deleted=False))
        await asyncio.sleep(5)
        world._put_node(seating_node("n1", 2))
        await asyncio.sleep(100)
    assert world.deletions() == {"p0": 60.0}


async def test_whose_shard_is_lost_begins_anew_when_it_has_it_again():
    election = Appointment(shard=Shard(0, 1))
    world = Hall(election=election, shards=Shard.all_of(2))
    for priority in range(3):
        world.sit(f"p{priority}", priority)
    async with world.running():
        election.appoint()
        await asyncio.sleep(50)
        election.leads = False
        await election.listener.lost_shard()
        await asyncio.sleep(5)
        election.appoint()
        await asyncio.sleep(100)
    assert world.deletions() == {"p0": 115.0}


class Seating(Evaluating):
    """An evaluator of a node whose pods take several steps, stepped by hand."""

    def __init__(self) -> None:
        self.hand = ManualClock()
        super().__init__(self.hand, systems=WORKER_WITH_SEATS)
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


def test_a_pod_that_is_replaced_under_its_name_while_a_crowd_is_looked_at_is_looked_at_itself():
    hall = Seating()
    hall.hand.advance(60)
    hall.marks.look_at_node("n1")
    hall.evaluator.step()
    name = f"p{SLICE + 9}"
    hall.tell_pod(Changed(pod_of(name, "n1", uid="another", priority=1)))
    hall.through()
    assert [one.uid for one in hall.pending] == [f"p{SLICE + 8}"]


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
