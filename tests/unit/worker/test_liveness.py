"""What /healthz answers by: the loop turns, and no task of ours has ended."""

import asyncio
from typing import Any, cast

import pytest

from bailiff.worker.observe.liveness import PERIOD, Liveness
from tests.harness.clocks import ManualClock
from tests.harness.worlds.fake_watch import FakeWatch
from tests.harness.worlds.world import World, tainted

pytestmark = pytest.mark.looptime(start=0)


class Lags:
    """What the metric is told."""

    def __init__(self, told):
        self.observe = told.append


async def test_the_loop_s_delay_is_measured_with_each_beat():
    lags: list[float] = []
    clock = ManualClock()
    beating = asyncio.create_task(Liveness(clock, cast("Any", Lags(lags))).run())
    await asyncio.sleep(PERIOD / 2)
    clock.advance(PERIOD + 0.4)
    await asyncio.sleep(PERIOD)
    beating.cancel()
    assert lags == [pytest.approx(0.4)]


class EndingWatch(FakeWatch):
    """Ends without a word, which a watch never does."""

    async def events(self):
        return
        yield


@pytest.mark.parametrize("which", ["pods", "nodes"])
async def test_a_part_that_ended_though_the_worker_runs_is_told(which):
    world = World()
    if which == "pods":
        world.pod_watch = EndingWatch()
    else:
        world.node_watch = EndingWatch()
    async with world.running():
        assert world.worker.liveness.complaints() == [f"the task 'watch {which}' has ended"]
    assert world.worker.liveness.complaints() == []


async def test_a_worker_at_work_is_alive():
    world = tainted(shutdown_grace=5)
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(400)
        assert world.worker.liveness.complaints() == []
    assert set(world.deletions()) == {"plain"}


async def test_what_is_only_tried_out_is_counted_apart_from_evictions():
    world = tainted(on_paper=True)
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(1)
    outcome = {"outcome": "deleted"}
    count = world.registry.get_sample_value
    assert count("bailiff_worker_dry_run_attempts_total", outcome) == 1
    for name in (
        "bailiff_worker_eviction_attempts_total",
        "taint_eviction_controller_pod_deletions_total",
        "bailiff_worker_lateness_seconds_count",
    ):
        assert count(name, outcome if "attempts" in name else {}) is None
    assert (
        count("bailiff_worker_evictions_total", {"by": "delete", "system": "node-taints"}) is None
    )


async def returns():
    """A part that ends though nobody has told it to."""


@pytest.mark.parametrize(
    ("writer", "name"),
    [
        ("recorder", "recorder"),
        ("condition_resets", "condition resets"),
        ("systems.node-taints.annotator", "node-taints annotator"),
        ("systems.device-taints.rule_status", "device-taints rule status"),
    ],
)
async def test_a_writer_that_ended_though_the_worker_runs_is_told(writer, name, monkeypatch):
    world = World()
    found = world.worker
    for step in writer.split("."):
        found = found[step] if isinstance(found, dict) else getattr(found, step)
    monkeypatch.setattr(found, "run", returns)
    async with world.running():
        assert world.worker.liveness.complaints() == [f"the task '{name}' has ended"]
