"""The worker under the chart's own rules: with all of them it works, with one verb less it fails.

So the rules are enough, and none is superfluous.
"""

from __future__ import annotations

import contextlib
import re
from functools import partial

import pytest
from structlog.testing import capture_logs

from bailiff.clock import SystemClock
from bailiff.cluster import (
    NODES as TYPED_NODES,
)
from bailiff.cluster import ClusterSettings, ForbiddenError, LeaseStore, WatchHealth, connect
from bailiff.cluster.leases import LEASES
from bailiff.decisions.device_taints import STATUS_PERIOD
from bailiff.worker import ElectionSettings, Elector, Shard
from bailiff.worker.systems.device_taints.devices import State
from bailiff.worker.systems.node_taints.annotator import ANNOTATION
from tests.harness.api import NODES
from tests.harness.clocks import JumpingClock
from tests.harness.device_objects import device_taint
from tests.harness.gpus import gpus_of
from tests.harness.helm.accounts import Permission, log_in, permissions
from tests.harness.helm.admission import admission_in_force
from tests.harness.leases import make_leases
from tests.harness.objects import KEY, taint
from tests.harness.working import devices_of, is_going, messages, running_worker, until

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver]

# Of RBAC, and of admission.
REFUSED = re.compile("cannot|denied")
LEASE = "bailiff-worker-0-of-1"
# A tenth of the usual, so that losing a Lease is soon seen.
TIMES = ElectionSettings(lease_duration=3, renew_deadline=2.0, retry_period=0.4)
# Where the server cannot begin a watch with the objects there are, they are listed.
OBJECTS_FIRST = ClusterSettings()
LIST_FIRST = ClusterSettings(watch_initial_events=False)


class Scene:
    """A worker under its account, a tainted node, and a pod that is to go."""

    def __init__(self, bench, worker, clock, logs, gpus):
        self.bench = bench
        self.clock = clock
        self.gpus, self.others = gpus
        self.worker = worker
        self.logs = logs

    async def begin(self):
        self.node = await self.bench.node()
        self.pod = await self.bench.pod("plain", node=self.node)
        await self.bench.taint(self.node, taint(KEY))

    async def going(self):
        return await is_going(self.bench, "plain")

    async def condition(self):
        found = await self.bench.get("plain")
        kinds = [c["type"] for c in found["status"].get("conditions", [])]
        return "DisruptionTarget" in kinds

    async def annotated(self):
        found = await self.bench.cluster.get(NODES, self.node)
        return ANNOTATION in found["metadata"].get("annotations", {})

    async def told(self):
        return bool(await messages(self.bench, self.pod))

    async def lease(self):
        found = await self.bench.cluster.get(LEASES, LEASE, self.bench.namespace)
        return found["spec"]

    def denied(self, permission):
        """Whether the log names the verb and the resource that were refused."""
        named = f'cannot {permission.verb} resource "{permission.resource}"'
        return any(named in f"{entry.get('error')} {entry.get('why')}" for entry in self.logs)

    async def doom(self):
        """Pods that a slice's taint and a DeviceTaintRule evict, of nodes without taints."""
        await self.gpus.taint(device_taint())
        await self.gpus.rule()
        await self.gpus.pod("trainer")
        await self.others.rule()
        await self.others.pod("tuner")


@contextlib.asynccontextmanager
async def at_work(server, bench, settings=OBJECTS_FIRST, without=None, *, admission=False):
    path = await log_in(server, "worker", bench.namespace, without)
    await make_leases(bench.cluster, bench.namespace)
    held = admission_in_force(server, path, bench.namespace)
    with capture_logs() as logs:
        async with (
            held if admission else contextlib.nullcontext(),
            await connect(path, settings=settings) as own,
        ):
            store = LeaseStore(own, bench.namespace, LEASE)
            elector = Elector({Shard(): store}, SystemClock(), "test", TIMES)
            clock = JumpingClock()
            async with (
                running_worker(own, elector, devices=True, clock=clock) as worker,
                gpus_of(bench) as gpus,
                gpus_of(bench) as others,
            ):
                # As behind a watch of nodes that is not live: every eviction reads its node.
                follow = worker.attempt.fresh_nodes.follow
                follow(WatchHealth(), partial(own.get, TYPED_NODES))
                scene = Scene(bench, worker, clock, logs, (gpus, others))
                await scene.begin()
                await scene.doom()
                yield scene


