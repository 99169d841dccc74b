"""Workers that take any free share: on dead nodes, cut off, and of two numbers; on virtual time."""

import asyncio

import msgspec
import pytest

from bailiff.cluster import WatchHealth
from bailiff.worker import Shard
from tests.harness.clocks import START
from tests.harness.faces.asgi import call
from tests.harness.kinds import no_execute, tolerating
from tests.harness.pages import status_app
from tests.harness.worlds.candidates import DEADLINE, DURATION, PERIOD
from tests.harness.worlds.workforce import workforce

pytestmark = pytest.mark.looptime(start=0)

TAKEN_OVER = DURATION + 2 * PERIOD
NODES = [f"node-{number}" for number in range(24)]


def settle(force, *tolerations):
    """A pod on each node."""
    for node in NODES:
        force.world.taint(node)
        force.world.add_pod(f"on-{node}", *tolerations, node=node)


def taint_all(force):
    for node in NODES:
        force.world.taint(node, no_execute())


def pods_of(shard):
    return {f"on-{node}" for node in NODES if shard.owns(node)}


async def test_all_shares_are_worked_for_and_each_pod_goes_once():
    async with workforce() as force:
        settle(force)
        force.hire(4, 3)
        await asyncio.sleep(PERIOD)
        assert {shard: len(who) for shard, who in force.acting().items()} == dict.fromkeys(
            Shard.all_of(3), 1
        )
        taint_all(force)
        await asyncio.sleep(1)
        assert sorted(force.deletions()) == sorted(f"on-{node}" for node in NODES)


async def test_a_standby_knows_the_cluster_decides_nothing_and_is_ready():
    async with workforce() as force:
        settle(force, tolerating(seconds=60))
        force.hire(2, 2)
        await asyncio.sleep(PERIOD)
        [spare] = force.hire(1, 2)
        taint_all(force)
        await asyncio.sleep(30)
        worker, mirror = spare.worker, spare.worker.evaluator.mirror
        assert (mirror.pod_count, mirror.node_count) == (len(NODES), len(NODES))
        assert (len(worker.pending), worker.evaluator.backlog) == (0, 0)
        await asyncio.sleep(600)
        assert len(force.deletions()) == len(NODES)
        assert spare.way.sent == []
        freshness = worker.trust({"pods": WatchHealth(), "nodes": WatchHealth()})
        pages = status_app(worker, spare.registry, freshness)
        assert (await call(pages, "GET", "/readyz")).status == 200
        told = msgspec.json.decode((await call(pages, "GET", "/v1/queue")).body)
        assert (told["leader"], told["shard"], told["shards"]) == (False, None, 2)
        names = ("leader", "shard", "shards")
        told = [spare.metric(f"bailiff_worker_{name}") for name in names]
        assert told == [0, -1, 2]


async def test_the_share_of_a_worker_on_a_dead_node_is_worked_for_by_the_standby():
    async with workforce() as force:
        settle(force, tolerating(seconds=5))
        force.hire(2, 2)
        await asyncio.sleep(PERIOD)
        [spare] = force.hire(1, 2)
        await asyncio.sleep(60)
        victim = force.members[0]
        share = victim.acts_for
        await victim.kill()
        taint_all(force)
        await asyncio.sleep(TAKEN_OVER)
        assert spare.acts_for == share
        assert sorted(force.deletions()) == sorted(f"on-{node}" for node in NODES)
        # Since when a taint counts the standby has seen itself: as soon as it may, it evicts.
        assert spare.deleted == pods_of(share)
        assert spare.metric("bailiff_worker_shard") == share.index


async def replaced(force, member):
    """Cut off for so long that the one who stands by has taken its share; gives the share."""
    share = member.acts_for
    member.isolate()
    await asyncio.sleep(TAKEN_OVER)
    [other] = force.acting()[share]
    assert other is not member
    return share


async def test_who_has_lost_its_share_forgets_it_and_works_for_another_one_only():
    async with workforce() as force:
        settle(force, tolerating(seconds=100))
        first, second = force.hire(2, 2)
        await asyncio.sleep(PERIOD)
        force.hire(1, 2)
        taint_all(force)
        await asyncio.sleep(5)
        lost = await replaced(force, first)
        # Until it hears of that it keeps its timers: nobody might have followed it.
        assert len(first.worker.pending) == len(pods_of(lost))
        first.isolate(False)
        await asyncio.sleep(PERIOD + 0.1)
        assert (len(first.worker.pending), first.worker.held_shard.shard) == (0, None)
        told = len(force.world.notes)
        other = second.acts_for
        await second.retire()
        await asyncio.sleep(PERIOD + 0.1)
        assert first.acts_for == other
        assert len(first.worker.pending) == len(pods_of(other))
        # Nobody is told of timers that another worker keeps.
        assert len(force.world.notes) == told
        await asyncio.sleep(100)
        assert first.deleted == pods_of(other)
        assert sorted(force.deletions()) == sorted(pods_of(lost) | pods_of(other))


