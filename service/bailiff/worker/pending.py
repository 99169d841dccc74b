"""Every eviction that is to come, runs, or was just carried out, by pod UID.

Lifecycle of one entry; anything not in the table leaves the state as it is:

    state     what happens                       next
    (none)    schedule                           WAITING
    WAITING   schedule, same deadline            WAITING, timer untouched
    WAITING   schedule, other deadline           WAITING, timer set anew
    WAITING   revoke / forget                    (none)
    WAITING   take, when due                     RUNNING
    WAITING   hold, when due                     HELD, where there are policies; the gate decides
    HELD      schedule, same deadline            HELD, and the gate looks again
    HELD      schedule, other deadline           WAITING, timer set anew
    HELD      revoke / forget                    (none)
    HELD      begin, when the gate lets it       RUNNING
    HELD      release, when policies change      WAITING, due at once
    RUNNING   schedule                           RUNNING, no longer revoked
    RUNNING   revoke / forget                    RUNNING, but not retried
    RUNNING   settle: over                       DONE
    RUNNING   settle: retry                      WAITING, or (none) where revoked meanwhile
    RUNNING   settle: dropped                    (none)
    DONE      forget                             (none)

DONE stays until the mirror has seen the pod go, so that no evaluation in between evicts it twice.

Deadlines are wall-clock instants. A timer, once set, runs on the monotonic clock and is set anew
only when the deadline itself changes: a step of the wall clock neither fires it early nor
stalls it. An entry that is HELD has no timer here: what it waits for, the gate knows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bailiff.worker.eviction import Eviction, State
from bailiff.worker.queue import DeadlineQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bailiff.clock import Clock
    from bailiff.decisions import Finding
    from bailiff.decisions.policies import Hold
    from bailiff.kinds import Pod
    from bailiff.worker.eviction import Watcher


class PendingEvictions:
    """The table of evictions and their timers. Not thread-safe: one event loop owns it."""

    def __init__(self, clock: Clock, on_earlier: Callable[[], None]) -> None:
        """Start empty.

        Args:
            clock: for both kinds of time.
            on_earlier: called when the first timer moves to an earlier instant.
        """
        self._clock = clock
        self._on_earlier = on_earlier
        self._evictions: dict[str, Eviction] = {}
        self._timers: DeadlineQueue[str] = DeadlineQueue()
        # Those that wait for another try, by what the last one came to.
        self.retrying: Counter[str] = Counter()
        # None as long as there are no policies: nobody is told then, which costs nothing.
        self.watcher: Watcher | None = None

    def __len__(self) -> int:
        return len(self._evictions)

    def __iter__(self) -> Iterator[Eviction]:
        return iter(self._evictions.values())

    def get(self, uid: str) -> Eviction | None:
        """The entry of a pod, if there is one."""
        return self._evictions.get(uid)

    def schedule(self, pod: Pod, finding: Finding) -> None:
        """The pod is to go: enter it, or bring what is entered up to date."""
        eviction = self._evictions.get(pod.metadata.uid)
        if eviction is None or eviction.waits_for_other_than(finding):
            self._enter(pod, finding, eviction)
        elif eviction.state is not State.DONE:
            self._bring_up_to_date(eviction, pod, finding)

    def revoke(self, uid: str, why: str) -> Eviction | None:
        """The pod may stay. Returns the entry if it was still waiting, and so is cancelled."""
        eviction = self._evictions.get(uid)
        if eviction is None or eviction.state is State.DONE:
            return None
        if eviction.state is State.RUNNING:
            eviction.revoked = why
            return None
        return self._remove(eviction)

    def forget(self, uid: str) -> None:
        """The pod is gone or going: nothing is left to do."""
        eviction = self._evictions.get(uid)
        if eviction is None:
            return
        if eviction.state is State.RUNNING:
            eviction.gone = True
        else:
            self._remove(eviction)

    def next_due(self) -> float | None:
        """The monotonic instant of the first timer; None if there is none."""
        return self._timers.next_due()

    def take(self) -> Eviction | None:
        """The first entry that is due, now RUNNING; None if none is due."""
        uid = self._timers.pop_due(self._clock.monotonic())
        if uid is None:
            return None
        eviction = self._evictions[uid]
        self._count_retry(eviction, -1)
        return self.begin(eviction)

    def hold(self) -> Eviction | None:
        """The first entry that is due, now HELD; None if none is due."""
        uid = self._timers.pop_due(self._clock.monotonic())
        if uid is None:
            return None
        eviction = self._evictions[uid]
        self._count_retry(eviction, -1)
        eviction.state = State.HELD
        return eviction

    def begin(self, eviction: Eviction) -> Eviction:
        """Let one that is due be RUNNING."""
        eviction.state = State.RUNNING
        eviction.attempts += 1
        eviction.until_news = False
        return eviction

    def release(self, eviction: Eviction) -> None:
        """Let one that is HELD fall due once more."""
        eviction.state = State.WAITING
        self._count_retry(eviction, 1)
        self._set_timer(eviction)

    def held_by(self, eviction: Eviction) -> Hold | None:
        """What keeps one that is due from happening now: a policy, or its budget."""
        if self.watcher is not None and eviction.state is State.HELD:
            return self.watcher.hold(eviction)
        return None if eviction.waits is None else eviction.waits.hold

    def count_timers(self) -> tuple[int, int]:
        """How many have never been tried and wait for their time, and how many for a free hand.

        It looks at all that are due, so it is for those who ask now and then.
        """
        now = self._clock.monotonic()
        due = sum(not self._evictions[uid].attempts for uid in self._timers.due(now))
        return len(self._timers) - due - self.retrying.total(), due

    def settle_over(self, eviction: Eviction, outcome: str) -> None:
        """The pod will not need another attempt."""
        eviction.outcome = outcome
        if eviction.gone:
            self._remove(eviction)
        else:
            eviction.state = State.DONE

    def settle_dropped(self, eviction: Eviction) -> None:
        """The attempt found that the pod may stay."""
        self._remove(eviction)

    def settle_retry(
        self, eviction: Eviction, outcome: str, delay: float, *, until_news: bool = False
    ) -> bool:
        """Try again after `delay` seconds; False if it is no longer wanted and was removed.

        With `until_news` it is tried earlier if the pod is seen to have changed.
        """
        eviction.outcome = outcome
        if eviction.gone or eviction.revoked:
            self._remove(eviction)
            return False
        eviction.state = State.WAITING
        eviction.until_news = until_news
        self._count_retry(eviction, 1)
        eviction.next_try = self._clock.monotonic() + delay
        self._set_timer(eviction)
        return True

    def _bring_up_to_date(self, eviction: Eviction, pod: Pod, finding: Finding) -> None:
        news = eviction.until_news and eviction.pod != pod
        eviction.pod, eviction.finding, eviction.revoked = pod, finding, ""
        if news:
            eviction.until_news = False
            eviction.next_try = self._clock.monotonic()
            self._set_timer(eviction)
        if self.watcher is not None:
            self.watcher.entered(eviction)
            if eviction.state is State.HELD:
                self.watcher.look_again(eviction)

    def _enter(self, pod: Pod, finding: Finding, old: Eviction | None) -> None:
        now = self._clock.now()
        deadline = finding.evict_at or now
        # For one that is overdue it lies in the past, so that those who wait longest go first, and
        # what is counted from it does not start over with a restart.
        due = self._clock.monotonic() + (deadline - now).total_seconds()
        eviction = Eviction(pod=pod, finding=finding, deadline=deadline, due=due, next_try=due)
        if old is not None:
            self._leave(old)
        self._evictions[eviction.uid] = eviction
        if self.watcher is not None:
            self.watcher.entered(eviction)
        self._set_timer(eviction)

    def _set_timer(self, eviction: Eviction) -> None:
        first = self._timers.next_due()
        self._timers.put(eviction.uid, eviction.next_try)
        if first is None or eviction.next_try < first:
            self._on_earlier()

    def _remove(self, eviction: Eviction) -> Eviction:
        self._timers.cancel(eviction.uid)
        del self._evictions[eviction.uid]
        self._leave(eviction)
        return eviction

    def _leave(self, eviction: Eviction) -> None:
        self._count_retry(eviction, -1)
        if self.watcher is not None:
            self.watcher.left(eviction)

    def _count_retry(self, eviction: Eviction, step: int) -> None:
        if eviction.attempts and eviction.state is State.WAITING:
            self.retrying[eviction.outcome] += step
