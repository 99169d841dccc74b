"""Which of several workers acts for which shard of the nodes: the one that holds its Lease.

Each shard has a Lease. A worker takes part in the election for one or for several of them, and
holds one at most: what it holds it keeps, and while it holds none it looks at all of them in turn
and claims the first that is free, because it was released, or its holder has been silent for as
long as it had asked for. So a shard whose worker is gone goes to whoever stands by. A worker that
loses its Lease does not end, it stands by.

The rules of one Lease stand in bailiff.worker.lead.tenure, its requests in
bailiff.worker.lead.candidacy; here is the choice among several, and the waiting.

A Lease is not fencing: what was sent in time may arrive late. Against that every request carries
the pod's UID or the node's resourceVersion.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from typing import TYPE_CHECKING, Protocol

import structlog

from bailiff.cluster import ClusterError, RequestTimeoutError, UnreachableError
from bailiff.decisions import ObjectReference
from bailiff.worker.lead.candidacy import Candidacy, LeasePort
from bailiff.worker.lead.tenure import JITTER, ElectionSettings, Tenure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.clock import Clock
    from bailiff.worker.lead.sharding import Shard

# However late a try is, requests are no closer than this: a wait too small for the clock to move
# would be tried again and again at one instant.
_SHORTEST_PAUSE = 0.01
# The request may have been carried out, or will be, for all that is known.
_UNANSWERED = (UnreachableError, RequestTimeoutError, TimeoutError)

log = structlog.get_logger(__name__)


class ElectionListener(Protocol):
    """Whose election it is; by the names of client-go's LeaderCallbacks where it has one."""

    def may_claim(self) -> bool:
        """Whether this process would be of use as a leader. What it holds it keeps anyway."""

    def started_leading(self, shard: Shard) -> None:
        """It is our turn to act for this shard; also after a while without the right to."""

    async def lost_shard(self) -> None:
        """The Lease of the shard is another's, and the right to act for it has ended.

        No other Lease is claimed before this returns, so that nothing that was begun for the one
        shard is sent with the right to act for the next.
        """

    def new_leader(self) -> None:
        """A Lease is seen to have another holder than before."""


class Election(Protocol):
    """What a worker asks."""

    def may_act(self) -> bool:
        """Whether this process is the one to act for a shard, this moment."""
        ...

    @property
    def holder(self) -> str:
        """Who acts, as far as is known; empty for nobody, and where several may act."""
        ...

    @property
    def renewed_at(self) -> float | None:
        """The second (Clock.elapsed) of the last renewal: ours when sent, another's when seen."""
        ...

    def complaints(self) -> list[str]:
        """What keeps this process from ever being the one, for people; empty if nothing does."""
        ...

    async def run(self, listener: ElectionListener) -> None:
        """Take part until cancelled."""
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

    def complaints(self) -> list[str]:
        """See Election."""
        return []

    async def run(self, listener: ElectionListener) -> None:  # noqa: ARG002 - the port's
        """See Election."""
        await asyncio.Event().wait()

    async def release(self) -> None:
        """See Election."""


