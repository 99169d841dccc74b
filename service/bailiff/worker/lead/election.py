"""Which of several workers acts: the one that holds the Lease.

The rules stand in bailiff.worker.lead.tenure; here are the requests and the waiting. A worker that
loses the Lease does not end: it stays a warm standby, and acts again when it is its turn.

A Lease is not fencing: what was sent in time may arrive late. Against that every request carries
the pod's UID or the node's resourceVersion.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Protocol, TypeVar

import structlog

from bailiff.cluster import ClusterError, ConflictError, NotFoundError, ResponseError
from bailiff.worker.lead.tenure import JITTER, ElectionSettings, Tenure, is_taken, says_the_same

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.clock import Clock
    from bailiff.cluster import Lease, LeaseRecord

T = TypeVar("T")

# However late a try is, requests are no closer than this: a wait too small for the clock to move
# would be tried again and again at one instant.
_SHORTEST_PAUSE = 0.01

log = structlog.get_logger(__name__)


class LeasePort(Protocol):
    """One Lease; see bailiff.cluster.LeaseStore. Every method raises ClusterError."""

    async def read(self) -> Lease | None:
        """The Lease; None if there is none."""
        ...

    async def create(self, record: LeaseRecord) -> Lease:
        """Make it; ConflictError if there is one."""
        ...

    async def write(self, lease: Lease, record: LeaseRecord) -> Lease:
        """Replace what it says; ConflictError if it is no longer as it was read."""
        ...


class Election(Protocol):
    """What a worker asks."""

    def may_act(self) -> bool:
        """Whether this process is the one to act, this moment."""
        ...

    @property
    def holder(self) -> str:
        """Who acts, as far as is known; empty for nobody."""
        ...

    @property
    def renewed_at(self) -> float | None:
        """The second (Clock.elapsed) of the last renewal: ours when sent, another's when seen."""
        ...

    async def run(self, on_elected: Callable[[], None], on_transition: Callable[[], None]) -> None:
        """Take part until cancelled.

        Args:
            on_elected: called whenever it becomes our turn to act.
            on_transition: called whenever the Lease is seen to have another holder than before.
        """
        ...

    async def release(self) -> None:
        """Let others act at once; to be called after `run` has ended. Never raises ClusterError."""
        ...


class Unopposed:
    """No election: this process is the only one, and always acts."""

    holder = ""
    renewed_at = None

    def may_act(self) -> bool:
        """See Election."""
        return True

    async def run(
        self,
        on_elected: Callable[[], None],  # noqa: ARG002 - the port's
        on_transition: Callable[[], None],  # noqa: ARG002 - the port's
    ) -> None:
        """See Election."""
        await asyncio.Event().wait()

    async def release(self) -> None:
        """See Election."""


class Elector:
    """A candidate for one Lease."""

    def __init__(
        self,
        store: LeasePort,
        clock: Clock,
        identity: str,
        settings: ElectionSettings | None = None,
        *,
        rng: random.Random | None = None,
    ) -> None:
        """Prepare.

        Args:
            store: the Lease.
            clock: of this machine.
            identity: the name to hold it by; should be unique.
            settings: the times.
            rng: for the jitter of waits.
        """
        self._store = store
        self._clock = clock
        self._settings = settings or ElectionSettings()
        self._tenure = Tenure(identity, clock, self._settings)
        self._rng = rng or random.Random()  # noqa: S311 - jitter, no secret
        self._elected = False
        self._known_holder = ""
        self._trouble = ""

    def may_act(self) -> bool:
        """See Election."""
        return self._tenure.may_act()

    @property
    def holder(self) -> str:
        """See Election."""
        return self._tenure.holder

    @property
    def renewed_at(self) -> float | None:
        """See Election."""
        return self._tenure.renewed_at

    async def run(self, on_elected: Callable[[], None], on_transition: Callable[[], None]) -> None:
        """See Election."""
        while True:
            started = self._clock.monotonic()
            self._note(on_elected, on_transition)
            await self._try()
            self._note(on_elected, on_transition)
            await asyncio.sleep(self._pause(started))

    async def release(self) -> None:
        """See Election."""
        try:
            await self._give_up()
        except (ClusterError, TimeoutError) as error:
            log.warning("lease not released, it will run out", error=_describe(error))

    async def _give_up(self) -> None:
        record = self._tenure.resign()
        if record is None or self._tenure.lease is None:
            return
        try:
            await self._bounded(self._store.write(self._tenure.lease, record))
        except ConflictError:
            # A renewal of ours whose answer never came has been carried out after all.
            await self._look()
            record = self._tenure.resign()
            if record is None or self._tenure.lease is None:
                return
            await self._bounded(self._store.write(self._tenure.lease, record))
        log.info("lease released", identity=self._tenure.identity)

    async def _try(self) -> None:
        try:
            await self._step()
        except (ClusterError, TimeoutError) as error:
            self._report(_describe(error))
        else:
            self._report("")

    async def _step(self) -> None:
        if self._tenure.ours and await self._claimed():
            return
        await self._look()
        if self._tenure.claimable_in() == 0.0:
            await self._claimed()

    async def _claimed(self) -> bool:
        """Write our claim; False if the Lease is not as we knew it."""
        record, sent = self._tenure.claim()
        known = self._tenure.lease
        writing = self._store.write(known, record) if known else self._store.create(record)
        try:
            lease = await self._bounded(writing)
        except (ConflictError, NotFoundError):
            return False
        if not is_taken(record, lease, known):
            raise ResponseError("Lease: the answer to a write is not what a write makes of it")
        if self._tenure.wants_proof:
            await self._prove(record)
        self._tenure.wrote(lease, sent)
        return True

    async def _prove(self, record: LeaseRecord) -> None:
        """Read what was written: who only answers, and keeps nothing, makes nobody the holder."""
        found = await self._bounded(self._store.read())
        if found is None or not says_the_same(record, found.record):
            self._tenure.disproved(found)
            raise ResponseError("Lease: a write was answered with success, and has had no effect")
        self._tenure.proved()

    async def _look(self) -> None:
        self._tenure.saw(await self._bounded(self._store.read()))

    async def _bounded(self, request: Awaitable[T]) -> T:
        async with asyncio.timeout(self._settings.request_timeout):
            return await request

    def _pause(self, started: float) -> float:
        """Tries are spaced from start to start: a slow request does not cost the holder one."""
        period = self._settings.retry_period * self._rng.uniform(1.0, JITTER)
        wait = started + period - self._clock.monotonic()
        if not self._tenure.ours and self._tenure.claimable_in() > 0.0:
            # Whoever waits for the Lease to run out is there when it does.
            wait = min(wait, self._tenure.claimable_in())
        return max(_SHORTEST_PAUSE, wait)

    def _note(self, on_elected: Callable[[], None], on_transition: Callable[[], None]) -> None:
        """Tell of what has changed since the last time."""
        if self._tenure.holder != self._known_holder:
            self._known_holder = self._tenure.holder
            on_transition()
            log.info("lease has another holder", holder=self._known_holder)
        acting = self._tenure.may_act()
        if acting and not self._elected:
            log.info("this worker acts now", identity=self._tenure.identity)
            on_elected()
        if self._elected and not acting:
            log.warning("this worker acts no more", holder=self._tenure.holder)
        self._elected = acting

    def _report(self, trouble: str) -> None:
        """Say it once, not every two seconds."""
        if trouble and trouble != self._trouble:
            log.warning("lease cannot be read or written", error=trouble)
        self._trouble = trouble


def _describe(error: Exception) -> str:
    return str(error) or "no answer in time"
