"""Budgets over time on an API server: two workers and the gate for others count together.

Evictions, and the nodes from which they are.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bailiff.clock import SystemClock
from bailiff.cluster import CONFIG_MAPS
from bailiff.decisions.policies import Policies, Store, read_book
from bailiff.lookup import ClusterSource, PodGroups
from bailiff.tally import Tally
from bailiff.webhooks import hooks_of
from tests.harness.admission import parts_of, request_of, review
from tests.harness.gating import EVICTION, said
from tests.harness.objects import KEY, taint
from tests.harness.tallies import budget, node_budget
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


async def test_of_five_nodes_one_after_the_other_no_more_lose_pods_than_the_budget_says(
    cluster, bench, clock, policies
):
    """Two workers and a drain, of which each takes whole nodes, and none sees all that go."""
    nodes_only = replace(node_budget(3, HOUR), store=policies.over_time.store)
    policies = Policies(over_time=nodes_only)
    hook = gate(cluster, policies)
    drained, *others = [await bench.node() for _ in range(5)]
    pods = {node: [f"p{number}-{one}" for one in range(2)] for number, node in enumerate(others)}
    await bench.pod("drained", node=drained)
    await bench.pod("also-drained", node=drained)
    assert await may_go(hook, bench, "drained") == (0, "")
    for node, names in pods.items():
        for name in names:
            await bench.pod(name, node=node)
    everyone = [name for names in pods.values() for name in names]
    async with running_worker(cluster, clock=clock) as one, running_worker(cluster) as other:
        for worker in (one, other):
            worker.set_policies(policies)
        for node in others:
            await bench.taint(node, taint(KEY))

        async def holds():
            held = one.backlog.counts()["over_time"], other.backlog.counts()["over_time"]
            return len(await going(bench, everyone)) == 4 and min(held)

        await until(holds)
        gone = {node for node, names in pods.items() if await going(bench, names)}
        assert len(gone) == 2
        # The drain goes on with its own node, and with those that have begun to go.
        assert await may_go(hook, bench, "also-drained") == (0, "")
        for node, names in pods.items():
            code, message = await may_go(hook, bench, names[0])
            assert (code == 0) is (node in gone), message
            assert code == 0 or "budget b (3 nodes in 3600 s) is used up until" in message
        counts = await cluster.get(CONFIG_MAPS, "counts", bench.namespace)
        assert len(read_book(counts.data)["b"].columns["nodes/"].by_pod) == 3
        clock.skip(HOUR + 10)
        await until(lambda: is_all_gone(bench, everyone, len(everyone)))


async def is_all_gone(bench, names, at_least):
    return len(await going(bench, names)) >= at_least


async def test_where_podgroups_are_not_served_there_are_no_gangs(cluster, bench):
    groups = PodGroups(cluster, SystemClock())
    assert not await groups.goes_whole(bench.namespace, "none")
