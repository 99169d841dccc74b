"""What one process asks of one Lease, and what it makes of the answers.

The rules stand in bailiff.worker.lead.tenure; when to ask is the elector's affair.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, TypeVar

import structlog

from bailiff.cluster import ConflictError, NotFoundError, ResponseError
from bailiff.worker.lead.tenure import is_taken, says_the_same

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.cluster import Lease, LeaseRecord
    from bailiff.worker.lead.sharding import Shard
    from bailiff.worker.lead.tenure import Tenure

T = TypeVar("T")

log = structlog.get_logger(__name__)


class LeasePort(Protocol):
    """One Lease; see bailiff.cluster.LeaseStore. Every method raises ClusterError.

    There is no way to make one: who may make Leases may make them in anybody's name.
    """

    @property
    def namespace(self) -> str:
        """Where it lives."""
        ...

    @property
    def name(self) -> str:
        """Its own; it ends with the shard."""
        ...

    async def read(self) -> Lease | None:
        """The Lease; None if there is none."""
        ...

    async def write(self, lease: Lease, record: LeaseRecord) -> Lease:
        """Replace what it says; ConflictError if it is no longer as it was read."""
        ...


class Candidacy:
    """One process and one Lease. Its requests raise ClusterError and TimeoutError."""

    def __init__(
        self, shard: Shard, store: LeasePort, tenure: Tenure, request_timeout: float
    ) -> None:
        """Know nothing yet.

        Args:
            shard: the shard of the nodes that the Lease stands for.
            store: the Lease.
            tenure: what is known of it, and what follows.
            request_timeout: seconds that one request may take.
        """
        self.shard = shard
        self.tenure = tenure
        self._store = store
        self._request_timeout = request_timeout
        self._told_holder = ""
        # Whether it is known that there is none.
        self._missing = False

    def complaint(self) -> str:
        """That there is no such Lease, and what makes it; empty if there is one."""
        if not self._missing:
            return ""
        namespace, name = self._store.namespace, self._store.name
        return (
            f"Lease {namespace}/{name} does not exist, and workers make none: "
            f"bailiff leases create --lease-namespace {namespace} "
            f"--lease-name {name.removesuffix(f'-{self.shard}')} --shards {self.shard.count}"
        )

    async def step(self, may_claim: Callable[[], bool]) -> None:
        """Renew it, or look at it and claim it where it is free and `may_claim` allows.

        Where there is none, `complaint` says so and the next step looks again.
        """
        if self.tenure.may_act() and await self._claimed():
            return
        await self._look()
        free = self.tenure.lease is not None and self.tenure.claimable_in() == 0.0
        if free and (self.tenure.ours or may_claim()):
            await self._claimed()

    async def give_up(self) -> None:
        """Act no more, and let others claim it at once, if it is ours."""
        record = self.tenure.resign()
        if record is None or self.tenure.lease is None:
            return
        try:
            await self._bounded(self._store.write(self.tenure.lease, record))
        except ConflictError:
            # A renewal of ours whose answer never came has been carried out after all.
            await self._look()
            record = self.tenure.resign()
            if record is None or self.tenure.lease is None:
                return
            await self._bounded(self._store.write(self.tenure.lease, record))
        log.info("lease released", shard=str(self.shard), identity=self.tenure.identity)

    def has_new_holder(self) -> bool:
        """Whether the Lease is seen to have another holder than when this was asked last."""
        before, self._told_holder = self._told_holder, self.tenure.holder
        return before != self._told_holder

    async def _claimed(self) -> bool:
        """Write our claim; False if the Lease is not as we knew it, or not known at all."""
        known = self.tenure.lease
        if known is None:
            return False
        record, sent = self.tenure.claim()
        try:
            lease = await self._bounded(self._store.write(known, record))
        except (ConflictError, NotFoundError):
            return False
        if not is_taken(record, lease, known):
            raise ResponseError("Lease: the answer to a write is not what a write makes of it")
        if self.tenure.wants_proof:
            await self._prove(record)
        self.tenure.wrote(lease, sent)
        return True

    async def _prove(self, record: LeaseRecord) -> None:
        """Read what was written: who only answers, and keeps nothing, makes nobody the holder."""
        found = await self._bounded(self._store.read())
        if found is None or not says_the_same(record, found.record):
            self.tenure.disproved(found)
            raise ResponseError("Lease: a write was answered with success, and has had no effect")
        self.tenure.proved()

    async def _look(self) -> None:
        lease = await self._bounded(self._store.read())
        self._missing = lease is None
        self.tenure.saw(lease)

    async def _bounded(self, request: Awaitable[T]) -> T:
        async with asyncio.timeout(self._request_timeout):
            return await request
