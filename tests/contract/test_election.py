"""Several workers and one Lease, on an API server: who acts is read back from the API."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from bailiff.bootstrap.leases import lease_names
from bailiff.clock import SystemClock
from bailiff.cluster import (
    LEASES,
    ConflictError,
    FencedError,
    LeaseRecord,
    LeaseStore,
)
from bailiff.worker import (
    ClusterActions,
    ElectionSettings,
    Elector,
    Shard,
    Watches,
    WatchMetrics,
    Worker,
    WorkerSettings,
)
from bailiff.worker.lead.sharding import shard_of
from tests.harness.api import name_of
from tests.harness.leases import NAME, make_leases
from tests.harness.objects import KEY, taint
from tests.harness.working import is_going, messages, until

if TYPE_CHECKING:
    from tests.harness.objects import Object

QUICK = ElectionSettings(
    lease_duration=3, renew_deadline=2.0, retry_period=0.4, request_timeout=1.0
)
# Nobody waits in a test until such a Lease runs out.
LONG = ElectionSettings(
    lease_duration=600, renew_deadline=300.0, retry_period=0.4, request_timeout=1.0
)


LEASE = "bailiff-worker-0-of-1"
ALONE = (Shard(),)


class Process:
    """A worker as a process would have it, but that it can be killed within this one."""

    def __init__(self, cluster, namespace, identity, shards=ALONE, times=QUICK) -> None:
        self._stop = asyncio.Event()
        clock = SystemClock()
        names = lease_names(NAME, shards)
        leases = {one: LeaseStore(cluster, namespace, name) for one, name in names.items()}
        self.elector = Elector(leases, clock, identity, times)
        self.fenced = cluster.fenced(self.elector.may_act)
        self.registry = CollectorRegistry()
        settings = WorkerSettings(shutdown_grace=5.0, shards=shards)
        actions = ClusterActions(self.fenced, instance=identity)
        self.worker = Worker(actions, clock, self.registry, settings, self.elector)
        watches = Watches(cluster, clock, WatchMetrics(self.registry))
        running = self.worker.run(watches.pods(), watches.nodes(), self._stop)
        self._task = asyncio.create_task(running)

    @property
    def leads(self) -> bool:
        return self.elector.may_act()

    @property
    def warm(self) -> bool:
        return self.worker.mirror.synced

    @property
    def deletions(self) -> float:
        name = "taint_eviction_controller_pod_deletions_total"
        return self.registry.get_sample_value(name) or 0.0

    async def kill(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def terminate(self) -> None:
        self._stop.set()
        if not self._task.done():
            await self._task


@pytest.fixture
async def start(cluster, bench):
    started = []

    async def _start(identity, shards=ALONE, *more):
        await make_leases(cluster, bench.namespace, *shards)
        process = Process(cluster, bench.namespace, identity, shards, *more)
        started.append(process)
        await until(lambda: process.warm)
        return process

    yield _start
    for process in started:
        await process.terminate()


@pytest.fixture
async def pair(start):
    """The leader, and its standby."""
    first = await start("first")
    await until(lambda: first.leads)
    return first, await start("second")


async def record(cluster, bench):
    lease = await LeaseStore(cluster, bench.namespace, LEASE).read()
    assert lease is not None
    return lease.record


async def test_a_lease_is_written_as_kubernetes_reads_it(cluster, bench):
    store = LeaseStore(cluster, bench.namespace, "l")
    assert await store.read() is None
    now = SystemClock().now()
    ours = LeaseRecord(
        holder_identity="a", lease_duration_seconds=15, acquire_time=now, renew_time=now
    )
    assert await store.create()
    made = await store.read()
    assert made is not None
    # Held by nobody.
    assert made.record == LeaseRecord()
    first = await store.write(made, ours)
    # To the microsecond: a process knows its own Lease by it.
    assert first.record == ours
    # One that there is stays as it is.
    assert not await store.create()
    assert await store.read() == first
    labels = {"metadata": {"labels": {"team": "platform"}}}
    await cluster.patch(LEASES, "l", bench.namespace, labels)
    with pytest.raises(ConflictError):
        await store.write(first, ours)
    seen = await store.read()
    assert seen is not None
    released = LeaseRecord(lease_duration_seconds=1, lease_transitions=1)
    assert (await store.write(seen, released)).record == released
    kept = await cluster.get(LEASES, "l", bench.namespace)
    assert kept["metadata"]["labels"] == {"team": "platform"}


async def test_of_two_workers_exactly_one_acts(bench, cluster, pair):
    leader, standby = pair
    node = await bench.node()
    pods = [await bench.pod(f"pod-{number}", node=node) for number in range(10)]
    await bench.taint(node, taint(KEY))
    await until(lambda: leader.deletions == 10)
    for pod in pods:
        assert await is_going(bench, name_of(pod))
        await until(partial(messages, bench, pod))
        assert len(await messages(bench, pod)) == 1
    assert (standby.deletions, standby.leads) == (0, False)
    assert (await record(cluster, bench)).holder_identity == "first"
    with pytest.raises(FencedError):
        await standby.fenced.delete(LEASES, LEASE, bench.namespace)


async def test_a_worker_that_ends_in_order_hands_over_at_once(bench, cluster, start):
    leader = await start("first", ALONE, LONG)
    await until(lambda: leader.leads)
    standby = await start("second", ALONE, LONG)
    await leader.terminate()
    await until(lambda: standby.leads)
    assert (await record(cluster, bench)).lease_transitions == 1
    node = await bench.node()
    await bench.pod("plain", node=node)
    await bench.taint(node, taint(KEY))
    await until(lambda: is_going(bench, "plain"))


async def test_a_worker_that_was_killed_is_followed_when_its_lease_has_run_out(
    bench, cluster, pair
):
    leader, standby = pair
    node = await bench.node()
    await bench.pod("plain", node=node)
    await leader.kill()
    await bench.taint(node, taint(KEY))
    await until(lambda: is_going(bench, "plain"))
    assert standby.leads
    assert not leader.leads
    assert (await record(cluster, bench)).lease_transitions == 1


async def test_shards_divide_the_nodes_and_each_has_a_lease(bench, cluster, start):
    processes = [await start(f"shard-{index}", (Shard(index, 2),)) for index in range(2)]
    await until(lambda: all(process.leads for process in processes))
    nodes: list[str] = []
    while {shard_of(node, 2) for node in nodes} != {0, 1} or len(nodes) < 6:
        nodes.append(await bench.node())
        await bench.pod(f"on-{nodes[-1]}", node=nodes[-1])
    for node in nodes:
        await bench.taint(node, taint(KEY))
    for node in nodes:
        await until(partial(is_going, bench, f"on-{node}"))
    spread = [float(sum(shard_of(node, 2) == index for node in nodes)) for index in range(2)]
    await until(lambda: [process.deletions for process in processes] == spread)
    for index in range(2):
        lease = await cluster.get(LEASES, f"bailiff-worker-{Shard(index, 2)}", bench.namespace)
        assert lease["spec"]["holderIdentity"] == f"shard-{index}"


async def test_a_worker_makes_no_lease_and_leads_once_there_is_one(bench, cluster):
    process = Process(cluster, bench.namespace, "early")
    try:
        await until(process.elector.complaints)
        [said] = process.elector.complaints()
        assert f"bailiff leases create --lease-namespace {bench.namespace}" in said
        assert await LeaseStore(cluster, bench.namespace, LEASE).read() is None
        await make_leases(cluster, bench.namespace)
        await until(lambda: process.leads)
        assert process.elector.complaints() == []
    finally:
        await process.terminate()


async def of_all_shards(start, number, count):
    """So many workers that take any of `count` shards, as soon as those are taken."""
    found = [await start(f"{one}-of-{count}", Shard.all_of(count)) for one in range(number)]
    await until(lambda: sum(process.leads for process in found) == min(number, count))
    return found


async def populated(bench, count):
    """Nodes of all shards of this number with a pod each; the pods by node."""
    pods: dict[str, Object] = {}
    while {shard_of(node, count) for node in pods} != set(range(count)) or len(pods) < 6:
        node = await bench.node()
        pods[node] = await bench.pod(f"on-{node}", node=node)
    return pods


async def test_the_shard_of_a_worker_on_a_dead_node_is_taken_by_the_one_that_stands_by(
    bench, start
):
    found = await of_all_shards(start, 3, 2)
    [spare] = (process for process in found if not process.leads)
    pods = await populated(bench, 2)
    victim = next(process for process in found if process.leads)
    dead = victim.worker.held_shard.shard
    await victim.kill()
    for node in pods:
        await bench.taint(node, taint(KEY))
    for pod in pods.values():
        await until(partial(is_going, bench, name_of(pod)))
    assert spare.worker.held_shard.shard == dead
    # It counts once it has been answered, after the pods are seen to go.
    await until(lambda: spare.deletions == sum(dead.owns(node) for node in pods))


async def test_two_numbers_of_shards_at_once_leave_no_node_alone_and_no_pod_goes_twice(
    bench, start
):
    found = await of_all_shards(start, 2, 2) + await of_all_shards(start, 3, 3)
    assert all(process.leads for process in found)
    pods = await populated(bench, 3)
    for node in pods:
        await bench.taint(node, taint(KEY))
    for pod in pods.values():
        await until(partial(is_going, bench, name_of(pod)))
        # Both workers of a node may tell of it; what they say is one Event.
        await until(partial(messages, bench, pod))
        assert len(await messages(bench, pod)) == 1
    await until(lambda: all(process.worker.pending.unfinished == 0 for process in found))
    await until(lambda: sum(process.deletions for process in found) >= len(pods))
    assert sum(process.deletions for process in found) == len(pods)
