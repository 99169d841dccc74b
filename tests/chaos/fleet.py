"""Nodes and pods, and what is expected of each pod, by UID."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from bailiff.cluster import AlreadyExistsError, Cluster, ClusterError, NotFoundError, PatchType
from tests.harness.api import NAMESPACES, NODES, PODS, name_of, uid_of
from tests.harness.objects import node_object, object_of, pod_object, tolerating

T = TypeVar("T")
KEY = "example.com/chaos"
_AT_A_TIME = 16
_INSISTENCE = 90.0


@dataclass
class Expected:
    """One pod that was there.

    Attributes:
        seconds: what it tolerates; None is for ever.
        goes: whether it is to be evicted.
        removed: we ourselves have deleted it.
    """

    name: str
    node: str
    seconds: int | None
    goes: bool
    removed: bool = False


class Fleet:
    """The objects of one scenario."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.pods: dict[str, Expected] = {}
        self.nodes: list[str] = []
        self.tainted_at = 0
        self._taints_from: dict[str, float] = {}

    async def set_up(self, nodes: int, *, bare: bool = False) -> list[str]:
        """The namespace and the nodes; the nodes' names.

        Of bare nodes the API server keeps no managedFields, see `node_object`.
        """
        await self.cluster.create(NAMESPACES, object_of("Namespace", self.namespace))
        names = [f"{self.namespace}-{number}" for number in range(nodes)]
        for name in names:
            node = object_of("Node", name) if bare else node_object(name)
            await self.cluster.create(NODES, node)
        self.nodes = names
        return names

    async def add(self, prefix: str, node: str, seconds: int | None, *, goes: bool) -> str:
        """A pod; its name."""
        name = f"{prefix}-{len(self.pods)}"
        self.pods[f"placeholder of {name}"] = Expected(name, node, seconds, goes)
        uid = await self._create(name, node, seconds)
        self.pods[uid] = self.pods.pop(f"placeholder of {name}")
        return uid

    async def spread(
        self, count: int, nodes: list[str], longest: int, *, shortest: int = 1
    ) -> None:
        """Pods to be evicted at `shortest` to `longest` seconds."""
        around = itertools.cycle(nodes)
        width = longest - shortest + 1
        wanted = [(next(around), shortest + number * width // count) for number in range(count)]
        await each(lambda one: self.add("timed", *one, goes=True), wanted)

    async def reborn(self, uid: str) -> None:
        """Replace a pod by one of the same name that tolerates for ever."""
        old = self.pods[uid]
        old.removed, old.goes = True, False
        await insist(lambda: self._remove(old.name))
        fresh = await insist(lambda: self._create(old.name, old.node, None))
        self.pods[fresh] = Expected(old.name, old.node, None, goes=False)

    async def taint(self, names: list[str]) -> None:
        """Taint them all; every other taint says itself since when, the rest do not."""
        self.tainted_at = int(time.time())
        added = datetime.fromtimestamp(self.tainted_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for number, name in enumerate(names):
            timed = number % 2 == 0
            taint = {"key": KEY, "effect": "NoExecute"} | ({"timeAdded": added} if timed else {})
            self._taints_from[name] = self.tainted_at if timed else time.time()
            await self._patch_taints(name, [taint])

    async def taint_undated(self, names: list[str]) -> None:
        """Taint them all as `kubectl taint` does; what pods tolerate counts from now."""

        async def taint(name: str) -> None:
            self._taints_from[name] = time.time()
            await insist(lambda: self._patch_taints(name, [{"key": KEY, "effect": "NoExecute"}]))

        await each(taint, names)

    async def untaint(self, *names: str) -> None:
        """Take the taint away again."""
        await each(lambda name: insist(lambda: self._patch_taints(name, [])), names)

    def deadline(self, pod: Expected) -> float:
        """The instant, in seconds since 1970, before which it must not go.

        Of a taint that does not say since when, nobody can have known before it was sent. What
        the worker writes down on the node is no bound: a worker that is killed before its write
        succeeds has rightly evicted by what it saw, and its successor writes a later instant.
        """
        return self._taints_from[pod.node] + (pod.seconds or 0)

    async def _create(self, name: str, node: str, seconds: int | None) -> str:
        body = pod_object(name, nodeName=node, tolerations=[tolerating(seconds, KEY)])
        try:
            made = await self.cluster.create(PODS, body, self.namespace)
        except AlreadyExistsError:
            # An earlier try was done, and its answer lost.
            made = await self.cluster.get(PODS, name, self.namespace)
        assert name_of(made) == name
        return uid_of(made)

    async def _remove(self, name: str) -> None:
        try:
            await self.cluster.delete(PODS, name, self.namespace, grace_period_seconds=0)
        except NotFoundError:
            return

    async def _patch_taints(self, name: str, taints: list[dict[str, str]]) -> None:
        body = {"spec": {"taints": taints}}
        await self.cluster.patch(NODES, name, "", body, patch_type=PatchType.MERGE)


async def insist(act: Callable[[], Awaitable[T]]) -> T:
    """Do it until the API server has done it."""
    async with asyncio.timeout(_INSISTENCE):
        while True:
            try:
                return await act()
            except ClusterError:
                await asyncio.sleep(0.3)


async def each(act: Callable[[T], Coroutine[Any, Any, Any]], things: Iterable[T]) -> None:
    """For all of them, some at a time."""
    left = iter(things)

    async def some() -> None:
        for thing in left:
            await act(thing)

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_A_TIME):
            group.create_task(some())
