"""What is written of nodes: bounded, and of the node that was meant."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from bailiff.actions.node_conditions import status_body
from bailiff.decisions import EventNote
from bailiff.decisions.pressure.memory import Note
from bailiff.kinds import Node, NodeStatus
from bailiff.kinds.node_status import NodeCondition
from bailiff.worker.systems.pressure.node_writer import NodeWriter
from bailiff.worker.timers.retrying import Again
from tests.harness.clocks import START
from tests.harness.worlds.pressure_world import PressureWorld

YESTERDAY = datetime(2025, 12, 31, tzinfo=UTC)


def unwatched() -> PressureWorld:
    """A node that is not watched: nothing is written of it but what a test asks for."""
    world = PressureWorld()
    world.add_node(pool="other")
    return world


def writer(world: PressureWorld) -> NodeWriter:
    return world.pressure.writer


def note(message: str) -> EventNote:
    return EventNote(type="Warning", reason="EvictionThresholdMet", message=message)


def told(world: PressureWorld) -> list[str]:
    return [call.body["message"] for call in world.calls if call.verb == "record"]


@pytest.mark.looptime(start=0)
async def test_a_node_is_not_told_what_was_meant_for_one_before_it():
    world = unwatched()
    node = world.nodes["n1"]
    before = replace(node, metadata=replace(node.metadata, uid="uid-before"))
    async with world.running():
        writer(world).tell(before, note("of the one before"), START)
        await asyncio.sleep(1)
        assert told(world) == []
        writer(world).tell(node, note("of this one"), START)
        await asyncio.sleep(1)
    assert told(world) == ["of this one"]


@pytest.mark.looptime(start=0)
async def test_a_note_that_waits_is_dropped_where_what_is_written_is_right_again():
    world = unwatched()
    node, begun, over = world.nodes["n1"], Note("met", '{"met": 1}'), Note("over", "{}")
    async with world.running():
        writer(world).remember(node, begun)
        await asyncio.sleep(1)
        writer(world).remember(node, over)
        writer(world).remember(node, begun)
        await asyncio.sleep(1)
    assert world.noted == [begun.text]


@pytest.mark.looptime(start=0)
async def test_of_too_many_events_the_last_are_told():
    world = unwatched()
    async with world.running():
        for number in range(20):
            writer(world).tell(world.nodes["n1"], note(str(number)), START)
        await asyncio.sleep(1)
    assert told(world) == [str(number) for number in range(4, 20)]


@pytest.mark.looptime(start=0)
async def test_what_is_forgotten_is_not_written_with_what_comes_later():
    world = unwatched()
    async with world.running():
        writer(world).tell(world.nodes["n1"], note("forgotten"), START)
        await writer(world).forget()
        writer(world).tell(world.nodes["n1"], note("later"), START)
        await asyncio.sleep(1)
    assert told(world) == ["later"]


@pytest.mark.looptime(start=0)
@pytest.mark.parametrize(("failures", "seconds"), [(0, 1), (5, 32), (6, 60), (10_000, 60)])
async def test_what_fails_again_and_again_is_tried_once_a_minute(failures, seconds):
    world = unwatched()
    world.deny(403, "publish", until=1000)
    async with world.running():
        writer(world).publish(world.nodes["n1"], [CALM])
        again = await writer(world).attempt("n1", failures)
    assert again == Again(seconds, failed=True)


CALM = NodeCondition(type="MemoryPressure", status="False", reason="a", message="b")


@pytest.mark.parametrize(
    ("status", "since"), [("False", "2025-12-31T00:00:00Z"), ("True", "2026-01-01T00:00:00Z")]
)
def test_a_sign_of_life_is_no_transition(status, since):
    there = replace(CALM, last_transition_time=YESTERDAY, last_heartbeat_time=YESTERDAY)
    node = Node(status=NodeStatus(conditions=(there,)))
    (one,) = status_body(node, [replace(CALM, status=status)], START)["status"]["conditions"]
    assert one["lastTransitionTime"] == since
    assert one["lastHeartbeatTime"] == "2026-01-01T00:00:00Z"
