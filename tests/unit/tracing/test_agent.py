"""The agent's rounds that evict."""

from __future__ import annotations

import asyncio

import pytest

from tests.harness.agent_scene import AgentScene, pressed
from tests.harness.tracing import InMemory, attributes, id_of, parent_of

pytestmark = pytest.mark.looptime(start=0)


async def test_a_round_that_evicts_is_a_trace_with_each_of_its_evictions():
    seen = InMemory()
    scene = pressed(tracer=seen.tracer)
    async with scene.running():
        await asyncio.sleep(30)
    turn, eviction = seen.one("pressure round"), seen.one("evict")
    assert turn.parent is None
    assert parent_of(eviction) == id_of(turn)
    assert attributes(turn) == {"bailiff.pods": 1}
    told = attributes(eviction)
    assert (told["k8s.pod.name"], told["bailiff.outcome"]) == ("hog", "evicted")
    assert (told["bailiff.system"], eviction.status.is_unset) == ("pressure", True)


async def test_a_round_in_which_nobody_goes_is_none():
    seen = InMemory()
    scene: AgentScene = pressed(tracer=seen.tracer)
    scene.node.uses = {"hog": 1, "calm": 1}
    async with scene.running():
        await asyncio.sleep(30)
    assert seen.names() == []


async def test_a_dry_run_says_of_each_span_that_nothing_was_done():
    seen = InMemory()
    scene = pressed(tracer=seen.tracer, dry_run=True)
    async with scene.running():
        await asyncio.sleep(1)
    for one in ("pressure round", "evict"):
        assert attributes(seen.one(one))["bailiff.on_paper"] is True


async def test_a_shadow_traces_each_pod_once_and_says_that_nothing_was_done():
    seen = InMemory()
    scene = pressed(tracer=seen.tracer, shadow=True)
    async with scene.running():
        await asyncio.sleep(200)
    assert seen.names() == ["evict"]
    told = attributes(seen.one("evict"))
    assert (told["bailiff.on_paper"], told["bailiff.outcome"]) == (True, "onPaper")
    assert told["k8s.pod.name"] == "hog"
