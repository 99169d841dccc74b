"""The gate while many are evicted at once, and by which clock it goes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from bailiff.decisions.policies import Policies, Window
from bailiff.kinds import OwnerReference
from tests.harness.clocks import LoopClock
from tests.harness.gating import GateScene, said, shop_pod
from tests.harness.tallies import budget

pytestmark = pytest.mark.looptime

REPLICAS = OwnerReference(kind="ReplicaSet", name="web-5d8", controller=True)


class Ahead(LoopClock):
    """The cluster's, 23 hours ahead of the machine's."""

    def now(self) -> datetime:
        return super().now() + timedelta(hours=23)


async def test_windows_open_by_the_clock_of_the_cluster() -> None:
    scene = GateScene(Policies(windows=(Window(start="22:00", end="23:30"),)), shop_pod())
    assert said(await scene.evict())[0] == 429
    scene.cluster_clock = Ahead()
    assert (await scene.evict(hooks=scene.replica())).allowed


async def test_a_pod_that_runs_nowhere_takes_no_place() -> None:
    """Whoever may create pods could use up everybody's budget by pods that no node ever takes."""
    pods = [shop_pod(f"web-5d8-bcdf{n}", "", owner_references=(REPLICAS,)) for n in "2456"]
    scene = GateScene(Policies(over_time=budget(1)), *pods)
    assert all([(await scene.evict(pod.metadata.name)).allowed for pod in pods])
    assert scene.counts.writes == 0


async def test_nor_one_that_is_named_by_its_uid_and_others_of_its_name_do() -> None:
    """Another pod of the name may run by the time that the API server looks."""
    scene = GateScene(Policies(over_time=budget(1)), shop_pod("web-0", ""))
    of = {"deleteOptions": {"preconditions": {"uid": "uid-web-0"}}}
    assert (await scene.evict("web-0", eviction=of)).allowed
    assert scene.counts.writes == 0
    assert (await scene.evict("web-0")).allowed
    assert scene.counts.counted() == 1