@pytest.mark.parametrize(
    ("taint", "toleration"),
    [
        pytest.param(no_execute(time_added=START), None, id="an eviction"),
        pytest.param(no_execute(), tolerating(), id="a note on a node"),
    ],
)
async def test_what_was_begun_for_one_share_is_not_sent_with_the_right_to_act_for_another(
    taint, toleration
):
    async with workforce() as force:
        settle(force, *([toleration] if toleration else []))
        first, second = force.hire(2, 2)
        await asyncio.sleep(PERIOD)
        force.hire(1, 2)
        lost = first.acts_for
        for line in first.lines.values():
            line.cut = True
        # Its requests about pods and nodes wait for a connection; those for Leases have their own.
        first.way.free.clear()
        await asyncio.sleep(DEADLINE - PERIOD - 1)
        force.world.taint(next(node for node in NODES if lost.owns(node)), taint)
        await asyncio.sleep(TAKEN_OVER - DEADLINE)
        await second.retire()
        for line in first.lines.values():
            line.cut = False
        await asyncio.sleep(2 * PERIOD)
        # The other share is free, and it does not take it while something is under way.
        assert list(force.acting()) == [lost]
        first.way.free.set()
        await asyncio.sleep(2 * PERIOD)
        assert first.acts_for not in (None, lost)
        assert first.way.sent == []


async def test_a_condition_that_was_to_be_reset_is_left_to_whoever_has_the_share_now():
    async with workforce() as force:
        settle(force)
        first, second = force.hire(2, 2)
        await asyncio.sleep(PERIOD)
        force.hire(1, 2)
        lost = first.acts_for
        spared = next(node for node in NODES if lost.owns(node))
        force.world.deny(403, "delete", until=20)
        force.world.taint(spared, no_execute())
        await asyncio.sleep(1)
        first.way.cut = True
        force.world.taint(spared)
        await replaced(force, first)
        await second.retire()
        sent = len(first.way.sent)
        first.isolate(False)
        await asyncio.sleep(2 * PERIOD + 60)
        assert first.acts_for not in (None, lost)
        assert len(first.way.sent) == sent


async def test_a_note_that_was_to_be_tried_again_is_left_to_whoever_has_the_share_now():
    async with workforce() as force:
        settle(force, tolerating())
        first, second = force.hire(2, 2)
        await asyncio.sleep(PERIOD)
        force.hire(1, 2)
        lost = first.acts_for
        force.world.deny(403, "annotate", until=200)
        taint_all(force)
        # The next try is a minute away by now.
        await asyncio.sleep(99)
        await replaced(force, first)
        first.isolate(False)
        await asyncio.sleep(PERIOD)
        sent = len(first.way.sent)
        await second.retire()
        await asyncio.sleep(PERIOD + 0.1)
        assert first.acts_for not in (None, lost)
        await asyncio.sleep(240)
        assert len(force.world.annotated) == len(NODES)
        assert not any(lost.owns(call.name) for call in first.way.sent[sent:])


async def test_marks_of_a_share_that_is_given_up_come_to_nothing():
    async with workforce() as force:
        settle(force)
        [member] = force.hire(1, 2)
        await asyncio.sleep(PERIOD)
        member.way.cut = True
        taint_all(force)
        await asyncio.sleep(1)
        worker = member.worker
        worker.evaluator.mark_all()
        assert len(worker.pending) == worker.evaluator.backlog > 0
        await worker.leadership.lost_shard()
        assert worker.evaluator.backlog == 0
        await asyncio.sleep(1)
        assert len(worker.pending) == 0


async def test_nobody_who_sees_no_pods_takes_a_share():
    async with workforce() as force:
        settle(force)
        [blind] = force.hire(1, 2, blind=True)
        await asyncio.sleep(60)
        assert blind.acts_for is None
        assert not any(server.writes for server in force.leases.values())
        force.hire(2, 2)
        taint_all(force)
        await asyncio.sleep(PERIOD)
        assert sorted(force.deletions()) == sorted(f"on-{node}" for node in NODES)


@pytest.mark.parametrize(("old", "new"), [(1, 2), (2, 3), (3, 2), (2, 1), (2, 4)])
async def test_while_two_numbers_are_at_work_each_node_has_somebody_and_each_pod_goes_once(
    old, new
):
    async with workforce() as force:
        settle(force)
        force.hire(old, old)
        await asyncio.sleep(PERIOD)
        force.hire(new, new)
        await asyncio.sleep(PERIOD)
        everybody = Shard.all_of(old) + Shard.all_of(new)
        assert {shard: len(who) for shard, who in force.acting().items()} == dict.fromkeys(
            everybody, 1
        )
        force.world.latency = 0.5
        force.world.lingering = True
        taint_all(force)
        await asyncio.sleep(60)
        assert sorted(force.deletions()) == sorted(f"on-{node}" for node in NODES)
        # What an alert sees: workers that do not agree about the number.
        assert {member.metric("bailiff_worker_shards") for member in force.members} == {old, new}


async def test_a_roll_out_that_brings_the_new_number_before_the_old_one_goes_leaves_no_node_alone():
    async with workforce() as force:
        settle(force)
        old = force.hire(3, 2)
        await asyncio.sleep(60)
        force.hire(4, 3)
        await asyncio.sleep(PERIOD)
        for number, member in enumerate(old):
            await member.retire()
            force.world.taint(NODES[number], no_execute())
            await asyncio.sleep(0.1)
        assert set(force.acting()) == set(Shard.all_of(3))
        assert sorted(force.deletions()) == [f"on-{node}" for node in NODES[:3]]


async def test_shares_that_nobody_works_for_show_in_the_metrics():
    async with workforce() as force:
        settle(force)
        for member in force.hire(2, 2):
            await asyncio.sleep(PERIOD)
            await member.kill()
        force.hire(2, 3)
        await asyncio.sleep(DURATION + PERIOD)
        alive = force.members[2:]
        leaders = sum(member.metric("bailiff_worker_leader") for member in alive)
        shards = max(member.metric("bailiff_worker_shards") for member in alive)
        # The alert of docs/runbooks/no-leader.md.
        assert (leaders, shards) == (2, 3)
