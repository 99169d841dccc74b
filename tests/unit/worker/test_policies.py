"""Upstream has no PDB, no rate limit, no pause, no zone breaker, no dry run: here all are, and off.

The row of the policies, on virtual time; each policy has a file of its own beside this one, and
tests/contract/test_policies.py has the row on API servers.
"""

import asyncio

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from bailiff.decisions.policies import (
    NO_POLICIES,
    BlastRadius,
    Breaker,
    Breakers,
    DrainOrder,
    EvictionApi,
    Exclusion,
    Limit,
    Limits,
    Pause,
    PauseNotice,
    Policies,
)
from tests.harness.clocks import virtual_loop
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.governed import NOT_READY, Governed

on_virtual_time = pytest.mark.looptime(start=0)

PODS = 20


def a_bad_day(policies: Policies) -> Governed:
    """Most nodes fail, budgets forbid, somebody asks for a pause, and a node is tainted."""
    world = Governed(policies)
    for number in range(5):
        world.node(f"eu/n{number}", NOT_READY)
    world.node("eu/n9", no_execute())
    for number in range(PODS):
        world.pod(f"pod-{number}", "eu/n9")
        world.budgets[f"pod-{number}"] = "no"
    world.worker.set_pause(PauseNotice(by="anna"))
    return world


ROW = {
    "PDB": Policies(eviction_api=EvictionApi()),
    "rate limit": Policies(limits=Limits(total=Limit(per_second=0.1, burst=2))),
    "concurrency limit": Policies(limits=Limits(per_node=Limit(concurrency=2))),
    "pause": Policies(pause=Pause(namespace="ops")),
    "zone breaker": Policies(breakers=Breakers(zone=Breaker())),
    "cluster breaker": Policies(breakers=Breakers(cluster=Breaker())),
    "exclusion": Policies(exclude=Exclusion(namespaces=("default",))),
    "blast radius": Policies(blast_radius=BlastRadius(max_pods=PODS - 1)),
}
AT_ONCE = {"rate limit": 2, "concurrency limit": 2}


@on_virtual_time
async def test_by_default_none_of_them_holds_anything():
    world = a_bad_day(NO_POLICIES)
    async with world.running():
        await asyncio.sleep(0.1)
        assert len(world.deleted) == PODS
    assert sorted(world.requests) == ["delete"] * PODS + ["patch"] * PODS


@pytest.mark.parametrize("policy", ROW)
@on_virtual_time
async def test_each_of_them_holds_once_it_is_asked_for(policy):
    world = a_bad_day(ROW[policy])
    world.latency = 1.0
    async with world.running():
        await asyncio.sleep(0.5)
        sent = [verb for verb in world.requests if verb != "evict"]
        assert len(sent) == AT_ONCE.get(policy, 0)
        assert sum(world.backlog().values()) in {PODS - len(sent), 0}
        # Whatever it was: without it everything goes.
        world.latency = 0.0
        world.worker.set_policies(NO_POLICIES)
        await asyncio.sleep(90)
    assert len(world.deleted) == PODS


# Policies that could hold, and have no reason to.
IDLE = Policies(
    limits=Limits(total=Limit(per_second=10_000, burst=1_000_000)),
    drain_order=DrainOrder.DUE,
    breakers=Breakers(zone=Breaker(), cluster=Breaker()),
    protection=True,
    blast_radius=BlastRadius(max_pods=1_000),
)
SECONDS = st.none() | st.integers(0, 30)
STORIES = st.lists(
    st.one_of(
        st.tuples(st.just("pod"), st.integers(0, 3), SECONDS),
        st.tuples(st.just("taint"), st.integers(0, 3), st.just(0)),
        st.tuples(st.just("untaint"), st.integers(0, 3), st.just(0)),
        st.tuples(st.just("wait"), st.just(0), st.integers(1, 20)),
    ),
    max_size=25,
)


def told(story, policies, latency):
    """What a world does in a story."""

    async def tell() -> list:
        world = Governed(policies)
        world.latency = latency
        async with world.running():
            for number, (what, node, seconds) in enumerate(story):
                match what:
                    case "pod":
                        world.pod(f"pod-{number}", f"n{node}", tolerating(seconds=seconds))
                    case "taint":
                        world.node(f"n{node}", no_execute())
                    case "untaint":
                        world.node(f"n{node}")
                    case _:
                        await asyncio.sleep(seconds)
            await asyncio.sleep(60)
        return [
            # Those of one instant end in any order: asyncio's timers are not stable.
            sorted((round(at, 1), name) for at, name, _ in world.deleted),
            sorted(world.notes),
            sorted(world.requests),
        ]

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        return runner.run(tell())


@settings(max_examples=60)
@given(STORIES, st.sampled_from([0.0, 0.5]))
def test_policies_that_have_no_reason_to_hold_change_nothing(story, latency):
    assert told(story, IDLE, latency) == told(story, NO_POLICIES, latency)


@on_virtual_time
async def test_without_policies_nothing_is_looked_at_or_counted():
    world = Governed(NO_POLICIES)
    watched = [world.worker.pending.watcher is not None]
    for policies in (Policies(eviction_api=EvictionApi()), Policies(protection=True), Policies()):
        world.worker.set_policies(policies)
        watched.append(world.worker.pending.watcher is not None)
    assert watched == [False, False, True, False]
