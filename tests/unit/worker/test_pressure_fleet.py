"""The watched nodes in /v1/queue: of those under pressure it stands there why nobody goes."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from bailiff.decisions.pressure.extensions import PressureExtensions
from tests.harness.worlds.pressure_world import PressureWorld, mode_with

pytestmark = pytest.mark.looptime(start=0)


async def test_during_a_cool_down_it_is_said_why_nobody_goes():
    extensions = msgspec.convert({"coolDown": "1h"}, PressureExtensions)
    world = PressureWorld(mode_with(extensions=extensions))
    world.add_node()
    for name in ("a", "b"):
        world.fill(name, 1900)
    async with world.running():
        await asyncio.sleep(5)
        assert world.pressure.describe()["pressed"]["why"] == {}
        await asyncio.sleep(60)
        world.fill("b", 3900)
        await asyncio.sleep(60)
        told = world.pressure.describe()["pressed"]
    assert len(world.evictions()) == 1
    assert set(told) == {"count", "nodes", "why"}
    assert told["why"] == {
        "n1": "CoolsDown: a pod went for pressure less than the cool-down ago",
    }


async def test_where_somebody_goes_there_is_nothing_to_explain():
    world = PressureWorld()
    world.add_node()
    world.fill("greedy", 3900)
    world.fill("calm", 100)
    world.slow = True
    async with world.running():
        await asyncio.sleep(12)
        told = world.pressure.describe()["pressed"]
    assert (told["count"], told["why"]) == (1, {})
