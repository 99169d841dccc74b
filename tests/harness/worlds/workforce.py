"""Several workers on one API server, in virtual time: each with an election, a fence, a way there.

What a test does to the cluster it does to the World; its own worker is not started.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, cast

from prometheus_client import CollectorRegistry

from bailiff.cluster import Cluster, ClusterSettings, Replaced, Request, UnreachableError
from bailiff.cluster.transport import Transport
from bailiff.worker import ClusterActions, Elector, Shard, Worker, WorkerSettings
from tests.harness.worlds.calls import Call, read
from tests.harness.worlds.candidates import LeaseServer, Line
from tests.harness.worlds.fake_watch import FakeWatch
from tests.harness.worlds.world import World


class Broadcast(FakeWatch):
    """A watch that many follow."""

    def __init__(self) -> None:
        super().__init__()
        self._followers: list[FakeWatch] = []

    def send(self, event: object) -> None:
        for follower in self._followers:
            follower.send(event)

    def follow(self, listed: Iterable[object]) -> FakeWatch:
        """All that there is, and what becomes of it."""
        follower = FakeWatch()
        follower.send(Replaced(tuple(listed), "1"))
        self._followers.append(follower)
        return follower


class Shared(World):
    """A World that many watch."""

    def __init__(self) -> None:
        super().__init__()
        self.pods_told, self.nodes_told = Broadcast(), Broadcast()
        self.pod_watch, self.node_watch = self.pods_told, self.nodes_told


class Way:
    """One worker's Transport.

    Attributes:
        cut: nothing that is sent arrives.
        free: while it is not set all requests wait, as for a connection.
        sent: what was sent with the right to.
        sent_for: for which share the worker acted when it sent each of them.
    """

    def __init__(self, server: World, acts_for: Callable[[], Shard | None]) -> None:
        self._server = server
        self._acts_for = acts_for
        self.sent_for: list[Shard | None] = []
        self.cut = False
        self.free = asyncio.Event()
        self.free.set()
        self.sent: list[Call] = []

    async def send(self, request: Request, within: float | None = None) -> bytes:
        await self.free.wait()
        if self.cut:
            raise UnreachableError("connection refused")
        if request.allowed is None or request.allowed():
            self.sent.append(read(request, self._server.clock.monotonic()))
            self.sent_for.append(self._acts_for())
        return await self._server.send(request, within)

    def backoff(self) -> float:
        """The API server never asks to be left alone."""
        return 0.0

    async def close(self) -> None:
        """Nothing is open."""


class Member:
    """One worker of the workforce.

    Attributes:
        way: of its requests, its Leases apart.
        lines: of its Leases.
        worker: itself.
        registry: of its metrics.
    """

    def __init__(
        self, world: Shared, leases: dict[str, LeaseServer], name: str, count: int, **settings: Any
    ) -> None:
        shards = Shard.all_of(count)
        self.way = Way(world, lambda: self.acts_for)
        self.lines = {shard: Line(leases[str(shard)]) for shard in shards}
        self.elector = Elector(dict(self.lines), world.clock, name)
        transport = cast(Transport, self.way)
        client = Cluster(transport, ClusterSettings(), transport).fenced(self.elector.may_act)
        self.registry = CollectorRegistry()
        self.worker = Worker(
            ClusterActions(client, instance=name),
            world.clock,
            self.registry,
            WorkerSettings(shards=shards, **settings),
            self.elector,
        )
        self._world = world
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def acts_for(self) -> Shard | None:
        """Which share it leads, this moment."""
        return self.worker.held_shard.shard if self.elector.may_act() else None

    @property
    def deleted(self) -> set[str]:
        """The names of the pods that it has asked to be deleted."""
        return {call.name for call in self.way.sent if call.verb == "delete"}

    def metric(self, name: str) -> float | None:
        """One of its metrics without labels."""
        return self.registry.get_sample_value(name)

    def start(self, *, blind: bool = False) -> Member:
        """Begin; one that is blind is never told what pods there are."""
        nodes = self._world.nodes_told.follow(self._world.nodes.values())
        pods = self._world.pods_told.follow(self._world.pods.values())
        told = FakeWatch() if blind else pods
        self._task = asyncio.create_task(self.worker.run(told, nodes, self._stop))
        return self

    def isolate(self, cut: bool = True) -> None:
        """Nothing it sends arrives, or all does again."""
        self.way.cut = cut
        for line in self.lines.values():
            line.cut = cut

    async def kill(self) -> None:
        """Its node is dead: no farewell."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def retire(self) -> None:
        """As on SIGTERM."""
        self._stop.set()
        if self._task is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def end(self) -> None:
        """Whatever it is doing."""
        await self.kill()
        for line in self.lines.values():
            await line.close()


class Workforce:
    """The cluster, the Leases and those who work there."""

    def __init__(self) -> None:
        self.world = Shared()
        # By what their names end in: as on the API server, two numbers of shards meet nowhere.
        self.leases: dict[str, LeaseServer] = defaultdict(LeaseServer)
        self.members: list[Member] = []

    def hire(
        self, number: int, count: int, *, blind: bool = False, **settings: Any
    ) -> list[Member]:
        """So many workers that divide the nodes into `count` shares."""
        names = [f"worker-{len(self.members) + one}-of-{count}" for one in range(number)]
        new = [Member(self.world, self.leases, name, count, **settings) for name in names]
        self.members += new
        return [member.start(blind=blind) for member in new]

    def acting(self) -> dict[Shard, list[Member]]:
        """Who acts for which share."""
        found = defaultdict(list)
        for member in self.members:
            if member.acts_for is not None:
                found[member.acts_for].append(member)
        return dict(found)

    def deletions(self) -> list[str]:
        """The names of all pods that were deleted, each as often as it was."""
        return [name for _, name, _ in self.world.deleted]


@contextlib.asynccontextmanager
async def workforce():
    """One that nobody has been hired for; all are dismissed in the end."""
    found = Workforce()
    try:
        yield found
    finally:
        for member in found.members:
            await member.end()
