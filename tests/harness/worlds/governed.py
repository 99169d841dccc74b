"""A world with policies: nodes in zones, pods with labels, and a look at what is held."""

from __future__ import annotations

from typing import Any

from bailiff.decisions.policies import NO_POLICIES, Policies
from bailiff.kinds import LABEL_ZONE, Annotations, Pod, Taint
from bailiff.worker.observe.queue_query import QueueQuery
from tests.harness.kinds import no_execute, node_of, pod_of
from tests.harness.pages import queue_page
from tests.harness.worlds.calls import Call
from tests.harness.worlds.world import YESTERDAY, World

NOT_READY = no_execute("node.kubernetes.io/not-ready")


class Governed(World):
    """The world, where names of nodes tell their zone: `eu/n1`."""

    def __init__(self, policies: Policies = NO_POLICIES, **others: Any) -> None:
        super().__init__(policies=policies, **others)
        self.begun: list[tuple[float, str]] = []

    def node(self, name: str, *taints: Taint, acknowledged: str = "") -> None:
        """Add a node, or replace it."""
        zone = name.partition("/")[0] if "/" in name else ""
        labels = {LABEL_ZONE: zone} if zone else {}
        annotations = Annotations(acknowledged_taints=acknowledged)
        self._put_node(node_of(name, *taints, labels=labels, annotations=annotations))

    def pod(self, name: str, node: str = "n1", *tolerations, **meta: Any) -> Pod:
        """Add a pod, or replace it; its namespace is what stands before a slash."""
        namespace = name.partition("/")[0] if "/" in name else "default"
        usual: dict[str, Any] = {
            "namespace": namespace,
            "uid": f"uid-{name}",
            "creation_timestamp": YESTERDAY,
        }
        return self.put(pod_of(name, node, *tolerations, **usual | meta))

    def tainted(self, *nodes: str) -> None:
        """Taint nodes, so that their pods are to go."""
        for name in nodes:
            self.node(name, no_execute())

    async def _arrive(self, call: Call) -> None:
        # The patch begins an eviction that the delete ends; an eviction by its API is one request.
        if call.verb != "delete":
            self.begun.append((self.clock.monotonic(), call.name))
        await super()._arrive(call)

    def order(self) -> list[str]:
        """Who went, in the order they went."""
        return [name for _, name, _ in self.deleted]

    def backlog(self) -> dict[str, float]:
        """What the metric says, without noughts."""
        found = {}
        for metric in self.registry.collect():
            if metric.name == "bailiff_worker_backlog":
                found = {s.labels["cause"]: s.value for s in metric.samples if s.value}
        return found

    def queue(self, **query: Any) -> list[dict[str, Any]]:
        """What /v1/queue shows."""
        page = queue_page(self.worker.pending, QueueQuery(**query))
        shown: list[dict[str, Any]] = page["evictions"]
        return shown

    def held(self, name: str) -> dict[str, Any]:
        """What /v1/queue shows of the hold of a pod that is held."""
        (shown,) = self.queue(name=name)
        hold: dict[str, Any] = shown["hold"]
        return hold
