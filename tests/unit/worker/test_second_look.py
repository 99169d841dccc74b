"""Other policies while many are held: nobody begins by the old ones, and nobody is forgotten."""

import asyncio
from datetime import timedelta

import pytest

from bailiff.decisions.policies import (
    NO_POLICIES,
    BlastRadius,
    Exclusion,
    Limit,
    Limits,
    Pause,
    PauseNotice,
    Policies,
)
from bailiff.worker.timers.states import State
from tests.harness.clocks import START
from tests.harness.worlds.governed import Governed

pytestmark = pytest.mark.looptime(start=0)

# More than are looked at in one go.
CROWD = 300
NOTICE = PauseNotice(by="anna")
ONE_AT_A_TIME = Limits(total=Limit(concurrency=1))
PAUSABLE = Policies(pause=Pause(namespace="ops"), limits=ONE_AT_A_TIME)
NOBODY_OF_A = Policies(exclude=Exclusion(namespaces=("a",)))


def crowd(policies: Policies, notice: PauseNotice | None) -> Governed:
    world = Governed(policies)
    world.worker.set_pause(notice)
    world.tainted("n1")
    for number in range(CROWD):
        world.pod(f"{'ab'[number % 2]}/pod-{number}")
    return world


@pytest.mark.parametrize("notice", [NOTICE, None], ids=["held by a rule", "in line"])
async def test_nobody_begins_before_all_have_been_looked_at_by_the_new_policies(notice):
    world = crowd(PAUSABLE, notice)
    world.latency = 1000.0
    async with world.running():
        await asyncio.sleep(1)
        gate, pending = world.worker.gate, world.worker.pending
        held = pending.count(State.HELD)
        world.worker.set_policies(NOBODY_OF_A)
        # Still held, and not a moment free.
        assert pending.count(State.HELD) == held
        assert [gate.take() for _ in range(held // 256)] == [None] * (held // 256)
        begun = [gate.take() for _ in range(CROWD)]
        assert {one.pod.metadata.namespace for one in begun if one} == {"b"}
        assert world.backlog()["excluded"] == pending.count(State.HELD) >= CROWD // 2 - 1


async def test_who_stood_in_line_goes_by_the_new_limits():
    world = crowd(Policies(limits=ONE_AT_A_TIME), None)
    world.latency = 1000.0
    async with world.running():
        await asyncio.sleep(1)
        assert world.worker.pending.count(State.RUNNING) == 1
        world.worker.set_policies(Policies(limits=Limits(total=Limit(concurrency=3))))
        assert world.backlog() == {"due": CROWD - 1}
        await asyncio.sleep(1)
        assert world.worker.pending.count(State.RUNNING) == 3


async def test_changes_that_follow_each_other_at_once_forget_nobody():
    world = crowd(Policies(limits=ONE_AT_A_TIME), None)
    world.latency = 0.001
    async with world.running():
        await asyncio.sleep(0.1)
        world.worker.set_policies(PAUSABLE)
        world.worker.set_pause(NOTICE)
        world.worker.set_pause(None)
        # Long before the periodic look at everything.
        await asyncio.sleep(5)
    assert len(world.deletions()) == CROWD


async def test_without_policies_all_go_and_nothing_is_watched_any_more():
    world = crowd(PAUSABLE, NOTICE)
    async with world.running():
        await asyncio.sleep(1)
        world.worker.set_policies(NO_POLICIES)
        await asyncio.sleep(100)
        assert world.worker.pending.watcher is None
    assert len(world.deletions()) == CROWD


async def test_who_is_gone_before_the_second_look_is_forgotten_for_good():
    world = crowd(PAUSABLE, NOTICE)
    async with world.running():
        await asyncio.sleep(1)
        world.worker.set_policies(Policies(limits=ONE_AT_A_TIME))
        for number in range(CROWD):
            world.worker.pending.forget(f"uid-{'ab'[number % 2]}/pod-{number}")
        await asyncio.sleep(100)
        assert world.backlog() == {}
    assert world.deletions() == {}


async def test_a_blast_radius_that_comes_counts_all_before_anybody_begins():
    world = crowd(Policies(limits=ONE_AT_A_TIME), None)
    world.latency = 1000.0
    async with world.running():
        await asyncio.sleep(1)
        world.worker.set_policies(Policies(blast_radius=BlastRadius(max_pods=CROWD - 1)))
        await asyncio.sleep(5)
        assert world.worker.pending.count(State.RUNNING) == 1
        assert world.backlog() == {"blast_radius": CROWD - 1}


@pytest.mark.parametrize("step", [3600, -3600], ids=["ahead", "behind"])
async def test_a_hold_that_ends_at_an_instant_ends_by_the_wall_clock_as_it_is_put_right(step):
    world = Governed(Policies(pause=Pause(namespace="ops")))
    world.clock.step = timedelta(seconds=step)
    world.worker.set_pause(PauseNotice(until=START + timedelta(seconds=7250)))
    world.tainted("n1")
    world.pod("web")
    async with world.running():
        await asyncio.sleep(100)
        world.clock.step = timedelta()
        await asyncio.sleep(7000)
        assert world.deleted == []
        await asyncio.sleep(200)
    assert 7250.0 <= world.deletions()["web"] <= 7251.0
