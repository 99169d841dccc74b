"""What one process knows of a Lease, and what follows from it: may it act, may it claim?

Two instants decide, both by the time that has elapsed on a process's own machine, sleep included;
no machine's wall clock is compared with another's:

- The holder acts until `renew_deadline` after it SENT its last successful renewal. It need not
  notice anything for that to end: `may_act` is a comparison, so a process that was stopped and
  goes on finds its time run out, whatever else it has missed.
- Others take over `lease_duration` after they SAW the Lease change last. They saw the renewal
  after it had been sent, and `lease_duration` is more than `renew_deadline`: the holder has
  stopped by then, with the difference to spare for requests under way.

Where this differs from client-go (tools/leaderelection/leaderelection.go): a renewal counts from
when it was sent, not from when it was answered; a Lease in our own name that this process did not
write is another's (a second process of that name); a Lease that vanishes is not free before it
would have run out; an answer to a write counts only if it is no echo, see `is_taken`, and the write
is read back now and then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from bailiff.cluster import LeaseRecord

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.clock import Clock
    from bailiff.cluster import Lease

# client-go's JitterFactor: a wait may be so much longer than the retry period.
JITTER = 1.2
# What a Lease says that somebody has only made. Who releases one leaves times in it.
_NEVER_HELD = LeaseRecord()
# The longest that Kubernetes itself asks for: the identity Leases of kube-apiservers
# (IdentityLeaseDurationSeconds in pkg/controlplane/apiserver/server.go). One may ask for 68 years,
# and whoever could write it once would stop all evictions of a shard until somebody finds out.
LONGEST_LEASE = 3600.0
# An int32, as leaseTransitions is; the API server refuses a negative one (ValidateLeaseSpec).
_MOST_TRANSITIONS = 2**31 - 1
# Of a holder's name, for people; ours are hostnames with something random. The API server sets no
# bound: a name may have a megabyte.
_MAX_NAME = 253


@dataclass(frozen=True)
class ElectionSettings:
    """Times of an election, in seconds. The defaults are Kubernetes' for its own controllers.

    Attributes:
        lease_duration: whole seconds, 1 and up, that others wait after the last renewal they saw.
        renew_deadline: how long the holder acts after the last renewal it sent.
        retry_period: between two renewals, and between two looks of those who wait.
        request_timeout: for one request, above 0 and below 5. 3: a holder that gets no answer
            tries three times before its deadline.
        longest_lease: whatever a Lease says, it is believed no longer than this after it was seen
            to change last. At least `lease_duration`, and that of any other worker of the shard:
            who believes a holder for a shorter time than it acts would act beside it.

    Raises:
        ValueError: lease_duration is not above renew_deadline, or renew_deadline is not above
            1.2 x retry_period, or longest_lease is below lease_duration, or another bound is
            broken.
    """

    lease_duration: int = 15
    renew_deadline: float = 10.0
    retry_period: float = 2.0
    request_timeout: float = 3.0
    longest_lease: float = LONGEST_LEASE

    def __post_init__(self) -> None:
        if not 1 <= self.lease_duration < 2**31:
            raise ValueError(f"lease duration must be 1 s or more, got {self.lease_duration}")
        if not 0 < self.retry_period * JITTER < self.renew_deadline < self.lease_duration:
            raise ValueError(
                f"lease duration ({self.lease_duration:g} s) must be above the renew deadline "
                f"({self.renew_deadline:g} s), and that above {JITTER} times the retry period "
                f"({self.retry_period:g} s)"
            )
        if not 0 < self.request_timeout < 5:
            raise ValueError(f"request timeout must be below 5 s, got {self.request_timeout:g}")
        if not self.lease_duration <= self.longest_lease < math.inf:
            raise ValueError(
                f"the longest lease that is believed ({self.longest_lease:g} s) must not be below "
                f"the lease duration ({self.lease_duration:g} s)"
            )


@dataclass(frozen=True, slots=True)
class Sent:
    """The instant a write left: as elapsed time, and as the wall clock tells others of it."""

    elapsed: float
    wall: datetime


class Tenure:
    """The knowledge of one process. Does no I/O: it is told what was read and written."""

    def __init__(self, identity: str, clock: Clock, settings: ElectionSettings) -> None:
        """Know nothing yet.

        Args:
            identity: who this process is; another process may have the same name.
            clock: of this machine.
            settings: the times.
        """
        self.identity = identity
        self.lease: Lease | None = None
        self._clock = clock
        self._settings = settings
        self._claimed: datetime | None = None
        self._renewed: Sent | None = None
        # When we sent the last renewal that succeeded, or saw one of somebody else, as the clock's
        # elapsed time.
        self.renewed_at: float | None = None
        # When a write of ours was last read back, as elapsed time.
        self._proved_at = -math.inf
        # Until this instant somebody else may be acting.
        self._busy_until = -math.inf

    def may_act(self) -> bool:
        """Whether this process holds the Lease beyond doubt, this moment."""
        if self._renewed is None:
            return False
        # What the machine slept counts: others did not sleep. A step of the wall clock does not.
        return self._clock.elapsed() - self._renewed.elapsed < self._settings.renew_deadline

    @property
    def ours(self) -> bool:
        """Whether the Lease, as last read, is what this very process wrote."""
        if self.lease is None or self._claimed is None:
            return False
        record = self.lease.record
        return (record.holder_identity, record.acquire_time) == (self.identity, self._claimed)

    @property
    def holder(self) -> str:
        """Who holds the Lease, as last read; empty for nobody. At most 253 characters."""
        return self.lease.record.holder_identity[:_MAX_NAME] if self.lease else ""

    def claimable_in(self) -> float:
        """Seconds until the Lease may be written by us; 0 if it may be now."""
        if self.ours:
            return 0.0
        return max(0.0, self._busy_until - self._clock.elapsed())

    def saw(self, lease: Lease | None) -> None:
        """The Lease has been read: this is what it says now; None if there is none."""
        before, self.lease = self.lease, lease
        if not self.ours:
            self._renewed = None
        if lease is not None and (before is None or not _is_same(before, lease)):
            self.renewed_at = self._clock.elapsed()
            if _is_unheld(lease):
                # Made anew, or emptied by somebody: it does not release what was held before.
                return
            self._busy_until = self._clock.elapsed() + self._patience(lease.record)

    def claim(self) -> tuple[LeaseRecord, Sent]:
        """What to write in order to hold the Lease, or to go on holding it."""
        sent = Sent(self._clock.elapsed(), self._clock.now())
        if self.lease is not None and self.ours:
            return msgspec.structs.replace(self.lease.record, renew_time=sent.wall), sent
        self._claimed = sent.wall
        record = LeaseRecord(
            holder_identity=self.identity,
            lease_duration_seconds=self._settings.lease_duration,
            acquire_time=sent.wall,
            renew_time=sent.wall,
            lease_transitions=_next_transition(self.lease),
        )
        return record, sent

    def wrote(self, lease: Lease, sent: Sent) -> None:
        """The server has taken a claim that was sent then."""
        self.lease = lease
        self._renewed = sent
        self.renewed_at = sent.elapsed

    @property
    def wants_proof(self) -> bool:
        """Whether the next write is to be read back before it counts.

        Something between us and the API server may answer writes and keep none: others would see
        no renewal, and take over beside us. So the first write is read back, and then one in half
        a `renew_deadline`, which leaves time to stop before others begin.
        """
        age = self._clock.elapsed() - self._proved_at
        return self._renewed is None or age >= self._settings.renew_deadline / 2

    def proved(self) -> None:
        """A write has been read back."""
        self._proved_at = self._clock.elapsed()

    def disproved(self, lease: Lease | None) -> None:
        """A write was answered with success, and this is what the Lease says all the same."""
        self._renewed = None
        self.saw(lease)

    def resign(self) -> LeaseRecord | None:
        """Act no more; what to write so that others need not wait. None if there is nothing to."""
        self._renewed = None
        if self.lease is None or not self.ours:
            return None
        now = self._clock.now()
        return LeaseRecord(
            lease_duration_seconds=1,
            acquire_time=now,
            renew_time=now,
            lease_transitions=max(0, self.lease.record.lease_transitions),
        )

    def _patience(self, record: LeaseRecord) -> float:
        if not record.holder_identity:
            return -math.inf
        # The holder's own promise counts: it may run with other settings. The API server takes
        # none below 1; of one that others have put there nothing may be made sooner.
        promised = record.lease_duration_seconds or 0
        asked = float(promised if promised > 0 else self._settings.lease_duration)
        return min(asked, self._settings.longest_lease)


def _is_same(before: Lease, after: Lease) -> bool:
    """Whether nothing shows that the holder has renewed it.

    Of one that can be read in part only, any other version may be a renewal.
    """
    if before.is_whole and after.is_whole:
        return before.record == after.record
    return (before.record, _version(before)) == (after.record, _version(after))


def _is_unheld(lease: Lease) -> bool:
    """Whether it says nothing at all, as one that somebody has only made."""
    return lease.is_whole and lease.record == _NEVER_HELD


def _next_transition(lease: Lease | None) -> int:
    """How often the holder has changed, once we are; as far as an int32 can count."""
    if lease is None or _is_unheld(lease):
        return 0
    return min(max(0, lease.record.lease_transitions) + 1, _MOST_TRANSITIONS)


def is_taken(record: LeaseRecord, answer: Lease, known: Lease | None) -> bool:
    """Whether this answers a write of the record over what was known; an echo of it does not."""
    version, before = _version(answer), _version(known) if known else ""
    return version not in ("", before) and says_the_same(record, answer.record)


def says_the_same(record: LeaseRecord, other: LeaseRecord) -> bool:
    """Whether both are the same claim, of the same instant."""
    return (record.holder_identity, record.acquire_time, record.renew_time) == (
        other.holder_identity,
        other.acquire_time,
        other.renew_time,
    )


def _version(lease: Lease) -> str:
    return str((lease.object.get("metadata") or {}).get("resourceVersion") or "")
