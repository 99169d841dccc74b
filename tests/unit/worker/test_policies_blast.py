"""Blast radius: one taint that evicts too much waits for a person."""

import asyncio

import msgspec
import pytest

from bailiff.decisions.policies import BlastRadius, Limit, Limits, Policies
from bailiff.worker import Shard
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.governed import Governed

pytestmark = pytest.mark.looptime(start=0)
FIVE = Policies(blast_radius=BlastRadius(max_pods=5))
HALF = Policies(blast_radius=BlastRadius(max_namespace_fraction=0.5, min_namespace_pods=4))


async def test_not_one_goes_before_all_have_been_counted():
    world = Governed(FIVE)
    world.tainted("n1", "n2", "n3")
    for number in range(6):
        world.pod(f"pod-{number}", f"n{number % 3 + 1}")
    async with world.running():
        await asyncio.sleep(100)
        assert world.requests == []
        assert world.backlog() == {"blast_radius": 6}
        assert world.held("pod-0")["message"] == (
            "maintenance:NoExecute evicts 6 pods, more than 5, and node n1 does not "
            "acknowledge it (bailiff.dev/acknowledged-taints)"
        )


async def test_what_is_acknowledged_goes_and_the_rest_when_it_is_no_longer_too_much():
    world = Governed(FIVE)
    world.tainted("n1", "n2")
    for number in range(8):
        world.pod(f"pod-{number}", "n1" if number < 2 else "n2")
    async with world.running():
        await asyncio.sleep(10)
        world.node("n1", no_execute(), acknowledged="other:NoExecute, maintenance:NoExecute")
        await asyncio.sleep(10)
        # Six are left, one too many.
        assert sorted(world.order()) == ["pod-0", "pod-1"]
        world.remove_pod("pod-7")
        await asyncio.sleep(1)
    assert len(world.deleted) == 7


@pytest.mark.parametrize("there", ["deaf", "lingering"])
async def test_those_that_are_evicted_and_not_gone_still_count(there):
    """The API server has not heard of it, or the pods are terminating."""
    world = Governed(FIVE)
    setattr(world, there, True)
    world.tainted("n1")
    for number in range(5):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(10)
        assert len(world.deleted) == 5
        world.tainted("n2")
        world.pod("late", "n2")
        await asyncio.sleep(10)
        assert world.held("late")["message"].startswith("maintenance:NoExecute evicts 6")
        if there == "lingering":
            world.remove_pod("pod-0")
            await asyncio.sleep(10)
            assert "late" in world.deletions()


async def test_terminating_pods_are_in_both_parts_of_a_namespace_s_share():
    world = Governed(HALF)
    world.lingering = True
    for number in range(8):
        world.pod(f"pod-{number}", f"n{number}")
    async with world.running():
        for number in range(8):
            world.tainted(f"n{number}")
            await asyncio.sleep(10)
        assert len(world.deleted) == 4


async def test_those_that_go_later_count_and_another_taint_is_another():
    world = Governed(FIVE)
    world.tainted("n1")
    world.node("n2", no_execute("other"))
    for number in range(5):
        world.pod(f"later-{number}", "n1", tolerating(seconds=100))
    world.pod("now")
    world.pod("elsewhere", "n2")
    async with world.running():
        await asyncio.sleep(10)
        assert world.order() == ["elsewhere"]
        world.node("n1", no_execute("third"))
        await asyncio.sleep(10)
        # None of the five tolerates this one.
        assert world.order() == ["elsewhere"]
        assert world.held("now")["message"].startswith("third:NoExecute evicts 6 pods")


async def test_a_fraction_of_a_namespace():
    world = Governed(HALF)
    world.tainted("n1")
    for number in range(3):
        world.pod(f"small/pod-{number}")
    for number in range(6):
        world.pod(f"large/pod-{number}", "n1" if number < 4 else "n9")
    async with world.running():
        await asyncio.sleep(10)
        assert len(world.deleted) == 3
        assert world.held("large/pod-0")["message"].startswith(
            "maintenance:NoExecute evicts 4 of 6 pods (66.7 %) of namespace large"
        )
        # Two more that stay make it a half.
        world.pod("large/extra", "n9")
        world.pod("large/another", "n9")
        world.node("n1", no_execute())
        await asyncio.sleep(10)
    assert len(world.deleted) == 7


async def test_a_guard_that_is_raised_while_pods_wait_counts_them():
    world = Governed(Policies(limits=Limits(total=Limit(per_second=0.1))))
    world.tainted("n1")
    for number in range(10):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(15)
        assert len(world.deleted) == 2
        world.worker.set_policies(FIVE)
        await asyncio.sleep(100)
        assert len(world.deleted) == 2
        assert world.held("pod-9")["message"].startswith("maintenance:NoExecute evicts 8")
        world.worker.set_policies(Policies())
        await asyncio.sleep(10)
    assert len(world.deleted) == 10


async def test_what_is_untainted_counts_no_longer():
    world = Governed(FIVE)
    world.tainted("n1", "n2")
    for number in range(6):
        world.pod(f"pod-{number}", f"n{number % 2 + 1}")
    async with world.running():
        await asyncio.sleep(10)
        world.node("n2")
        await asyncio.sleep(10)
    assert sorted(world.order()) == ["pod-0", "pod-2", "pod-4"]


async def test_only_pods_of_this_shard_are_this_workers():
    mine = next(shard for shard in (Shard(0, 2), Shard(1, 2)) if shard.owns("n1"))
    world = Governed(FIVE, shards=(mine,))
    theirs = next(f"n{n}" for n in range(2, 50) if not mine.owns(f"n{n}"))
    world.tainted("n1", theirs)
    for number in range(20):
        world.pod(f"pod-{number}", "n1" if number < 3 else theirs)
    async with world.running():
        await asyncio.sleep(10)
    assert len(world.deleted) == 3


async def test_a_finding_that_names_no_cause_has_no_blast_radius():
    world = Governed(FIVE)
    world.tainted("n1")
    for number in range(6):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(1)
        (one, *_) = world.worker.pending
        gate = world.worker.gate
        assert gate.facts.hold(one) is not None
        one.finding = msgspec.structs.replace(one.finding, cause="")
        gate.entered(one)
        assert gate.facts.hold(one) is None
