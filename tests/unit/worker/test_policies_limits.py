"""Limits: never more at once, never faster, nobody starves, nobody is in others' way."""

import asyncio
import itertools
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiff.decisions.policies import EvictionApi, Limit, Limits, Policies
from tests.harness.clocks import virtual_loop
from tests.harness.worlds.governed import Governed

on_virtual_time = pytest.mark.looptime(start=0)
SLACK = 1e-6


LIMIT = st.builds(
    Limit,
    per_second=st.none() | st.sampled_from([0.5, 1.0, 3.0]),
    burst=st.integers(1, 3),
    concurrency=st.none() | st.integers(1, 3),
)
LIMITS = st.builds(
    Limits,
    total=st.none() | LIMIT,
    per_node=st.none() | LIMIT,
    per_namespace=st.none() | LIMIT,
    per_zone=st.none() | LIMIT,
)
NODES = ("eu/n1", "eu/n2", "us/n3")
PODS = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(NODES)), max_size=15)


class Watcher(Governed):
    """Notes who begins and ends, and asks whether the limits allow it."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(Policies(limits=limits))
        self.limits = limits
        self.places: dict[str, tuple[tuple[str, str], ...]] = {}
        self.under_way: list[str] = []
        self.starts: dict[tuple[str, str], list[float]] = {}

    def add(self, number: int, namespace: str, node: str) -> None:
        name = f"{namespace}/p{number}"
        zone = node.partition("/")[0]
        self.places[name] = (
            ("total", ""),
            ("per_node", node),
            ("per_namespace", namespace),
            ("per_zone", zone),
        )
        self.pod(name, node)

    async def set_status(self, pod, terms, now):
        name = pod.metadata.name
        self.under_way.append(name)
        for place in self.places[name]:
            self.starts.setdefault(place, []).append(self.clock.monotonic())
            limit = getattr(self.limits, place[0])
            running = sum(place in self.places[one] for one in self.under_way)
            if limit is not None and limit.concurrency is not None:
                assert running <= limit.concurrency
        return await super().set_status(pod, terms, now)

    async def delete(self, pod, grace_period_seconds):
        await super().delete(pod, grace_period_seconds)
        self.under_way.remove(pod.metadata.name)

    def check_rates(self) -> None:
        for (scope, _), starts in self.starts.items():
            limit = getattr(self.limits, scope)
            if limit is None or limit.per_second is None:
                continue
            for first, last in itertools.combinations(range(len(starts)), 2):
                span = starts[last] - starts[first]
                assert last - first + 1 <= limit.burst + limit.per_second * span + SLACK


@settings(max_examples=60)
@given(LIMITS, PODS, st.sampled_from([0.0, 0.3]))
def test_every_limit_holds_for_every_key_and_everybody_goes(limits, pods, latency):
    async def story() -> None:
        world = Watcher(limits)
        world.latency = latency
        world.tainted(*NODES)
        for number, (namespace, node) in enumerate(pods):
            world.add(number, namespace, node)
        async with world.running():
            await asyncio.sleep(120)
            assert world.backlog() == {}
        assert len(world.deleted) == len(pods)
        world.check_rates()

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(story())


@on_virtual_time
async def test_a_node_at_its_limit_is_not_in_the_way_of_others():
    limits = Limits(total=Limit(per_second=1.0), per_node=Limit(concurrency=1))
    world = Governed(Policies(limits=limits))
    world.latency = 100.0
    world.tainted("n1", "n2", "n3")
    for number in range(30):
        world.pod(f"first-{number}", "n1")
    world.pod("second", "n2")
    world.pod("third", "n3")
    async with world.running():
        await asyncio.sleep(10)
        assert [name for _, name in world.begun] == ["first-0", "second", "third"]
        assert world.backlog() == {"concurrency_limited": 29}
        assert world.held("first-7") == {
            "cause": "concurrency_limited",
            "message": "no more than 1 at a time for node n1",
        }


@on_virtual_time
async def test_five_thousand_at_one_a_second_are_not_looked_at_again_and_again():
    world = Governed(Policies(limits=Limits(total=Limit(per_second=1.0))))
    world.tainted("n1")
    for number in range(5_000):
        world.pod(f"pod-{number}", f"n{number % 2 + 1}")
    world.tainted("n2")
    facts = world.worker.gate.facts
    with patch.object(facts, "hold", wraps=facts.hold) as looks:
        async with world.running():
            await asyncio.sleep(2)
            looks.reset_mock()
            await asyncio.sleep(100)
            assert len(world.deleted) == 102
            assert looks.call_count == 100
            assert world.backlog() == {"rate_limited": 4_898}


@on_virtual_time
async def test_two_limits_that_all_share_do_not_make_each_other_look():
    # Each has its own beat; a token of one must not move all that wait to the other and back.
    limits = Limits(per_namespace=Limit(per_second=1.0), per_zone=Limit(per_second=0.7))
    world = Governed(Policies(limits=limits))
    world.tainted("eu/n1", "us/n2")
    for number in range(500):
        world.pod(f"a/pod-{number}", ("eu/n1", "us/n2")[number % 2])
    meters = world.worker.gate._meters
    with patch.object(meters, "free_at", wraps=meters.free_at) as looks:
        async with world.running():
            await asyncio.sleep(1)
            looks.reset_mock()
            await asyncio.sleep(200)
            assert 190 <= len(world.deleted) <= 202
            assert looks.call_count < 40 * 200


@on_virtual_time
async def test_limits_that_change_go_on_counting_what_runs():
    world = Governed()
    world.latency = 10.0
    world.tainted("n1")
    for number in range(30):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(1)
        assert len(world.begun) == 20
        world.worker.set_policies(Policies(limits=Limits(per_node=Limit(concurrency=5))))
        await asyncio.sleep(18)
        # Nobody new while more than five run.
        assert len(world.begun) == 20
        await asyncio.sleep(3)
        assert len(world.begun) == 25
        assert world.backlog() == {"concurrency_limited": 5}
        world.worker.set_policies(Policies())
        await asyncio.sleep(1)
        assert len(world.begun) == 30
        await asyncio.sleep(60)
    assert len(world.deleted) == 30


@on_virtual_time
async def test_a_rate_that_is_lowered_is_obeyed_at_once():
    world = Governed(Policies(limits=Limits(total=Limit(per_second=1.0))))
    world.tainted("n1")
    for number in range(100):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(9.5)
        assert len(world.deleted) == 10
        world.worker.set_policies(Policies(limits=Limits(total=Limit(per_second=0.1))))
        await asyncio.sleep(50)
        assert 14 <= len(world.deleted) <= 15
        world.worker.set_policies(Policies(limits=Limits(total=Limit(per_second=10.0))))
        await asyncio.sleep(5)
    assert 60 <= len(world.deleted) <= 66


@on_virtual_time
async def test_pods_that_are_refused_do_not_use_up_the_rate_of_those_that_are_not():
    policies = Policies(limits=Limits(total=Limit(per_second=1.0)), eviction_api=EvictionApi())
    world = Governed(policies)
    world.tainted("n1")
    for number in range(100):
        world.pod(f"blocked-{number}")
        world.budgets[f"blocked-{number}"] = "no"
    async with world.running():
        await asyncio.sleep(200)
        for number in range(10):
            world.pod(f"free-{number}")
        await asyncio.sleep(11)
        # By the rate alone more are tried again than may begin.
        assert sorted(world.order()) == [f"free-{number}" for number in range(10)]
        world.budgets.clear()
        await asyncio.sleep(200)
    assert len(world.deleted) == 110