class Elector:
    """A candidate for one of several Leases."""

    def __init__(
        self,
        leases: Mapping[Shard, LeasePort],
        clock: Clock,
        identity: str,
        settings: ElectionSettings | None = None,
        *,
        rng: random.Random | None = None,
    ) -> None:
        """Prepare.

        Args:
            leases: of the shards that this process may act for, one at least.
            clock: of this machine.
            identity: the name to hold one by; should be unique.
            settings: the times.
            rng: for the jitter of waits, and which Lease is looked at first.
        """
        self._clock = clock
        self._settings = settings or ElectionSettings()
        self._rng = rng or random.Random()  # noqa: S311 - jitter, no secret
        timeout = self._settings.request_timeout
        candidacies = [
            Candidacy(shard, store, Tenure(identity, clock, self._settings), timeout)
            for shard, store in leases.items()
        ]
        # Those who begin together do not all want the same one.
        self._rng.shuffle(candidacies)
        self._candidacies = deque(candidacies)
        self._held: Candidacy | None = None
        self._leading = False
        self._trouble = ""

    def may_act(self) -> bool:
        """See Election."""
        return self._held is not None and self._held.tenure.may_act()

    @property
    def holder(self) -> str:
        """See Election."""
        one = self._held or (self._candidacies[0] if len(self._candidacies) == 1 else None)
        return one.tenure.holder if one else ""

    @property
    def renewed_at(self) -> float | None:
        """See Election; of several the one that lies back the longest."""
        looked_at = [self._held] if self._held else self._candidacies
        known = [one.tenure.renewed_at for one in looked_at if one.tenure.renewed_at is not None]
        return min(known, default=None)

    def complaints(self) -> list[str]:
        """See Election; who holds a Lease is not concerned about others."""
        looked_at = [self._held] if self._held else sorted(self._candidacies, key=_place)
        return [said for one in looked_at if (said := one.complaint())]

    @property
    def held_lease(self) -> ObjectReference | None:
        """The Lease by which this process acts, or did until a moment ago; None: there is none."""
        lease = self._held.tenure.lease if self._held is not None else None
        if lease is None:
            return None
        meta = lease.object.get("metadata") or {}
        name, namespace, uid = (str(meta.get(key) or "") for key in ("name", "namespace", "uid"))
        return ObjectReference(name=name, namespace=namespace, uid=uid)

    async def run(self, listener: ElectionListener) -> None:
        """See Election."""
        while True:
            started = self._clock.monotonic()
            self._tell(listener)
            self._report(await self._round(listener))
            self._tell(listener)
            await asyncio.sleep(self._pause(started))

    async def release(self) -> None:
        """See Election."""
        for candidacy in self._candidacies:
            try:
                await candidacy.give_up()
            except (ClusterError, TimeoutError) as error:
                log.warning("lease not released, it will run out", error=_describe(error))

    async def _round(self, listener: ElectionListener) -> str:
        """Renew what is held, or look for what is free; returns what went wrong, or nothing."""
        if self._held is None:
            return await self._seek(listener)
        try:
            await self._held.step(listener.may_claim)
        except (ClusterError, TimeoutError) as error:
            return _describe(error)
        trouble = self._held.complaint()
        if not self._held.tenure.ours:
            self._held = None
            await listener.lost_shard()
        return trouble

    async def _seek(self, listener: ElectionListener) -> str:
        """Look at one after the other, one request at a time, however many there are."""
        trouble = ""
        for _ in range(len(self._candidacies)):
            candidacy = self._candidacies[0]
            try:
                await candidacy.step(listener.may_claim)
            except _UNANSWERED as error:
                # It may be ours by now: it comes first the next time, before another is claimed.
                return _describe(error)
            except ClusterError as error:
                # One Lease that cannot be had or read keeps nobody from the others.
                trouble = trouble or _describe(error)
            trouble = trouble or candidacy.complaint()
            if candidacy.tenure.ours:
                self._held = candidacy
                return ""
            self._candidacies.rotate(-1)
        return trouble

    def _pause(self, started: float) -> float:
        """Tries are spaced from start to start: a slow request does not cost the holder one."""
        period = self._settings.retry_period * self._rng.uniform(1.0, JITTER)
        wait = started + period - self._clock.monotonic()
        if self._held is None:
            # Whoever waits for a Lease to run out is there when it does.
            running = (one.tenure.claimable_in() for one in self._candidacies)
            wait = min([wait, *(left for left in running if left > 0.0)])
        return max(_SHORTEST_PAUSE, wait)

    def _tell(self, listener: ElectionListener) -> None:
        """Tell of what has changed since the last time."""
        for one in self._candidacies:
            if one.has_new_holder():
                listener.new_leader()
                log.info("lease has a new holder", shard=str(one.shard), holder=one.tenure.holder)
        held = self._held if self.may_act() else None
        if held is not None and not self._leading:
            log.info("this worker acts now", shard=str(held.shard), identity=held.tenure.identity)
            listener.started_leading(held.shard)
        if self._leading and held is None:
            log.warning("this worker acts no more", holder=self.holder)
        self._leading = held is not None

    def _report(self, trouble: str) -> None:
        """Say it once, not every two seconds."""
        if trouble and trouble != self._trouble:
            log.warning("lease cannot be read or written", error=trouble)
        self._trouble = trouble


def _place(candidacy: Candidacy) -> int:
    return candidacy.shard.index


def _describe(error: Exception) -> str:
    return str(error) or "no answer in time"