@pytest.mark.parametrize("settings", [OBJECTS_FIRST, LIST_FIRST], ids=["objects first", "list"])
async def test_under_the_chart_s_rules_and_admission_the_worker_does_all_its_work(
    kube_apiserver, bench, settings
):
    async with at_work(kube_apiserver, bench, settings, admission=True) as scene:
        await until(scene.going)
        assert await scene.condition()
        await until(scene.told)
        await until(scene.annotated)
        for name in ("trainer", "tuner"):
            await until(partial(is_going, bench, name))
        scene.clock.skip(STATUS_PERIOD.total_seconds())
        await until(scene.others.completed)
        acquired = await scene.lease()

        async def renewed():
            return (await scene.lease())["renewTime"] > acquired["renewTime"]

        await until(renewed)
        assert acquired["holderIdentity"] == "test"
        assert [entry for entry in scene.logs if REFUSED.search(str(entry))] == []
    assert not (await scene.lease()).get("holderIdentity")


async def sees_nothing(scene):
    assert not scene.worker.mirror.synced
    assert not await scene.going()


async def evicts_nobody_by_what_it_may_have_missed(scene):
    await until(lambda: is_going(scene.bench, "trainer"))
    assert not await scene.going()


async def forgets_first_observations(scene):
    await until(scene.going)
    assert not await scene.annotated()


async def evicts_nothing_for_want_of_the_condition(scene):
    assert not await scene.going()
    assert not await scene.condition()


async def evicts_nothing_but_marks_it(scene):
    await until(scene.condition)  # it may have been another pod whose delete was refused first
    assert not await scene.going()


async def tells_nobody(scene):
    await until(scene.going)
    assert not await scene.told()


async def never_leads(scene):
    assert not scene.worker.election.may_act()
    assert not await scene.going()


async def evicts_for_nodes_only(scene):
    devices = devices_of(scene.worker)
    assert devices.state is State.OFF
    assert 'resource "resource' in devices.why
    await until(scene.going)
    assert not await is_going(scene.bench, "trainer")
    assert not await is_going(scene.bench, "tuner")


async def evicts_for_slices_only(scene):
    devices = devices_of(scene.worker)
    assert devices.state is State.ON
    assert 'resource "devicetaintrules"' in devices.why
    await until(lambda: is_going(scene.bench, "trainer"))
    assert not await is_going(scene.bench, "tuner")


async def evicts_and_does_not_say_so(scene):
    await until(lambda: is_going(scene.bench, "tuner"))
    assert not await scene.others.condition()


FAILS = {
    Permission("nodes", "get"): (evicts_nobody_by_what_it_may_have_missed, OBJECTS_FIRST),
    Permission("nodes", "list"): (sees_nothing, LIST_FIRST),
    Permission("nodes", "watch"): (sees_nothing, OBJECTS_FIRST),
    Permission("nodes", "patch"): (forgets_first_observations, OBJECTS_FIRST),
    Permission("pods", "list"): (sees_nothing, LIST_FIRST),
    Permission("pods", "watch"): (sees_nothing, OBJECTS_FIRST),
    Permission("pods", "delete"): (evicts_nothing_but_marks_it, OBJECTS_FIRST),
    Permission("pods/status", "patch"): (evicts_nothing_for_want_of_the_condition, OBJECTS_FIRST),
    Permission("events", "create"): (tells_nobody, OBJECTS_FIRST),
    Permission("resourceslices", "list"): (evicts_for_nodes_only, OBJECTS_FIRST),
    Permission("resourceslices", "watch"): (evicts_for_nodes_only, OBJECTS_FIRST),
    Permission("resourceclaims", "list"): (evicts_for_nodes_only, OBJECTS_FIRST),
    Permission("resourceclaims", "watch"): (evicts_for_nodes_only, OBJECTS_FIRST),
    Permission("devicetaintrules", "list"): (evicts_for_slices_only, OBJECTS_FIRST),
    Permission("devicetaintrules", "watch"): (evicts_for_slices_only, OBJECTS_FIRST),
    Permission("devicetaintrules/status", "patch"): (evicts_and_does_not_say_so, OBJECTS_FIRST),
    Permission("leases", "get"): (never_leads, OBJECTS_FIRST),
    Permission("leases", "update"): (never_leads, OBJECTS_FIRST),
}


def test_the_table_names_every_permission_of_the_worker():
    assert set(FAILS) == permissions("worker")


@pytest.mark.parametrize("without", FAILS, ids=str)
async def test_with_one_verb_less_something_fails(kube_apiserver, bench, without):
    fails, settings = FAILS[without]
    async with at_work(kube_apiserver, bench, settings, without) as scene:
        await until(lambda: scene.denied(without))
        await fails(scene)


async def test_the_worker_may_touch_no_other_lease(kube_apiserver, bench):
    path = await log_in(kube_apiserver, "worker", bench.namespace)
    async with await connect(path) as own:
        with pytest.raises(ForbiddenError, match="leases"):
            await LeaseStore(own, bench.namespace, "somebody-elses").read()
        with pytest.raises(ForbiddenError, match="leases"):
            await LeaseStore(own, "kube-system", LEASE).read()
