"""Notes on nodes that are refused, late or many: written in the end, and never to a pod's harm."""

import asyncio

import pytest
import structlog.testing

from bailiff.cluster import (
    ConflictError,
    FencedError,
    ForbiddenError,
    NotFoundError,
    Replaced,
    ServerError,
)
from bailiff.decisions.node_taints import observations
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.fake_watch import FakeWatch
from tests.harness.worlds.world import World

pytestmark = pytest.mark.looptime(start=0)

REFUSALS = [
    ForbiddenError("admission webhook denied the request", status=403),
    NotFoundError("admission webhook denied the request", status=404),
    ConflictError("admission webhook denied the request", status=409),
    ServerError("ill", status=500),
]


class Refusing(World):
    """A world whose API server refuses notes while `refusal` is set.

    Attributes:
        tried: when each note was asked for.
        pace: seconds until a note reaches the API server.
        answer_takes: seconds that its answer takes after that.
    """

    def __init__(self, **settings):
        # Long: the periodic look at everything must not stand in for a try.
        super().__init__(**{"resync_interval": 1e6} | settings)
        self.refusal = None
        self.tried = []
        self.pace = 0.0
        self.answer_takes = 0.0

    async def write(self, *what, **how):
        self.tried.append(self.clock.monotonic())
        await asyncio.sleep(self.pace)
        if self.refusal is not None:
            raise self.refusal
        await super().write(*what, **how)
        await asyncio.sleep(self.answer_takes)

    def put_node_again(self, name="n1"):
        """Its status changes."""
        self._put_node(self.nodes[name])

    def taint_unseen(self, node, *taints):
        """While the watch of nodes is broken: the worker learns of it from the next list."""
        watch, self.node_watch = self.node_watch, FakeWatch()
        self.taint(node, *taints)
        self.node_watch = watch

    def noted(self, name="n1"):
        """The annotation of a node."""
        return self.nodes[name].metadata.annotations.taints_first_observed

    def fates(self, fate):
        """How many notes came to this."""
        name = "bailiff_worker_node_annotations_total"
        return self.registry.get_sample_value(name, {"fate": fate}) or 0


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda error: str(error.status))
async def test_a_refused_clear_is_tried_until_it_holds_and_makes_nobody_go_early(refusal):
    world = Refusing()
    world.taint("n1")
    world.add_pod("patient", tolerating(seconds=300))
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(100)
        stale = world.noted()
        world.refusal = refusal
        world.taint("n1")
        await asyncio.sleep(100)
        world.taint("n1", no_execute())
        await asyncio.sleep(299.9)
        assert (world.noted(), world.deleted) == (stale, [])
        await asyncio.sleep(0.2)
        assert world.deletions() == {"patient": 500.0}
        world.refusal = None
        await asyncio.sleep(61)
        assert world.noted() not in ("", stale)
        world.taint("n1")
        await asyncio.sleep(60)
        assert world.noted() == ""
    cancelled = [text for text in world.notes_on("patient") if "Cancelling" in text]
    assert len(cancelled) == 1


async def test_tries_grow_rarer_and_are_logged_once():
    world = Refusing()
    world.refusal = ForbiddenError("no", status=403)
    world.taint("n1", no_execute())
    with structlog.testing.capture_logs() as logs:
        async with world.running():
            for _ in range(600):
                # A busy node: each event has it looked at again.
                world.put_node_again()
                await asyncio.sleep(1)
            assert len(world.tried) < 20
            assert max(b - a for a, b in zip(world.tried, world.tried[1:], strict=False)) < 61
            world.refusal = None
            await asyncio.sleep(61)
    told = [line["event"] for line in logs if "annotated" in line["event"]]
    assert told == ["nodes not annotated, trying again", "nodes annotated again"]
    assert (world.fates("failed"), world.fates("written")) == (len(world.tried) - 1, 1)


async def test_what_nobody_wants_any_more_is_not_tried():
    world = Refusing()
    world.refusal = ServerError("down", status=500)
    world.taint("n1", no_execute())
    async with world.running():
        await asyncio.sleep(10)
        world.taint("n1")
        await asyncio.sleep(10)
        tries = len(world.tried)
        await asyncio.sleep(600)
    assert len(world.tried) == tries


async def test_a_note_of_an_outdated_version_is_tried_on_the_newer_one_at_once():
    world = Refusing()
    world.taint("n1", no_execute())
    world.pace = 0.5
    async with world.running():
        await asyncio.sleep(1.2)
        world.put_node_again()
        await asyncio.sleep(1.5)
        assert world.noted() != ""
    assert (world.fates("outdated"), world.fates("written")) == (1, 1)


async def test_a_change_while_the_answer_to_a_note_is_awaited_is_noted_after_it():
    world = Refusing()
    world.taint("n1", no_execute())
    world.answer_takes = 5.0
    async with world.running():
        await asyncio.sleep(2)
        world.taint("n1", no_execute(), no_execute("second"))
        await asyncio.sleep(10)
        assert len(observations.read(world.nodes["n1"])) == 2


async def test_a_fenced_note_waits_for_the_lead():
    election = Appointment(leads=True)
    world = Refusing(election=election)
    world.taint("n1", no_execute())
    world.refusal = FencedError("lost")
    async with world.running():
        await asyncio.sleep(2)
        election.leads, world.refusal = False, None
        await asyncio.sleep(100)
        assert (len(world.tried), world.noted()) == (1, "")
        election.appoint()
        await asyncio.sleep(1)
        assert world.noted() != ""
    assert world.fates("fenced") == 1


@pytest.mark.parametrize(("nodes", "pace"), [(500, 0.1)])
async def test_nobody_goes_early_where_clearing_takes_longer_than_the_taint_is_away(nodes, pace):
    """As 5,000 nodes do at 10 ms a note."""
    world = Refusing()
    world.pace = pace
    names = [f"n{number}" for number in range(nodes)]
    for name in names:
        world.taint(name, no_execute())
        world.add_pod(f"on-{name}", tolerating(seconds=300), node=name)
    async with world.running():
        await asyncio.sleep(100)
        for name in names:
            world.taint(name)
        await asyncio.sleep(5)
        for name in names:
            world.taint(name, no_execute())
        assert len([name for name in names if world.noted(name)]) > nodes / 10
        await asyncio.sleep(310)
    times = [at for at, _, _ in world.deleted]
    assert len(times) == nodes
    assert 405 <= min(times) <= max(times) < 406


async def test_nobody_goes_early_after_a_relist_in_mid_life():
    world = Refusing()
    world.taint("n1", no_execute())
    world.add_pod("patient", tolerating(seconds=300))
    async with world.running():
        await asyncio.sleep(100)
        world.refusal = ServerError("down", status=500)
        world.taint_unseen("n1")
        await asyncio.sleep(50)
        world.taint_unseen("n1", no_execute())
        world.node_watch.send(Replaced(tuple(world.nodes.values()), "1"))
        await asyncio.sleep(400)
    # Back at 150.0, as far as the API server tells to the second.
    assert world.deletions() == {"patient": 450.0}
