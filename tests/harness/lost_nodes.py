"""Nodes on an API server that renew their Leases as kubelets do, until they do not."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bailiff.cluster import NotFoundError, PatchType, Resource
from tests.harness.api import NODES, PODS, name_of
from tests.harness.objects import node_object, object_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.harness.api import Bench
    from tests.harness.objects import Object

LEASES: Resource[Object] = Resource("coordination.k8s.io", "v1", "leases", dict)
EVENTS: Resource[Object] = Resource("", "v1", "events", dict)
NODE_LEASES = "kube-node-lease"
ZONE = "topology.kubernetes.io/zone"
# Seconds: a tenth of a kubelet's, as all times of these tests are a tenth and less.
RENEW_EVERY = 1.0


def rfc3339(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Fleet:
    """Nodes with a kubelet each.

    Attributes:
        silent: those that do not renew.
        clock_off: seconds by which the clocks of nodes are ahead, by name.
        renewed: seconds since 1970, by the true clock, of each node's last sign of life.
    """

    def __init__(self, bench: Bench, renew_every: float = RENEW_EVERY) -> None:
        self.bench = bench
        self._renew_every = renew_every
        self.silent: set[str] = set()
        self.clock_off: dict[str, float] = {}
        self.renewed: dict[str, float] = {}
        self._nodes: list[str] = []

    async def add(self, number: int, zone: str) -> list[str]:
        """So many nodes that are ready, in a zone."""
        names = [f"{zone}-{index}-{secrets.token_hex(2)}" for index in range(number)]
        await asyncio.gather(*(self._make(name, zone) for name in names))
        self._nodes += names
        return names

    async def _make(self, name: str, zone: str) -> None:
        body = node_object(name)
        body["metadata"]["labels"] = {ZONE: zone}
        await self.bench.cluster.create(NODES, body)
        await self.say_ready(name, "True")
        lease = object_of("Lease", name)
        lease["apiVersion"] = "coordination.k8s.io/v1"
        lease["spec"] = {"holderIdentity": name, "leaseDurationSeconds": 40}
        await self.bench.cluster.create(LEASES, lease, NODE_LEASES)
        await self.renew(name)

    async def say_ready(self, name: str, status: str) -> None:
        """Write the condition, as a kubelet or the node lifecycle controller does."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {
            "type": "Ready",
            "status": status,
            "reason": "Test",
            "message": "",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        body = {"status": {"conditions": [ready]}}
        await self.bench.cluster.patch(
            NODES, name, "", body, patch_type=PatchType.STRATEGIC, subresource="status"
        )

    async def renew(self, name: str) -> None:
        now = self.renewed[name] = datetime.now(UTC).timestamp()
        at = datetime.fromtimestamp(now + self.clock_off.get(name, 0.0), UTC)
        body = {"spec": {"renewTime": rfc3339(at)}}
        with contextlib.suppress(NotFoundError):
            await self.bench.cluster.patch(
                LEASES, name, NODE_LEASES, body, patch_type=PatchType.MERGE
            )

    async def come_back(self, *names: str) -> None:
        self.silent.difference_update(names)
        for name in names:
            await self.renew(name)
            await self.say_ready(name, "True")

    @contextlib.asynccontextmanager
    async def living(self) -> AsyncIterator[Fleet]:
        """Renew all the time; leave nothing behind."""
        task = asyncio.create_task(self._live())
        try:
            yield self
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await asyncio.gather(*(self._drop(name) for name in self._nodes))

    async def _live(self) -> None:
        while True:
            awake = [name for name in self._nodes if name not in self.silent]
            await asyncio.gather(*(self.renew(name) for name in awake))
            await asyncio.sleep(self._renew_every)

    async def _drop(self, name: str) -> None:
        for resource, namespace in ((NODES, ""), (LEASES, NODE_LEASES)):
            with contextlib.suppress(NotFoundError):
                await self.bench.cluster.delete(resource, name, namespace)

    # Pods.

    async def pod(
        self, name: str, node: str, owner: str = "ReplicaSet", claim: str = "", grace: int = 1
    ) -> Object:
        """A running, ready pod that belongs to an owner of this kind."""
        references = [
            {
                "apiVersion": "apps/v1",
                "kind": owner,
                "name": f"of-{name}",
                "uid": "11111111-1111-1111-1111-111111111111",
                "controller": True,
            }
        ]
        pod = await self.bench.pod(name, node=node, ownerReferences=references)
        ready = {"type": "Ready", "status": "True"}
        return await self.bench.set_status(pod, phase="Running", conditions=[ready])

    async def get(self, name: str) -> Object | None:
        """A pod; None: it is gone."""
        with contextlib.suppress(NotFoundError):
            return await self.bench.get(name)
        return None

    async def is_gone(self, name: str) -> bool:
        return await self.get(name) is None

    async def is_ending(self, name: str) -> bool:
        """It was deleted, and may be there still: no kubelet ends it."""
        pod = await self.get(name)
        return pod is None or "deletionTimestamp" in pod["metadata"]

    async def node(self, name: str) -> Object:
        return await self.bench.cluster.get(NODES, name)

    async def taints(self, name: str) -> list[str]:
        return [one["key"] for one in (await self.node(name))["spec"].get("taints", [])]

    async def events(self, about: str) -> list[str]:
        """Reasons of the Events about an object."""
        found: list[Any] = []
        for namespace in (self.bench.namespace, "default"):
            found += (await self.bench.cluster.list(EVENTS, namespace=namespace)).items
        return [one["reason"] for one in found if one["involvedObject"]["name"] == about]

    async def pods(self) -> list[str]:
        listed = await self.bench.cluster.list(PODS, namespace=self.bench.namespace)
        return [name_of(one) for one in listed.items]
