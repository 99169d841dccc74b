"""The worker's halves of systems beside each other: names, and what both halves say alike."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from bailiff.decisions import SYSTEMS, Round, Scene
from bailiff.worker.systems import OPT_IN, Parts, SystemInWorker
from bailiff.worker.systems.system import Work, Writer
from tests.harness.worlds.world import World

pytestmark = pytest.mark.looptime(start=0)


class First(SystemInWorker):
    """Says nothing of anybody; it is its own writer and task, and is called as its like is."""

    name = "first"

    def __init__(self, parts: Parts) -> None:
        self.done: list[str] = []

    def prepare(self, scene: Scene, *, explain: bool) -> Round | None:
        return None

    def followers(self) -> Mapping[str, Work]:
        return {"state": self.follow}

    def writers(self) -> Mapping[str, Writer]:
        return {"state": self}

    async def follow(self) -> None:
        self.done.append("follow")
        await asyncio.Event().wait()

    async def run(self) -> None:
        self.done.append("run")
        await asyncio.Event().wait()

    async def drain(self) -> None:
        self.done.append("drain")

    async def forget(self) -> None:
        """There is nothing."""


class Second(First):
    """Another."""

    name = "second"


async def test_two_systems_may_call_their_writers_and_tasks_alike():
    world = World(systems=(First, Second))
    async with world.running():
        await asyncio.sleep(1)
    for half in world.worker.systems.values():
        assert isinstance(half, First)
        assert half.done == ["follow", "run", "drain", "drain"]


async def test_two_systems_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two systems of the worker have the same name"):
        World(systems=(First, First))


async def test_each_half_goes_by_the_node_as_its_pure_half_does():
    pure = {one.name: one.by_node for one in SYSTEMS.all if one.name not in OPT_IN}
    assert {name: half.by_node for name, half in World().worker.systems.items()} == pure
    # Who forgets to say has the node read once more, and evicts nobody by what is old.
    assert SystemInWorker.by_node
