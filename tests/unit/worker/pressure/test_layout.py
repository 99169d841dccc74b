"""The file systems of a node, as the first summary has them or an operator tells."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.decisions.pressure.facts import LAYOUTS
from tests.harness.worlds.pressure_world import PressureWorld, mode_with

pytestmark = pytest.mark.looptime(start=0)
DISK = {"availableBytes": 10, "capacityBytes": 1000}


def world_with(layout: str) -> PressureWorld:
    world = PressureWorld(mode_with(layout=LAYOUTS.get(layout)))
    world.add_node()
    world.fill("calm", 100)
    world.disks = {"fs": DISK, "runtime": {"imageFs": DISK, "containerFs": DISK}}
    return world


async def dedicated(world: PressureWorld) -> bool:
    await asyncio.sleep(15)
    watched = world.pressure.fleet.get("n1")
    assert watched is not None
    assert watched.report is not None
    return watched.report.layout.dedicated_image_fs


async def test_it_is_found_once_until_nothing_is_known_of_the_node():
    """A kubelet looks once, too, and a file system may be made larger while it runs."""
    world = world_with("")
    async with world.running():
        assert not await dedicated(world)
        world.disks = {**world.disks, "fs": DISK | {"capacityBytes": 2000}}
        assert not await dedicated(world)
        world.kubelet.broken = "connection refused"
        await asyncio.sleep(20)
        world.kubelet.broken = ""
        assert await dedicated(world)


async def test_what_an_operator_tells_counts():
    world = world_with("dedicated")
    async with world.running():
        assert await dedicated(world)


async def test_a_size_of_nothing_tells_nothing():
    """A kubelet that has just started knows no capacity of its image file system yet."""
    world = world_with("")
    world.disks = {"fs": DISK, "runtime": {"imageFs": DISK | {"capacityBytes": 0}}}
    async with world.running():
        assert not await dedicated(world)
        world.disks = {"fs": DISK, "runtime": {"imageFs": DISK | {"capacityBytes": 2000}}}
        assert await dedicated(world)
