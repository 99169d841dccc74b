"""What no kubelet does, on an API server: a threshold that only tells, and a release target."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bailiff.decisions.pressure.extensions import PressureExtensions, ReleaseTarget
from bailiff.decisions.pressure.signals import Signal
from tests.harness.api import PODS
from tests.harness.measuring_kubelet import measured_node
from tests.harness.pressure_scene import Scene
from tests.harness.working import running_worker, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bailiff.cluster import Cluster
    from tests.harness.api import Bench
    from tests.harness.clocks import JumpingClock

pytestmark = pytest.mark.parity


@pytest.fixture
async def scene(bench: Bench, tmp_path: Path, clock: JumpingClock) -> AsyncIterator[Scene]:
    async with measured_node(bench, tmp_path, clock) as (kubelet, pressing):
        yield Scene(bench, kubelet, pressing)


async def test_a_threshold_that_only_tells_is_told_and_evicts_nobody(
    scene: Scene, as_worker: Cluster, clock: JumpingClock
) -> None:
    kubelet = scene.kubelet
    await kubelet.pod("greedy", 3900)
    dry = PressureExtensions(dry_run_hard=(Signal.MEMORY_AVAILABLE,))

    async def is_told() -> bool:
        return "EvictionDryRun" in await scene.events(kubelet.node)

    async with running_worker(as_worker, clock=clock, pressing=scene.with_mode(extensions=dry)):
        await until(is_told)
        await until(lambda: scene.says("MemoryPressure", "False"))
        assert not await scene.going("greedy")


async def test_as_many_go_at_once_as_free_what_is_missing(
    scene: Scene, as_worker: Cluster, clock: JumpingClock
) -> None:
    kubelet = scene.kubelet
    for name in ("one", "two", "three"):
        await kubelet.pod(name, 1300)
    # 196 MiB are left, and 2 GiB have to be.
    needed = PressureExtensions(release_target=ReleaseTarget(), stop_at={"memory.available": "2Gi"})
    async with running_worker(as_worker, clock=clock, pressing=scene.with_mode(extensions=needed)):

        async def going() -> int:
            return sum([await scene.going(name) for name in ("one", "two", "three")])

        async def two_go() -> bool:
            return await going() == 2

        await until(two_go)
        for name in ("one", "two"):
            kubelet.gone(name)
        await asyncio.sleep(3)
        assert await going() == 2


async def test_within_a_cool_down_one_goes_though_it_takes_its_time(
    scene: Scene, as_worker: Cluster, clock: JumpingClock
) -> None:
    kubelet, bench = scene.kubelet, scene.bench
    for name in ("one", "two"):
        await kubelet.pod(name, 1900, finalizers=["example.com/witness"])
    cooling = PressureExtensions(cool_down="1h")
    async with running_worker(as_worker, clock=clock, pressing=scene.with_mode(extensions=cooling)):
        await until(lambda: scene.going("one"))
        # It is gone from the summary, and the other is a candidate: 300 MiB are left.
        kubelet.gone("one")
        kubelet.used["two"] = 3800
        clock.skip(60)
        await asyncio.sleep(6)
        assert not await scene.going("two")
    for name in ("one", "two"):
        await bench.cluster.patch(PODS, name, bench.namespace, {"metadata": {"finalizers": None}})
