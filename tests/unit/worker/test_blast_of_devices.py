"""Blast radius of what is no node's taint: all that a change evicts is counted before one goes."""

import asyncio
from functools import partial
from typing import Any

import pytest

from bailiff.cluster import Changed, Replaced
from bailiff.decisions.policies import BlastRadius, Policies
from bailiff.worker.systems.device_taints.devices import Kind
from tests.harness.device_objects import patience
from tests.harness.worlds.device_world import DeviceWorld, taint_added

pytestmark = pytest.mark.looptime(start=0)
TEN = Policies(blast_radius=BlastRadius(max_pods=10))
ONE = Policies(blast_radius=BlastRadius(max_pods=1))


def using_devices(names: list[str], policies: Policies = TEN) -> DeviceWorld:
    """A world of pods on n1, each with a device of its own, none of them tainted."""
    world = DeviceWorld(policies=policies)
    world.taint("n1")
    publish(world, names)
    for name in names:
        world.gpu_pod(name)
    return world


def publish(world: DeviceWorld, names: list[str], *taints: dict[str, Any]) -> None:
    """A slice of the devices that pods of these names use, all with these taints."""
    devices: dict[str, Any] = {f"gpu_{name}": list(taints) for name in names}
    world.slice(**devices)


def held(world: DeviceWorld) -> int:
    """How many evictions the blast radius holds."""
    return world.worker.gate.counts()["blast_radius"]


@pytest.mark.parametrize("by", ["rule", "slice"])
async def test_not_one_goes_before_all_have_been_counted(by):
    names = [f"p{number}" for number in range(20)]
    world = using_devices(names)
    async with world.running():
        await asyncio.sleep(5)
        if by == "rule":
            world.rule("rule", pool="n1")
        else:
            publish(world, names, taint_added())
        await asyncio.sleep(100)
        assert world.requests == []
        assert held(world) == 20


@pytest.mark.parametrize("reverse", [False, True])
async def test_one_that_goes_later_counts_whoever_is_looked_at_first(reverse, monkeypatch):
    world = using_devices(["now"], ONE)
    publish(world, ["now", "later"])
    world.gpu_pod("later", patience(10))
    marks = world.worker.marks
    in_order = partial(sorted, reverse=reverse)
    look_at_pods = marks.look_at_pods
    monkeypatch.setattr(marks, "look_at_pods", lambda keys: look_at_pods(in_order(keys)))
    async with world.running():
        await asyncio.sleep(5)
        world.rule("rule", pool="n1")
        await asyncio.sleep(100)
        assert world.requests == []
        assert held(world) == 2
        # Nobody has acknowledged it; but it evicts less by now.
        world.remove_pod("later")
        await asyncio.sleep(10)
    assert set(world.deletions()) == {"now"}


async def test_nobody_goes_by_a_rule_whose_watch_was_stopped_midway_until_the_rest_is_taken_in():
    policies = Policies(blast_radius=BlastRadius(max_pods=450))
    world = using_devices([f"p{number}" for number in range(500)], policies)
    async with world.running():
        await asyncio.sleep(5)
        watch = world.watches.pop(Kind.RULES)
        world.rule("rule", pool="n1")
        rule = world.objects[Kind.RULES]["rule"]
        midway = asyncio.create_task(world.devices.apply(Kind.RULES, Changed(rule)))
        await asyncio.sleep(0)
        midway.cancel()
        await asyncio.sleep(100)
        assert 0 < len(world.worker.pending) < 450
        assert world.requests == []
        watch.send(Replaced((rule,), "2"))
        await asyncio.sleep(100)
        assert world.requests == []
        assert held(world) == 500
        watch.send(Replaced((), "3"))
        await asyncio.sleep(100)
        assert len(world.worker.pending) == 0
        assert not world.worker.evaluator.is_behind
