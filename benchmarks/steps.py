"""The longest step of the worker's event loop at 150,000 pods and 5,000 nodes, for all it does.

`python -m benchmarks.steps`. While a step lasts nobody else has a turn: no Lease is renewed, no
probe is answered. Measured is the CPU time of a whole round of the loop, the longest of each
activity, beside that of the activity in all: what the machine does besides makes no difference.
The yardstick is one look at each pod in a plain loop. At the end comes the memory of a pod, before
and after 25,000 owners have come and gone.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

import structlog
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from bailiff.clock import SystemClock
from bailiff.cluster import Changed, Replaced
from bailiff.cluster.slimming import PodSlimmer
from bailiff.decisions import Options
from bailiff.decisions.policies import (
    NO_POLICIES,
    BlastRadius,
    Cause,
    Exclusion,
    LabelSelector,
    Limit,
    Limits,
    Pause,
    PauseNotice,
    Policies,
)
from bailiff.kinds import (
    DeviceTaintRule,
    Node,
    NodeMeta,
    NodeSpec,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodSpec,
    PodStatus,
    Taint,
    Toleration,
)
from bailiff.worker import Comparison, Observed, ShadowActions, Shard, Worker, WorkerSettings
from bailiff.worker.mirror.slices import in_turns
from bailiff.worker.observe.queue_query import QueueQuery
from bailiff.worker.observe.wanted import Report, Wanted, listing_of
from bailiff.worker.systems.device_taints.devices import Devices, Kind
from bailiff.worker.timers.marks import Marks
from benchmarks import device_taints

PODS, NODES = 150_000, 5_000
CROWD = 30_000
PATIENT = (Toleration(operator="Exists", effect="NoExecute", toleration_seconds=36_000),)
TAINT = Taint(key="maintenance", effect="NoExecute", time_added=datetime.now(UTC))


def node(number: int, *taints: Taint) -> Node:
    return Node(metadata=NodeMeta(name=f"node-{number}"), spec=NodeSpec(taints=taints))


def pod(number: int, owner: int, version: int = 1, on: int | None = None) -> Pod:
    meta = ObjectMeta(
        name=f"pod-{number}",
        namespace=f"team-{number % 300}",
        uid=f"uid-{number}",
        resource_version=str(version),
        owner_references=(OwnerReference(kind="ReplicaSet", name=f"o-{owner}", uid=f"o-{owner}"),),
    )
    spec = PodSpec(node_name=f"node-{number % NODES if on is None else on}", tolerations=PATIENT)
    return Pod(metadata=meta, spec=spec, status=PodStatus(phase="Running"))


def fleet(version: int = 1) -> tuple[Pod, ...]:
    return tuple(pod(number, number // 10, version) for number in range(PODS))


class Steps:
    """Sees how long each round of the loop takes."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def watch(self) -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            self.longest = max(self.longest, time.thread_time() - before)

    async def of(self, what: str, act: Callable[[], Awaitable[object]]) -> None:
        await asyncio.sleep(0.01)
        self.longest, began = 0.0, time.thread_time()
        await act()
        await asyncio.sleep(0)
        took = time.thread_time() - began
        print(f"{what:44}{self.longest * 1000:9.1f}{took * 1000:10.0f}", flush=True)


