"""Lists of devices are taken in by slices, and what cannot be decoded evicts nobody."""

import asyncio

import msgspec
import pytest

from bailiff.cluster import Changed, Replaced, Unreadable
from bailiff.kinds import ObjectMeta
from bailiff.worker.systems.device_taints.devices import _SLICE, Kind
from tests.harness.device_objects import patience
from tests.harness.turns import turns
from tests.harness.worlds.device_world import DeviceWorld, taint_added

pytestmark = pytest.mark.looptime(start=0)


def doomed() -> DeviceWorld:
    world = DeviceWorld()
    world.taint("n1")
    world.gpu_pod("a", patience(60))
    world.slice(gpu_a=[taint_added(0)])
    return world


@pytest.mark.parametrize(
    ("kind", "name", "namespace"),
    [(Kind.SLICES, "n1", ""), (Kind.CLAIMS, "claim-a", "default")],
)
async def test_nobody_is_evicted_by_what_was_before_it_could_not_be_decoded(kind, name, namespace):
    world = doomed()
    meta = ObjectMeta(name=name, namespace=namespace, resource_version="9")
    async with world.running():
        await asyncio.sleep(10)
        assert len(world.worker.pending) == 1
        world.watches[kind].send(Unreadable(meta, "why"))
        await asyncio.sleep(600)
        assert world.deletions() == {}
        world._tell_of(kind, world.objects[kind][name])
        await asyncio.sleep(10)
    assert set(world.deletions()) == {"a"}


async def test_nothing_that_is_in_both_lists_is_missing_while_the_new_one_is_taken_in():
    world = doomed()
    for number in range(2 * _SLICE):
        world.slice(f"other-{number}")
    async with world.running():
        await asyncio.sleep(1)
        kept = tuple(world.objects[Kind.SLICES].values())[1 - 2 * _SLICE :]
        whole = (world.objects[Kind.SLICES]["n1"], *kept)
        devices, stops = world.devices, 0
        for _ in turns(devices.apply(Kind.SLICES, Replaced(whole, "2"))):
            stops += 1
            assert devices.index.slices["n1"] is whole[0]
            assert devices.ready
            finding = world.worker.evaluator.finding(world.pods["a"])
            assert finding is not None
            assert finding.system == "device-taints"
        assert stops == 2
        assert set(devices.index.slices) == {one.metadata.name for one in whole}


@pytest.mark.parametrize("how", ["event", "list"])
async def test_an_older_slice_does_not_count_again_while_the_newest_cannot_be_decoded(how):
    world = DeviceWorld()
    world.taint("n1")
    world.gpu_pod("a", patience(60))
    world.slice("old", pool="n1", generation=1, gpu_a=[taint_added(0)])
    world.slice("new", pool="n1", generation=2, gpu_a=[])
    unreadable = Unreadable(ObjectMeta(name="new", resource_version="9"), "why")
    slices = world.watches[Kind.SLICES]
    async with world.running():
        await asyncio.sleep(10)
        if how == "event":
            slices.send(unreadable)
        else:
            slices.send(Replaced((world.objects[Kind.SLICES]["old"],), "9", (unreadable,)))
        await asyncio.sleep(600)
        assert world.deletions() == {}
        # Once it is gone the older one does count, as it would have if all could be decoded.
        slices.send(msgspec.structs.replace(unreadable, deleted=True))
        await asyncio.sleep(100)
    assert set(world.deletions()) == {"a"}


@pytest.mark.parametrize("turns_taken", range(1, 8))
async def test_a_rule_whose_watch_is_stopped_midway_evicts_all_the_same(turns_taken):
    """As where the cluster serves rules in another version from now on, and tells of them anew."""
    world = DeviceWorld()
    for number in range(1000):
        world.gpu_pod(f"p{number}")
    world.rule("r")
    rule = world.objects[Kind.RULES].pop("r")
    async with world.running():
        await asyncio.sleep(1)
        cut_short = world.devices.apply(Kind.RULES, Changed(rule))
        stops = turns(cut_short)
        for _ in range(turns_taken):
            next(stops, None)
        cut_short.close()
        world.objects[Kind.RULES]["r"] = rule
        world.relist(Kind.RULES)
        await asyncio.sleep(10)
        assert len(world.deletions()) == 1000
