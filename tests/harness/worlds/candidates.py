"""Processes that compete for Leases, in virtual time: stopped, cut off, killed at will."""

from __future__ import annotations

import asyncio
import contextlib
import random
import types
from collections.abc import Callable, Sequence
from typing import TypeVar

from bailiff.cluster import (
    ConflictError,
    Lease,
    LeaseRecord,
    NotFoundError,
    UnreachableError,
)
from bailiff.worker import ElectionSettings, Elector, Shard
from tests.harness.clocks import LoopClock

T = TypeVar("T")

DURATION, DEADLINE, RETRY = 15, 10.0, 2.0
# The longest wait between two tries: the retry period with its jitter.
PERIOD = RETRY * 1.2


class LeaseServer:
    """One Lease, and optimistic concurrency as an API server has it."""

    def __init__(self) -> None:
        self.writes: list[tuple[float, LeaseRecord]] = []
        self._version = 0
        self.make()

    def make(self) -> None:
        """As whoever installs the workers makes it: held by nobody."""
        self.lease: Lease | None = self._next(LeaseRecord())

    @property
    def record(self) -> LeaseRecord:
        assert self.lease is not None
        return self.lease.record

    def read(self) -> Lease | None:
        return self.lease

    def write(self, lease: Lease, record: LeaseRecord) -> Lease:
        if self.lease is None:
            raise NotFoundError("no such lease", status=404)
        if lease.object != self.lease.object:
            raise ConflictError("the object has been modified", status=409)
        return self._put(record)

    def _put(self, record: LeaseRecord) -> Lease:
        self.lease = self._next(record)
        self.writes.append((asyncio.get_running_loop().time(), record))
        return self.lease

    def _next(self, record: LeaseRecord) -> Lease:
        self._version += 1
        return Lease(record, {"metadata": {"resourceVersion": str(self._version)}})


class Line:
    """A process's way to the server. What is under way arrives, whatever becomes of the sender."""

    namespace = "kube-system"
    name = "bailiff-worker-0-of-1"

    def __init__(self, server: LeaseServer) -> None:
        self._server = server
        self._under_way: set[asyncio.Task] = set()
        self.failure: Exception | None = None
        self.there = self.back = 0.001
        self.cut = False
        self.mute = False
        self.asked: list[float] = []

    async def read(self) -> Lease | None:
        return await self._ask(self._server.read)

    async def write(self, lease: Lease, record: LeaseRecord) -> Lease:
        return await self._ask(self._server.write, lease, record)

    async def _ask(self, act: Callable[..., T], *arguments: object) -> T:
        self.asked.append(asyncio.get_running_loop().time())
        if self.failure is not None:
            raise self.failure
        if self.cut:
            raise UnreachableError("connection refused")
        travel = asyncio.create_task(self._travel(act, arguments))
        self._under_way.add(travel)
        travel.add_done_callback(self._arrived)
        return await asyncio.shield(travel)

    async def _travel(self, act: Callable[..., T], arguments: tuple[object, ...]) -> T:
        await asyncio.sleep(self.there)
        answer = act(*arguments)
        await asyncio.sleep(1e6 if self.mute else self.back)
        return answer

    def _arrived(self, travel: asyncio.Task) -> None:
        self._under_way.discard(travel)
        if not travel.cancelled():
            travel.exception()

    async def close(self) -> None:
        for travel in self._under_way:
            travel.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)


class Candidate:
    """One process; an ElectionListener, which does what tests tell it to.

    Attributes:
        lines: its ways to the Leases.
        shard: the share that it leads, or led last and has not lost.
        is_ready: whether it may claim.
        leaving: seconds that it takes to leave a share that it has lost.
    """

    def __init__(self, servers: Sequence[LeaseServer] | LeaseServer, identity: str, **times):
        self.clock = LoopClock()
        servers = [servers] if isinstance(servers, LeaseServer) else servers
        shards = Shard.all_of(len(servers))
        self.lines = {shard: Line(server) for shard, server in zip(shards, servers, strict=True)}
        self.identity = identity
        settings = ElectionSettings(**times)
        rng = random.Random(identity)
        self.elector = Elector(dict(self.lines), self.clock, identity, settings, rng=rng)
        self.elected: list[float] = []
        self.on_elected: Callable[[], object] = lambda: None
        self.transitions = 0
        self.shard: Shard | None = None
        self.is_ready = True
        self.leaving = 0.0
        self._goes_on = asyncio.Event()
        self._goes_on.set()
        self._task: asyncio.Task | None = None

    @property
    def acts(self) -> bool:
        return self.elector.may_act()

    @property
    def acts_for(self) -> Shard | None:
        return self.shard if self.acts else None

    @property
    def line(self) -> Line:
        """The way to its only Lease."""
        [line] = self.lines.values()
        return line

    def set_lines(self, **what: object) -> None:
        """The same of all its lines."""
        for line in self.lines.values():
            for name, value in what.items():
                setattr(line, name, value)

    def start(self) -> Candidate:
        self._task = asyncio.create_task(_stoppable(self._run, self._goes_on))
        return self

    async def _run(self) -> None:
        await self.elector.run(self)

    def sigstop(self) -> None:
        self._goes_on.clear()

    def sigcont(self) -> None:
        self._goes_on.set()

    async def kill(self) -> None:
        """No farewell. What it has sent is on its way."""
        self._goes_on.set()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def end(self) -> None:
        """As `kill`, and with it what was under way."""
        await self.kill()
        for line in self.lines.values():
            await line.close()

    async def retire(self) -> None:
        await self.kill()
        await self.elector.release()

    # What an ElectionListener offers.

    def may_claim(self) -> bool:
        return self.is_ready

    def started_leading(self, shard: Shard) -> None:
        assert self.acts
        assert self.shard in (None, shard), "one at a time"
        self.shard = shard
        self.elected.append(self.clock.monotonic())
        self.on_elected()

    async def lost_shard(self) -> None:
        assert not self.acts
        await asyncio.sleep(self.leaving)
        assert not self.acts
        self.shard = None

    def new_leader(self) -> None:
        self.transitions += 1


@types.coroutine
def _stoppable(run, goes_on: asyncio.Event):
    """Await `run()`, but not while it is stopped; what happens meanwhile it learns later."""
    coroutine = run()
    error: BaseException | None = None
    while True:
        try:
            waits_for = coroutine.throw(error) if error else coroutine.send(None)
        except StopIteration as end:
            return end.value
        error = None
        try:
            yield waits_for
        except (Exception, asyncio.CancelledError) as failure:  # noqa: BLE001 - handed on
            error = failure
        while not goes_on.is_set():
            try:
                yield from goes_on.wait().__await__()
            except asyncio.CancelledError as cancelled:
                error = cancelled


@contextlib.asynccontextmanager
async def candidates(*identities: str, **times):
    """A server and so many processes, all started, in this order."""
    async with of_shards(1, *identities, **times) as ([server], found):
        yield server, *found


@contextlib.asynccontextmanager
async def of_shards(count: int, *identities: str, **times):
    """The Leases of so many shares, and processes that take any of them."""
    servers = [LeaseServer() for _ in range(count)]
    found = [Candidate(servers, identity, **times).start() for identity in identities]
    try:
        yield servers, found
    finally:
        for candidate in found:
            await candidate.end()
