"""The worker under the chart's rules for its policies: with one verb less something fails.

It reads the very file that the chart mounts.
"""

from __future__ import annotations

import asyncio
import contextlib
import re

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from bailiff.clock import SystemClock
from bailiff.cluster import CONFIG_MAPS, ClusterSettings, ForbiddenError, connect
from bailiff.policy_file import PolicyFile
from bailiff.worker import (
    ClusterActions,
    PolicyControl,
    Watches,
    WatchMetrics,
    Worker,
    WorkerSettings,
)
from bailiff.worker.policy.news import PolicyNews
from tests.harness.budgets import LABELS, budget
from tests.harness.helm.accounts import Permission, log_in, permissions
from tests.harness.helm.admission import admission_in_force
from tests.harness.helm.chart import render, the
from tests.harness.objects import KEY, condition, taint
from tests.harness.pausing import WHOLE
from tests.harness.working import is_going, until

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver]

# Of RBAC, and of admission.
REFUSED = re.compile("cannot|denied")
# Where the server cannot begin a watch with the objects there are, they are listed.
OBJECTS_FIRST = ClusterSettings()
LIST_FIRST = ClusterSettings(watch_initial_events=False)


def policies(namespace):
    """All that need rights; pods of namespaces that say so are let alone."""
    return {
        "evictionApi": {"deadlineSeconds": 0},
        "pause": {"namespace": namespace},
        "exclude": {"namespaceSelector": {"matchLabels": {"evictions": "never"}}},
    }


def valued(policies):
    return {"worker": {"policies": policies}}


class Scene:
    """A worker with policies under its account; of two pods that are to go a budget guards one."""

    def __init__(self, bench, control, logs):
        self.bench = bench
        self.control = control
        self.logs = logs

    async def begin(self):
        await budget(self.bench)
        self.node = await self.bench.node()
        guarded = await self.bench.pod("guarded", node=self.node, labels=LABELS)
        ready = [condition("Ready")]
        await self.bench.set_status(guarded, phase="Running", conditions=ready)
        await self.bench.pod("plain", node=self.node)
        await self.bench.taint(self.node, taint(KEY))

    async def going(self, name="plain"):
        return await is_going(self.bench, name)

    def denied(self, permission):
        """Whether the log names the verb and the resource that were refused."""
        named = f'cannot {permission.verb} resource "{permission.resource}"'
        return any(named in str(entry.get("error")) for entry in self.logs)


@contextlib.asynccontextmanager
async def at_work(server, bench, folder, settings=OBJECTS_FIRST, without=None, *, admission=False):
    values = valued(policies(bench.namespace))
    account = await log_in(server, "worker", bench.namespace, without, values)
    mounted = the(render(values=values), "ConfigMap", "worker", "-policies")["data"]
    path = folder / "policies.yaml"
    path.write_text(mounted["policies.yaml"])
    held = admission_in_force(server, account, bench.namespace, values)
    with capture_logs() as logs:
        async with (
            held if admission else contextlib.nullcontext(),
            await connect(account, settings=settings) as own,
            governed_worker(own, path) as control,
        ):
            scene = Scene(bench, control, logs)
            await scene.begin()
            yield scene


@contextlib.asynccontextmanager
async def governed_worker(own, path):
    clock, registry, stop = SystemClock(), CollectorRegistry(), asyncio.Event()
    actions = ClusterActions(own, instance="test")
    worker = Worker(actions, clock, registry, WorkerSettings(shutdown_grace=5.0))
    watches = Watches(own, clock, WatchMetrics(registry))
    pods, nodes = watches.pods(), watches.nodes()
    file = PolicyFile(path, clock, registry)
    news = PolicyNews(clock, registry)
    control = PolicyControl(file, worker, clock, watches, pods, news)
    async with asyncio.TaskGroup() as group:
        controlling = group.create_task(control.run())
        working = group.create_task(worker.run(pods, nodes, stop))
        try:
            yield control
        finally:
            stop.set()
            await asyncio.wait([working])
            controlling.cancel()


@pytest.mark.parametrize("settings", [OBJECTS_FIRST, LIST_FIRST], ids=["objects first", "list"])
async def test_under_the_chart_s_rules_policies_are_obeyed(
    kube_apiserver, bench, tmp_path, settings
):
    async with at_work(kube_apiserver, bench, tmp_path, settings, admission=True) as scene:
        # The one by the Eviction API, the other past its budget's deadline by a delete.
        await until(scene.going)
        await until(lambda: scene.going("guarded"))
        body = {"metadata": {"name": "bailiff-pause"}, "data": {"paused": "moving"}}
        await bench.cluster.create(WHOLE, body, bench.namespace)
        await until(lambda: scene.control.pause)
        assert [entry for entry in scene.logs if REFUSED.search(str(entry))] == []


async def evicts_nothing_until_it_knows_of_the_pause(scene):
    assert not await scene.going()
    assert scene.control.describe()["pause"] == {"state": "unknown"}
    assert len(scene.control.complaints()) == 1


async def evicts_nothing_until_it_knows_the_namespaces(scene):
    assert not await scene.going()
    assert len(scene.control.complaints()) == 1


async def evicts_nothing(scene):
    assert not await scene.going()


FAILS = {
    Permission("configmaps", "list"): (evicts_nothing_until_it_knows_of_the_pause, LIST_FIRST),
    Permission("configmaps", "watch"): (evicts_nothing_until_it_knows_of_the_pause, OBJECTS_FIRST),
    Permission("namespaces", "list"): (evicts_nothing_until_it_knows_the_namespaces, LIST_FIRST),
    Permission("namespaces", "watch"): (
        evicts_nothing_until_it_knows_the_namespaces,
        OBJECTS_FIRST,
    ),
    Permission("pods/eviction", "create"): (evicts_nothing, OBJECTS_FIRST),
}


def test_the_table_names_every_permission_that_policies_add():
    added = permissions("worker", valued(policies("any"))) - permissions("worker")
    assert set(FAILS) == added


@pytest.mark.parametrize("without", FAILS, ids=str)
async def test_with_one_verb_less_something_fails(kube_apiserver, bench, tmp_path, without):
    fails, settings = FAILS[without]
    async with at_work(kube_apiserver, bench, tmp_path, settings, without) as scene:
        await until(lambda: scene.denied(without))
        await fails(scene)


async def past_the_budget_nothing_is_deleted(scene):
    await until(scene.going)
    assert not await scene.going("guarded")


@pytest.mark.parametrize(
    "without", [Permission("pods", "delete"), Permission("pods/status", "patch")], ids=str
)
async def test_a_deadline_of_budgets_needs_the_rights_of_deleting(
    kube_apiserver, bench, tmp_path, without
):
    async with at_work(kube_apiserver, bench, tmp_path, without=without) as scene:
        await until(lambda: scene.denied(without))
        await past_the_budget_nothing_is_deleted(scene)


async def test_the_worker_may_read_no_other_config_map(kube_apiserver, bench):
    values = valued(policies(bench.namespace))
    account = await log_in(kube_apiserver, "worker", bench.namespace, values=values)
    async with await connect(account) as own:
        for selector in ("", "metadata.name=somebody-elses"):
            with pytest.raises(ForbiddenError, match="configmaps"):
                await own.list(CONFIG_MAPS, namespace=bench.namespace, field_selector=selector)
        with pytest.raises(ForbiddenError, match="configmaps"):
            await own.list(CONFIG_MAPS, field_selector="metadata.name=bailiff-pause")
