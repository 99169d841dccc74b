"""The gate's promises, whatever happens: nobody too early, nobody for ever, the best one first."""

import asyncio
import math
from unittest.mock import patch

import hypothesis.strategies as st
import pytest
from hypothesis import given

from bailiff.cluster import Changed
from bailiff.decisions.policies import (
    DrainOrder,
    Exclusion,
    LabelSelector,
    Limit,
    Limits,
    Pause,
    PauseNotice,
    Policies,
    rank,
)
from bailiff.kinds import LABEL_ZONE, Annotations
from bailiff.worker.gate import gate as gate_module
from bailiff.worker.gate import held as held_module
from bailiff.worker.timers.eviction import Eviction
from bailiff.worker.timers.states import State
from tests.harness.clocks import virtual_loop
from tests.harness.fuzzing import fuzzed
from tests.harness.kinds import no_execute, node_of
from tests.harness.worlds.governed import Governed

SLACK = 1e-6
NAMESPACES, NODES = ("a", "b"), ("eu/n1", "eu/n2", "us/n3")
NEVER = LabelSelector(match_labels={"evict": "never"})
SCOPES = ("total", "per_node", "per_namespace", "per_zone")

LIMIT = st.none() | st.builds(
    Limit,
    per_second=st.none() | st.sampled_from([0.5, 1.0, 3.0]),
    burst=st.integers(1, 3),
    concurrency=st.none() | st.integers(1, 3),
)
LIMITS = st.builds(Limits, total=LIMIT) | st.builds(
    Limits, total=LIMIT, per_node=LIMIT, per_namespace=LIMIT, per_zone=LIMIT
)
STEPS = st.one_of(
    st.tuples(
        st.just("add"),
        st.lists(
            st.tuples(
                st.sampled_from(NAMESPACES),
                st.sampled_from(NODES),
                st.integers(0, 3),
                st.booleans(),
            ),
            min_size=1,
            max_size=6,
        ),
    ),
    st.tuples(st.just("leave"), st.integers(0, 20)),
    st.tuples(st.just("pause"), st.booleans()),
    st.tuples(st.just("exclude"), st.sets(st.sampled_from(NAMESPACES))),
    st.tuples(st.just("limit"), LIMITS),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.1, 1.0, 3.0])),
    st.tuples(st.just("move"), st.sampled_from(["eu", "us"])),
)
STORIES = st.lists(STEPS, max_size=12)


