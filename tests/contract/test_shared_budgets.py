"""Budgets over time on an API server: two workers and the gate for others count together."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bailiff.clock import SystemClock
from bailiff.cluster import CONFIG_MAPS
from bailiff.decisions.policies import Policies, Store
from bailiff.lookup import ClusterSource, PodGroups
from bailiff.tally import Tally
from bailiff.webhooks import hooks_of
from tests.harness.admission import parts_of, request_of, review
from tests.harness.gating import EVICTION, said
from tests.harness.objects import KEY, taint
from tests.harness.tallies import budget
from tests.harness.working import is_going, running_worker, until

HOUR = 3600


@pytest.fixture
def policies(bench):
    store = Store(namespace=bench.namespace, name="counts")
    return Policies(over_time=replace(budget(3, HOUR), store=store))


def gate(cluster, policies):
    """The hook of one more process."""
    clock = SystemClock()
    parts = parts_of(
        ClusterSource(cluster, clock),
        policies=lambda: policies,
        pod_groups=PodGroups(cluster, clock),
        tally=Tally(cluster, clock),
    )
    return next(hook for hook in hooks_of(parts) if hook.path == "validate/evictions")


async def may_go(hook, bench, name):
    eviction = {"metadata": {"name": name, "namespace": bench.namespace}}
    named = {"uid": f"request-{name}", "name": name, "namespace": bench.namespace}
    request = request_of(**EVICTION | named | {"object": eviction})
    return said(await review(hook, request, SystemClock().monotonic() + 5))


async def going(bench, names):
    return [name for name in names if await is_going(bench, name)]


async def test_workers_and_the_gate_share_what_there_is(cluster, bench, clock, policies):
    hook, names = gate(cluster, policies), [f"p{one}" for one in range(6)]
    await bench.pod("drained")
    # One place goes to an eviction that somebody else wants.
    assert await may_go(hook, bench, "drained") == (0, "")
    node = await bench.node(taint(KEY))
    for name in names:
        await bench.pod(name, node=node)
    async with running_worker(cluster, clock=clock) as one, running_worker(cluster) as other:
        for worker in (one, other):
            worker.set_policies(policies)

        async def two_go():
            return len(await going(bench, names)) == 2

        await until(two_go)
        await bench.pod("late")
        code, message = await may_go(hook, bench, "late")
        assert (code, message.startswith("policy over_time: budget b (3 evictions")) == (429, True)
        # Both have been refused by now, and go on holding.
        await until(lambda: one.backlog.counts()["over_time"] + other.backlog.counts()["over_time"])
        assert len(await going(bench, names)) == 2
        counts = await cluster.get(CONFIG_MAPS, "counts", bench.namespace)
        assert counts.data["b"].count(":") - 3 == 3
        clock.skip(HOUR + 10)
        await until(lambda: is_all_gone(bench, names, 5))


async def is_all_gone(bench, names, at_least):
    return len(await going(bench, names)) >= at_least


async def test_where_podgroups_are_not_served_there_are_no_gangs(cluster, bench):
    groups = PodGroups(cluster, SystemClock())
    assert not await groups.goes_whole(bench.namespace, "none")
