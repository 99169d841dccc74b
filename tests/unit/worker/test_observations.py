"""Taints without timeAdded: first seen, written down once, and read by whoever comes next."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from bailiff.cluster import ServerError
from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.node_taints import observations
from bailiff.kinds import Annotations, Node, NodeMeta, NodeSpec
from tests.harness.clocks import START
from tests.harness.kinds import edited_at, no_execute, node_of, tolerating
from tests.harness.worlds.world import World

pytestmark = pytest.mark.looptime(start=0)


@pytest.mark.parametrize(("managed", "gone"), [(True, 101.0), (False, 140.0)])
async def test_without_a_note_a_restart_counts_from_the_last_edit_or_else_anew(managed, gone):
    world = World(persist_observations=False)
    world.managed = managed
    world.taint("n1", no_execute())
    world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(40)
    assert world.annotated == []
    heir = world.successor(persist_observations=False)
    async with heir.running():
        await asyncio.sleep(200)
    assert heir.deletions() == {"patient": gone}


async def test_one_write_for_each_change():
    world = World()
    world.taint("n1")
    pod = world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        world.taint("n1", no_execute())
        await asyncio.sleep(1)
        for _ in range(5):
            world.put(pod)
            world.taint("n1", no_execute())
            await asyncio.sleep(1)
        assert len(world.annotated) == 1
        world.taint("n1", no_execute(), no_execute("second"))
        await asyncio.sleep(2)
        assert len(world.annotated) == 2
        world.taint("n1")
        await asyncio.sleep(1)
    assert len(world.annotated) == 3
    assert world.annotated[-1] == ""


async def test_a_taint_with_timeadded_needs_no_writing_down():
    world = World()
    world.taint("n1", no_execute(time_added=START))
    async with world.running():
        await asyncio.sleep(1)
    assert world.annotated == []


async def test_a_failed_write_is_tried_again_and_delays_nothing():
    world = World()
    world.taint("n1", no_execute())
    world.add_pod("patient", tolerating(seconds=2))
    write = world.write
    failing = [ServerError("down", status=500)] * 2

    async def fail_twice(*what, **how):
        if failing:
            raise failing.pop()
        await write(*what, **how)

    world.write = fail_twice  # type: ignore[method-assign]  # the port, broken for a while
    async with world.running():
        await asyncio.sleep(3)
        assert world.deletions() == {"patient": 2.0}
        await asyncio.sleep(30)
    assert len(world.annotated) == 1


async def test_shutdown_waits_for_what_is_still_to_be_written_down():
    world = World()
    for number in range(10):
        world.taint(f"n{number}", no_execute())
    write = world.write

    async def write_slowly(*what, **how):
        await asyncio.sleep(1)
        await write(*what, **how)

    world.write = write_slowly  # type: ignore[method-assign]  # the port, slowed down
    async with world.running():
        await asyncio.sleep(1)
    assert len(world.annotated) == 10


async def test_shutdown_waits_for_the_writing_down_no_longer_than_its_grace_period():
    world = World(shutdown_grace=5.0)
    world.taint("n1", no_execute())

    async def write_never(*what, **how):
        await asyncio.Event().wait()

    world.write = write_never  # type: ignore[method-assign]  # the port, dead
    async with world.running():
        pass
    assert world.annotated == []
    assert world.clock.monotonic() < 6


async def test_the_api_names_the_deadline_that_the_worker_keeps():
    world = World()
    world.taint("n1", no_execute())
    pod = world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(40)
        question = SYSTEMS.questions["decide"]
        kind: Any = question.facts
        facts = kind(pod=pod, node=world.nodes["n1"])
        asked = question.ask(facts, world.clock.now(), Options()).decision
        await asyncio.sleep(100)
    assert asked.evict_at is not None
    assert round((asked.evict_at - START).total_seconds()) == world.deletions()["patient"] == 100


async def test_a_note_dated_2099_puts_nothing_off_and_is_put_right():
    edited = START - timedelta(seconds=50)
    note = {"key": "maintenance", "effect": "NoExecute", "time": "2099-01-01T00:00:00Z"}
    annotations = Annotations(
        taints_first_observed=json.dumps([note | {"edited": edited.isoformat()}])
    )
    world = World()
    managed = edited_at(edited)
    world._put_node(node_of("n1", no_execute(), annotations=annotations, managed_fields=managed))
    world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(50)
        (found,) = observations.read(world.nodes["n1"]).values()
        assert found.time - START < timedelta(seconds=5)
        await asyncio.sleep(60)
    assert world.deletions() == {"patient": pytest.approx(100, abs=1)}


@pytest.mark.parametrize("spoilt", ["{", "[1]", '[{"key": "a"}]', '"x"', "[" * 5000, "null"])
def test_a_spoilt_annotation_counts_as_none(spoilt):
    annotations = Annotations(taints_first_observed=spoilt)
    node = Node(
        metadata=NodeMeta(name="n", annotations=annotations),
        spec=NodeSpec(taints=(no_execute(),)),
    )
    assert observations.read(node) == {}
    now = START + timedelta(seconds=5)
    (since,) = observations.since(node, (), now).values()
    assert (since.at, since.source) == (now, "now")