class Asked(Governed):
    """Compares each answer of the gate with what limits and rules say of all who are HELD."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(self.policies(limits))
        self.limits = limits
        self.paused = False
        self.excluded: set[str] = set()
        self.number = 0
        self.running_now: list[Eviction] = []
        self.gate = self.worker.gate
        self.really_take, self.really_finish = self.gate.take, self.gate.finished
        self.worker.set_pause(None)
        self.exclude(set())

    def policies(self, limits: Limits) -> Policies:
        return Policies(
            limits=limits,
            drain_order=DrainOrder.PRIORITY,
            pause=Pause(namespace="ops"),
            exclude=Exclusion(namespace_selector=NEVER),
            protection=True,
        )

    def asked(self):
        return patch.multiple(self.gate, take=self.take, finished=self.finished)

    def take(self) -> Eviction | None:
        found = self.really_take()
        if found is None:
            self.check_alarm()
        else:
            self.running_now.append(found)
            self.check_begun(found)
        return found

    def finished(self, eviction: Eviction) -> None:
        self.running_now.remove(eviction)
        self.really_finish(eviction)

    def check_begun(self, found: Eviction) -> None:
        assert not self.paused
        assert found.pod.metadata.namespace not in self.excluded
        assert found.pod.metadata.annotations.do_not_evict != "true"
        for scope in SCOPES:
            limit = getattr(self.limits, scope)
            if limit is not None and limit.concurrency is not None:
                mine = self.place(found, scope)
                others = [one for one in self.running_now if self.place(one, scope) == mine]
                assert len(others) <= limit.concurrency
        if self.limits == Limits(total=self.limits.total) or len(self.pods) < held_module._SCAN:
            free = [one for one in self.allowed() if self.free_at(one) <= self.clock.monotonic()]
            assert all(self.order_of(found) <= self.order_of(one) for one in free)

    def check_alarm(self) -> None:
        """An alarm may be early; it is never late."""
        free = [max(self.clock.monotonic(), self.free_at(one)) for one in self.allowed()]
        alarm = self.gate.next_due()
        assert (math.inf if alarm is None else alarm) <= min(free, default=math.inf) + SLACK

    def free_at(self, eviction: Eviction) -> float:
        """From when on all limits let it begin."""
        keys = self.gate.facts.keys(eviction.pod, eviction.finding)
        return max(self.gate._meters.free_at(key) for key in keys)

    def allowed(self) -> list[Eviction]:
        """Who is HELD, and by no rule."""
        held = [one for one in self.worker.pending if one.state is State.HELD]
        return [one for one in held if self.gate.facts.hold(one) is None]

    def zone(self, eviction: Eviction) -> str:
        return self.gate.facts.zone(eviction.pod)

    def place(self, eviction: Eviction, scope: str) -> str:
        pod = eviction.pod
        return {
            "total": "",
            "per_node": pod.spec.node_name,
            "per_namespace": pod.metadata.namespace,
            "per_zone": self.gate.running[eviction][3].name,
        }[scope]

    def order_of(self, eviction: Eviction):
        return rank(eviction.pod, DrainOrder.PRIORITY), eviction.place

    # What happens.

    def add(self, pods) -> None:
        for namespace, node, priority, protected in pods:
            self.number += 1
            annotations = Annotations(do_not_evict="true" if protected else None)
            name = f"{namespace}/p{self.number}"
            self.pod(name, node, priority=priority, annotations=annotations)

    def leave(self, number: int) -> None:
        """One that is HELD, and that the watch has not yet told to be gone."""
        held = [one.pod.metadata.name for one in self.worker.pending if one.state is State.HELD]
        there = [name for name in held if name in self.pods]
        if there:
            self.remove_pod(there[number % len(there)])

    def exclude(self, namespaces: set[str]) -> None:
        self.excluded = namespaces
        labels = {one: {"evict": "never"} if one in namespaces else {} for one in NAMESPACES}
        self.worker.set_namespaces(labels)

    def pause(self, paused: bool) -> None:
        self.paused = paused
        self.worker.set_pause(PauseNotice() if paused else None)

    def limit(self, limits: Limits) -> None:
        self.limits = limits
        self.worker.set_policies(self.policies(limits))

    def move(self, zone: str) -> None:
        """The pods of a node count for this zone from now on."""
        self._put_node(node_of(NODES[2], no_execute(), labels={LABEL_ZONE: zone}))


@fuzzed(400)
@given(LIMITS, STORIES, st.sampled_from([0.0, 0.3, 2.0]), st.sampled_from([1, 3, 256]))
def test_nobody_begins_too_early_or_waits_for_ever_and_the_best_goes_first(
    limits, story, latency, bound
):
    async def tell() -> None:
        world = Asked(limits)
        world.latency = latency
        world.tainted(*NODES)
        with world.asked():
            async with world.running():
                for what, value in story:
                    if what == "wait":
                        await asyncio.sleep(value)
                    else:
                        getattr(world, what)(value)
                await asyncio.sleep(0.1)
                world.pause(paused=False)
                world.exclude(set())
                # Less than the periodic look at everything.
                await asyncio.sleep(200)
        left = [pod for pod in world.pods.values() if not pod.metadata.annotations.do_not_evict]
        assert left == []

    with (
        patch.object(held_module, "_SCAN", bound),
        patch.object(gate_module, "_BATCH", bound),
        asyncio.Runner(loop_factory=virtual_loop) as runner,
    ):
        runner.run(tell())


@pytest.mark.looptime(start=0)
async def test_of_very_many_lines_one_step_looks_at_so_many_and_the_next_goes_on():
    world = Governed(Policies(limits=Limits(per_namespace=Limit(concurrency=1))))
    world.tainted("n1")
    world.latency = 100.0
    for name in "abcdefgh":
        world.pod(f"{name}/first")
        world.pod(f"{name}/second")
    with patch.object(held_module, "_SCAN", 2):
        async with world.running():
            await asyncio.sleep(1)
            world.latency = 0.5
            world.pod("z/first")
            world.pod("z/second")
            await asyncio.sleep(5)
    # Two requests each.
    begun = {name: at for at, name in world.begun if name.startswith("z/")}
    assert begun == {
        "z/first": pytest.approx(1.0, abs=0.1),
        "z/second": pytest.approx(2.0, abs=0.1),
    }


@pytest.mark.looptime(start=0)
async def test_those_that_come_and_leave_leave_nothing_behind():
    world = Governed(
        Policies(limits=Limits(total=Limit(concurrency=1), per_node=Limit(concurrency=1)))
    )
    world.latency = 1000.0
    world.tainted("n1")
    world.pod("runs")
    async with world.running():
        await asyncio.sleep(1)
        for number in range(50):
            world.tainted(f"m{number}")
            world.pod("comes", f"m{number}", uid=f"uid-{number}")
            await asyncio.sleep(0.1)
            world.remove_pod("comes")
        await asyncio.sleep(1)
        held = world.worker.gate._held
        assert [len(held._group_of), len(held._groups), len(held._ready), len(held._parked)] == [
            0
        ] * 4


@pytest.mark.looptime(start=0)
async def test_the_best_goes_first_whichever_line_it_stands_in():
    limits = Limits(total=Limit(per_second=1.0), per_node=Limit(concurrency=9))
    world = Governed(Policies(limits=limits, drain_order=DrainOrder.PRIORITY))
    world.tainted("n1", "n2")
    for priority in range(6):
        world.pod(f"p{priority}", ("n1", "n2")[priority % 2], priority=priority)
    async with world.running():
        await asyncio.sleep(2.5)
        world.pod("late", "n2", priority=-1)
        await asyncio.sleep(10)
    assert world.order() == ["p0", "p1", "p2", "late", "p3", "p4", "p5"]


@pytest.mark.looptime(start=0)
async def test_one_whose_node_has_just_changed_its_zone_does_not_begin_by_the_old_one():
    world = Governed(Policies(limits=Limits(per_zone=Limit(concurrency=1))))
    world.latency = 1000.0
    world.tainted("eu/n1", "eu/n2", "us/n3")
    for name, node in ("first", "eu/n1"), ("there", "us/n3"):
        world.pod(name, node)
    async with world.running():
        await asyncio.sleep(1)
        world.pod("moves", "eu/n2")
        await asyncio.sleep(1)
        moved = node_of("eu/n2", no_execute(), labels={LABEL_ZONE: "us"})
        gate = world.worker.gate
        (first,) = (one for one in gate.running if one.pod.metadata.name == "first")
        # Before the evaluator has looked at the node.
        await world.worker.mirror.apply_node(Changed(moved))
        gate.finished(first)
        gate.running[first] = ()
        assert gate.take() is None
