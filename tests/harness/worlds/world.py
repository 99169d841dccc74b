"""A small world in virtual time: a cluster that the worker watches and acts on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry

from bailiff.cluster import (
    Changed,
    ClusterError,
    ConflictError,
    Deleted,
    DisruptionBudgetError,
    NotFoundError,
    Replaced,
    UidMismatchError,
)
from bailiff.decisions import EventNote
from bailiff.decisions.policies import NO_POLICIES
from bailiff.kinds import Node, Pod, PodCondition, Taint, Toleration
from bailiff.worker import Election, Worker, WorkerSettings
from tests.harness.clocks import START, LoopClock
from tests.harness.kinds import no_execute, node_of, pod_of

YESTERDAY = START - timedelta(days=1)


class FakeWatch:
    """Events by hand."""

    def __init__(self) -> None:
        self._events: asyncio.Queue = asyncio.Queue()

    def send(self, event) -> None:
        self._events.put_nowait(event)

    async def events(self) -> AsyncGenerator:
        while True:
            yield await self._events.get()


class World:
    """The cluster: pods and nodes by name, and a diary of what was done to them and when."""

    def __init__(
        self,
        audit_log=None,
        election: Election | None = None,
        policies=NO_POLICIES,
        held: Callable[[], float] = lambda: 0.0,
        **settings,
    ) -> None:
        self.clock = LoopClock()
        self.pods: dict[str, Pod] = {}
        self.nodes: dict[str, Node] = {}
        self.pod_watch, self.node_watch = FakeWatch(), FakeWatch()
        self.deleted: list[tuple[float, str, str]] = []
        self.notes: list[tuple[str, str]] = []
        self.reported: list[tuple[str, str]] = []  # component and reason of each note
        self.requests: list[str] = []
        self.conditions: list[str] = []  # reasons of those that were written
        self.failures: list[ClusterError] = []
        # What forbids the Eviction API to take a pod: in words, or how it says so.
        self.budgets: dict[str, str | ClusterError] = {}
        self.latency = 0.0
        self.annotated: list[str] = []
        self._version = 0
        self.deaf = False  # the watch no longer tells of deletions
        self.registry = CollectorRegistry()
        self.worker = Worker(
            self,
            self.clock,
            self.registry,
            WorkerSettings(**settings),
            election,
            audit_log=audit_log,
            policies=policies,
            held=held,
        )

    def successor(self, **settings) -> World:
        """The same cluster with another worker, as after a restart."""
        heir = World(**settings)
        heir.pods, heir.nodes, heir._version = self.pods, self.nodes, self._version
        return heir

    # What happens to the cluster.

    def taint(self, node: str, *taints: Taint) -> None:
        fresh = node_of(node, *taints)
        if node in self.nodes:
            fresh = msgspec.structs.replace(fresh, metadata=self.nodes[node].metadata)
        self._put_node(fresh)

    def _put_node(self, node: Node) -> None:
        self._version += 1
        metadata = msgspec.structs.replace(node.metadata, resource_version=str(self._version))
        self.nodes[metadata.name] = node = msgspec.structs.replace(node, metadata=metadata)
        self.node_watch.send(Changed(node))

    def remove_node(self, node: str) -> None:
        self.node_watch.send(Deleted(self.nodes.pop(node)))

    def add_pod(self, name: str, *tolerations: Toleration, node="n1", uid="", phase="Running"):
        meta: dict[str, Any] = {"uid": uid or f"uid-{name}", "creation_timestamp": YESTERDAY}
        pod = pod_of(name, node, *tolerations, phase=phase, **meta)
        self.put(pod)
        return pod

    def put(self, pod: Pod) -> None:
        self.pods[pod.metadata.name] = pod
        self.pod_watch.send(Changed(pod))

    def remove_pod(self, name: str) -> None:
        self.pod_watch.send(Deleted(self.pods.pop(name)))

    # The port that the worker acts through.

    async def set_condition(self, pod: Pod, condition: PodCondition, now: datetime) -> Pod:
        current = await self._serve("patch", pod)
        self.conditions.append(condition.reason)
        status = msgspec.structs.replace(current.status, conditions=(condition,))
        fresh = msgspec.structs.replace(current, status=status)
        self.pods[pod.metadata.name] = fresh
        return fresh

    async def delete(self, pod: Pod, grace_period_seconds: int | None) -> None:
        current = await self._serve("delete", pod)
        self._take(pod, current)

    async def evict(self, pod: Pod) -> None:
        current = await self._serve("evict", pod)
        words = self.budgets.get(pod.metadata.name)
        if isinstance(words, ClusterError):
            raise words
        if words is not None:
            details = {"causes": [{"reason": "DisruptionBudget", "message": words}]}
            raise DisruptionBudgetError("Cannot evict pod", status=429, details=details)
        self._take(pod, current)

    def _take(self, pod: Pod, current: Pod) -> None:
        if current is not pod:
            raise ConflictError("the pod has changed", status=409)
        name = pod.metadata.name
        self.deleted.append((self.clock.monotonic(), name, pod.metadata.uid))
        gone = self.pods.pop(name)
        if not self.deaf:
            self.pod_watch.send(Deleted(gone))

    async def annotate(self, node: Node, first_observed: str) -> None:
        current = self.nodes[node.metadata.name]
        if current.metadata.resource_version != node.metadata.resource_version:
            raise ConflictError("the node has changed", status=409)
        self.annotated.append(first_observed)
        annotations = msgspec.structs.replace(
            current.metadata.annotations, taints_first_observed=first_observed
        )
        metadata = msgspec.structs.replace(current.metadata, annotations=annotations)
        self._put_node(msgspec.structs.replace(current, metadata=metadata))

    async def record(self, pod: Pod, note: EventNote, now: datetime, component: str = "") -> None:
        self.notes.append((pod.metadata.name, note.message))
        self.reported.append((component, note.reason))

    async def set_rule_condition(self, resource, rule, condition) -> None:
        raise NotImplementedError("see DeviceWorld")

    async def _serve(self, verb: str, pod: Pod) -> Pod:
        self.requests.append(verb)
        await asyncio.sleep(self.latency)
        if self.failures:
            raise self.failures.pop(0)
        current = self.pods.get(pod.metadata.name)
        if current is None:
            raise NotFoundError("pod not found", status=404)
        if current.metadata.uid != pod.metadata.uid:
            raise UidMismatchError("precondition failed", status=409)
        return current

    # The worker's life.

    @contextlib.asynccontextmanager
    async def running(self):
        self.node_watch.send(Replaced(tuple(self.nodes.values()), "1"))
        self.pod_watch.send(Replaced(tuple(self.pods.values()), "1"))
        stop = asyncio.Event()
        task = asyncio.create_task(self._work(stop))
        try:
            await asyncio.sleep(0.001)
            yield
        finally:
            stop.set()
            await task

    async def _work(self, stop: asyncio.Event) -> None:
        await self.worker.run(self.pod_watch, self.node_watch, stop)

    def deletions(self) -> dict[str, float]:
        """Name and second of each deletion, to the millisecond-free second it fell in."""
        return {name: round(at, 1) for at, name, _ in self.deleted}

    def notes_on(self, name: str) -> list[str]:
        return [message for pod, message in self.notes if pod == name]


def tainted(**settings) -> World:
    """A world whose n1 has a NoExecute taint; World's arguments."""
    world = World(**settings)
    world.taint("n1", no_execute())
    return world


def attempts(world: World, outcome: str) -> float:
    """How many attempts came to this outcome."""
    labels = {"outcome": outcome}
    return world.registry.get_sample_value("bailiff_worker_eviction_attempts_total", labels) or 0
