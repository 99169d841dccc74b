"""What the chart sets by default, at work: as fast as upstream, and no faster after a pause."""

import asyncio
from pathlib import Path

import msgspec
import pytest
import yaml

from bailiff.decisions.policies import Pause, PauseNotice, Policies, read
from tests.harness.worlds.governed import Governed

pytestmark = pytest.mark.looptime(start=0)

CHART = Path(__file__).parents[3] / "helm" / "bailiff"
HEAD = {"apiVersion": "bailiff.dev/v1", "kind": "WorkerPolicies"}
NOTICE = PauseNotice(by="anna", reason="migration")
# Upstream: 0.1 nodes a second (kube-controller-manager's --node-eviction-rate), of 110 pods at
# most, which is the kubelet's --max-pods.
RATE, NODE = 11.0, 110
PODS = 400


def chart_policies() -> Policies:
    values = yaml.safe_load((CHART / "values.yaml").read_text())["worker"]["policies"]
    return read(msgspec.json.encode(HEAD | values))


def test_the_thresholds_are_upstream_s():
    """node_lifecycle_controller.go: ComputeZoneState, and --unhealthy-zone-threshold."""
    policies = chart_policies()
    zone, total = policies.breakers.zone, policies.limits.total
    assert zone is not None
    assert total is not None
    assert (zone.slow_at, zone.stop_at, zone.min_failing) == (0.55, 0.55, 3)
    assert (total.per_second, total.burst) == (RATE, NODE)


async def test_after_a_pause_the_backlog_goes_at_the_chart_s_rate():
    world = Governed(msgspec.structs.replace(chart_policies(), pause=Pause(namespace="ops")))
    world.worker.set_pause(NOTICE)
    world.tainted("n1")
    for number in range(PODS):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(1000)
        assert world.deleted == []
        world.worker.set_pause(None)
        await asyncio.sleep(100)
    times = sorted(world.deletions().values())
    assert len(times) == PODS
    for seconds in (0.5, 5.0, 10.0, 20.0):
        gone = sum(at <= 1000 + seconds for at in times)
        assert gone <= NODE + RATE * seconds + 1
    # Nor any slower than that.
    assert times[-1] == pytest.approx(1000 + (PODS - NODE) / RATE, abs=1.0)


async def test_what_one_taint_evicts_beyond_the_blast_radius_waits_for_a_person():
    world = Governed(chart_policies())
    world.tainted("n1")
    for number in range(1001):
        world.pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(1000)
        assert world.deleted == []
        assert world.backlog() == {"blast_radius": 1001}
