"""Pods that are being deleted while their node runs out of memory, on an API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
        scene = Scene(bench, kubelet, pressing)
        await kubelet.pod("calm", 600)
        await kubelet.pod("greedy", 3300, finalizers=["example.com/witness"])
        yield scene
        body = {"metadata": {"finalizers": None}}
        await bench.cluster.patch(PODS, "greedy", bench.namespace, body)


async def delete_greedy(scene: Scene, seconds: int) -> None:
    bench = scene.bench
    await bench.cluster.delete(PODS, "greedy", bench.namespace, grace_period_seconds=seconds)


async def test_who_has_an_hour_to_end_is_given_a_second(
    scene: Scene, as_worker: Cluster, clock: JumpingClock
) -> None:
    await delete_greedy(scene, 3600)
    async with running_worker(as_worker, clock=clock, pressing=scene.pressing):

        async def hastened() -> bool:
            found = await scene.bench.get("greedy")
            return bool(found["metadata"]["deletionGracePeriodSeconds"] <= 1)

        await until(hastened)
        assert "Evicted" in await scene.events("greedy")
        assert not await scene.going("calm")
        scene.kubelet.gone("greedy")


async def test_who_should_have_been_gone_long_ago_keeps_nobody(
    scene: Scene, as_worker: Cluster, clock: JumpingClock
) -> None:
    await delete_greedy(scene, 1)
    clock.skip(60)
    async with running_worker(as_worker, clock=clock, pressing=scene.pressing):
        await until(lambda: scene.going("calm"))
        scene.kubelet.gone("calm")
    assert await scene.events("greedy") == []