class Scene:
    """A worker at work on paper, and what happens to it."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        clock = SystemClock()
        actions = ShadowActions(Comparison(clock))
        self.worker = Worker(actions, clock, self.registry, WorkerSettings(on_paper=True))
        self.mirror = self.worker.mirror
        self.seen = Observed(self.worker, self.registry, self.worker.trust({}))

    async def through(self) -> None:
        """Until every mark is worked off, and all that is due has been looked at."""
        while self.worker.evaluator.backlog:  # noqa: ASYNC110 - it is the turns that are measured
            await asyncio.sleep(0)

    async def listed(self, pods: tuple[Pod, ...]) -> None:
        await self.mirror.apply_pod(Replaced(pods, "1"))
        await self.through()

    async def tainted(self, *taints: Taint) -> None:
        for number in range(NODES):
            await self.worker.mirror.apply_node(Changed(node(number, *taints)))
        await self.through()

    async def tainted_one(self) -> None:
        await self.worker.mirror.apply_node(Changed(node(NODES, TAINT)))
        await self.through()

    async def marked(self) -> None:
        self.worker.evaluator.mark_all()
        await self.through()

    async def asked(self, wanted: Wanted) -> None:
        await self.seen.take(wanted)

    async def governed(self, policies: Policies) -> None:
        self.worker.set_policies(policies)
        await self.settled()

    async def paused(self, notice: PauseNotice | None) -> None:
        self.worker.set_pause(notice)
        await self.settled()

    async def excluded(self, labels: Mapping[str, Mapping[str, str]]) -> None:
        self.worker.set_namespaces(labels)
        await self.settled()

    async def settled(self) -> None:
        """The gate looks at what has changed whenever it is asked."""
        gate, clock = self.worker.gate, SystemClock()
        for _ in range(100_000):
            gate.take()
            await asyncio.sleep(0)
            due = gate.next_due()
            if not self.worker.evaluator.backlog and (due is None or due > clock.elapsed()):
                return


async def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    # As the worker's process does.
    gc.collect()
    gc.freeze()
    pods = fleet()
    began = time.thread_time()
    sum(one.spec.node_name != "" for one in pods)
    print(f"{PODS:,} pods, {NODES:,} nodes; milliseconds: longest step, in all")
    yardstick = time.thread_time() - began
    print(f"{'yardstick: a plain loop over all pods':44}{yardstick * 1000:9.1f}")
    scene, steps = Scene(), Steps()
    async with asyncio.TaskGroup() as group:
        tasks = (group.create_task(steps.watch()), group.create_task(scene.worker.evaluator.run()))
        await ungoverned(scene, steps)
        await held(scene, steps)
        await devices(steps)
        for task in tasks:
            task.cancel()


async def ungoverned(scene: Scene, steps: Steps) -> None:
    """What there is to do without policies."""
    nodes = tuple(node(number) for number in range(NODES + 1))
    first, second = fleet(1), fleet(2)
    await steps.of("nodes listed", lambda: scene.worker.mirror.apply_node(Replaced(nodes, "1")))
    await steps.of("pods listed", lambda: scene.listed(first))
    await steps.of(
        "nodes listed again", lambda: scene.worker.mirror.apply_node(Replaced(nodes, "1"))
    )
    await steps.of("pods listed again", lambda: scene.listed(second))
    await steps.of("every node tainted", lambda: scene.tainted(TAINT))
    await steps.of("everything looked at again", scene.marked)
    await steps.of("a snapshot of /v1/queue", lambda: scene.asked(listing_of(QueueQuery())))
    held_back = listing_of(QueueQuery(cause=Cause.BUDGET))
    await steps.of("the same by a cause", lambda: scene.asked(held_back))
    await steps.of("a snapshot of /metrics", lambda: scene.asked(Report.METRICS))

    async def collected() -> None:
        gc.collect()

    await steps.of("Python's garbage collector, all generations", collected)
    await steps.of("every node untainted", scene.tainted)
    for number in range(CROWD):
        await scene.mirror.apply_pod(Changed(pod(PODS + number, number, on=NODES)))
    await scene.through()
    await steps.of(f"one node of {CROWD:,} pods tainted", scene.tainted_one)


async def held(scene: Scene, steps: Steps) -> None:
    """All pods due, and policies in between."""
    one_at_a_time = Limits(total=Limit(concurrency=1))
    pausing = Policies(pause=Pause(namespace="kube-system"), limits=one_at_a_time)
    limited = Policies(limits=Limits(total=Limit(per_second=1), per_node=Limit(per_second=1)))
    await scene.governed(pausing)
    await scene.paused(PauseNotice(by="anna"))
    now = Taint(key="gone", effect="NoExecute", time_added=datetime(2026, 1, 1, tzinfo=UTC))
    await steps.of("every node tainted, all due, paused", lambda: scene.tainted(now))
    await steps.of("and looked at by the gate", scene.settled)
    await steps.of("other policies", lambda: scene.governed(limited))
    await steps.of("a snapshot of /metrics, all due", lambda: scene.asked(Report.METRICS))
    limited_by = listing_of(QueueQuery(cause=Cause.RATE_LIMITED))
    await steps.of("of those held by a limit", lambda: scene.asked(limited_by))
    await steps.of("pausing policies", lambda: scene.governed(pausing))
    await steps.of("the pause ends", lambda: scene.paused(None))
    await steps.of("paused again", lambda: scene.paused(PauseNotice(by="anna")))
    selector = LabelSelector(match_labels={"evict": "never"})
    excluding = Policies(exclude=Exclusion(namespace_selector=selector), limits=one_at_a_time)
    await steps.of("labels are asked for", lambda: scene.governed(excluding))
    labels = {f"team-{number}": {"evict": "never"} for number in range(300)}
    await steps.of("labels of namespaces are known", lambda: scene.excluded(labels))
    radius = Policies(blast_radius=BlastRadius(max_pods=1), limits=one_at_a_time)
    await steps.of("a blast radius", lambda: scene.governed(radius))
    await steps.of("another", lambda: scene.governed(replace(radius, protection=True)))
    await steps.of("no policies", lambda: scene.governed(NO_POLICIES))


async def devices(steps: Steps) -> None:
    """One rule over 20,000 claims comes, is counted for its status, and goes."""
    known = Devices(Options(explain=False), Marks(Shard()))
    known.index = device_taints.filled()
    harmless = replace(
        device_taints.RULE,
        spec=replace(device_taints.RULE.spec, taint=replace(device_taints.TAINT, effect="None")),
    )

    def of(rule: DeviceTaintRule) -> Callable[[], Awaitable[object]]:
        return lambda: known.apply(Kind.RULES, Changed(rule))

    async def counted() -> None:
        (rule,) = known.index.rules.values()
        await in_turns(known.index.counting_status(rule, 0, datetime.now(UTC)))

    what = f"a DeviceTaintRule over {len(known.index.claims):,} claims"
    await steps.of(what, of(device_taints.RULE))
    await steps.of("its status", counted)
    await steps.of("it evicts nobody any more", of(harmless))
    await steps.of("its status, what it would do", counted)


def memory() -> None:
    """Bytes a pod, at first and after many owners have come and gone."""
    count, dead = 20_000, 25_000
    slim = PodSlimmer()

    def taken_in() -> float:
        tracemalloc.start()
        kept = [slim(pod(number, number // 10)) for number in range(count)]
        used, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return used / len(kept)

    before = taken_in()
    for owner in range(dead):
        slim(pod(owner, PODS + owner))
    print(f"memory of a pod: {before:.0f} bytes, after {dead:,} dead owners {taken_in():.0f}")


if __name__ == "__main__":
    asyncio.run(main())
    memory()
