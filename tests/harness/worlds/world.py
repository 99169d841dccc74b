"""A small world in virtual time: a cluster that the worker watches and acts on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

import msgspec
from prometheus_client import CollectorRegistry

from bailiff.clock import Clock
from bailiff.cluster import Changed, Cluster, ClusterSettings, Deleted, Replaced
from bailiff.cluster.transport import Transport
from bailiff.decisions.policies import NO_POLICIES
from bailiff.kinds import ManagedFieldsEntry, Node, Pod, Taint, Toleration
from bailiff.tracing import NO_TRACER, Tracer
from bailiff.worker import (
    SYSTEMS,
    Actions,
    ClusterActions,
    Election,
    MakeSystem,
    Shared,
    Worker,
    WorkerSettings,
)
from tests.harness.clocks import START, LoopClock
from tests.harness.kinds import edited_at, no_execute, node_of, pod_of
from tests.harness.worlds.api_server import ApiServer

YESTERDAY = START - timedelta(days=1)


class World(ApiServer, ClusterActions):
    """The cluster, and the actions that the worker takes on it, by requests as in earnest.

    What tests set and look at is ApiServer's. They may put something else in the place of an
    action, as of `delete`, to break the way between worker and server.
    """

    def __init__(
        self,
        audit_log=None,
        election: Election | None = None,
        policies=NO_POLICIES,
        systems: Sequence[MakeSystem] = SYSTEMS,
        shared: Shared | None = None,
        tracer: Tracer = NO_TRACER,
        **settings,
    ) -> None:
        ApiServer.__init__(self, LoopClock())
        transport = cast(Transport, self)
        client = Cluster(transport, ClusterSettings(), transport)
        client = client if election is None else client.fenced(election.may_act)
        ClusterActions.__init__(self, client, instance="test")
        self.managed = True  # the API server tells in managedFields of edits of taints
        self.registry = CollectorRegistry()
        self.worker = Worker(
            self.worker_actions(),
            self.worker_clock(),
            self.registry,
            WorkerSettings(**settings),
            election,
            audit_log=audit_log,
            policies=policies,
            systems=systems,
            shared=shared,
            tracer=tracer,
        )

    def worker_actions(self) -> Actions:
        """What the worker does; by requests to this cluster, unless a test says otherwise."""
        return self

    def backoff(self) -> float:
        """Seconds for which the worker's client leaves the API server alone."""
        return 0.0

    def worker_clock(self) -> Clock:
        """The clock that the worker goes by."""
        return self.clock

    def successor(self, **settings) -> World:
        """The same cluster with another worker, as after a restart."""
        heir = World(**settings)
        heir.pods, heir.nodes = self.pods, self.nodes
        heir.managed = self.managed
        return heir

    # What happens to the cluster.

    def taint(self, node: str, *taints: Taint) -> None:
        fresh = node_of(node, *taints)
        if node in self.nodes:
            fresh = msgspec.structs.replace(fresh, metadata=self.nodes[node].metadata)
        self._put_node(fresh)

    def _put_node(self, node: Node) -> None:
        name = node.metadata.name
        before = self.nodes.get(name)
        if before is not None and before.spec.taints == node.spec.taints:
            managed = before.metadata.managed_fields
        else:
            managed = self._edited() if node.spec.taints else ()
        metadata = msgspec.structs.replace(node.metadata, managed_fields=managed)
        self.nodes[name] = msgspec.structs.replace(node, metadata=metadata)
        self.node_watch.send(Changed(self.nodes[name]))

    def _edited(self) -> tuple[ManagedFieldsEntry, ...]:
        """What the API server says of an edit now, by its clock, which nobody steps."""
        if not self.managed:
            return ()
        return edited_at(START + timedelta(seconds=self.clock.monotonic()))

    def remove_node(self, node: str) -> None:
        self.node_watch.send(Deleted(self.nodes.pop(node)))

    def add_pod(self, name: str, *tolerations: Toleration, node="n1", uid="", phase="Running"):
        meta: dict[str, Any] = {"uid": uid or f"uid-{name}", "creation_timestamp": YESTERDAY}
        return self.put(pod_of(name, node, *tolerations, phase=phase, **meta))

    def put(self, pod: Pod) -> Pod:
        """Create it, or write it anew; returns it in its new version."""
        name = pod.metadata.name
        self.pods[name] = pod
        self.pod_watch.send(Changed(self.pods[name]))
        return self.pods[name]

    def remove_pod(self, name: str) -> None:
        self.pod_watch.send(Deleted(self.pods.pop(name)))

    # What the watches tell all over again.

    def relist_pods(self, *lacking: str) -> None:
        """A list of all pods but these, which are said to be gone, whether they are or not."""
        listed = tuple(pod for name, pod in self.pods.items() if name not in lacking)
        self.pod_watch.send(Replaced(listed, "1"))

    def relist_nodes(self, *lacking: str) -> None:
        """The same of nodes."""
        listed = tuple(node for name, node in self.nodes.items() if name not in lacking)
        self.node_watch.send(Replaced(listed, "1"))

    # The worker's life.

    @contextlib.asynccontextmanager
    async def running(self):
        self.relist_nodes()
        self.relist_pods()
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
