"""Every eviction that is to come, runs, or was just carried out, by pod UID.

What may happen to an entry, and what it is then, is the table in `states.py`.

Its timer, if it has one, stands in `timers.py`. An entry that is HELD has none: what it waits for,
the gate knows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bailiff.worker.execute.outcomes import Outcome
from bailiff.worker.timers import states
from bailiff.worker.timers.eviction import Eviction
from bailiff.worker.timers.states import State
from bailiff.worker.timers.timers import Timers

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Generator, Iterator

    from bailiff.clock import Clock
    from bailiff.decisions import Finding
    from bailiff.decisions.policies import Hold
    from bailiff.kinds import Pod
    from bailiff.worker.execute.condition_resets import ConditionResets
    from bailiff.worker.gate import Gate


class PendingEvictions:
    """The table of evictions and their timers. Not thread-safe: one event loop owns it."""

    def __init__(
        self, clock: Clock, earlier: asyncio.Event, resets: ConditionResets | None = None
    ) -> None:
        """Start empty.

        Args:
            clock: for instants and elapsed time.
            earlier: set when the first timer moves to an earlier instant.
            resets: takes back the condition of a pod whose entry gives way to one of another
                deadline; None: nobody has written any.
        """
        self._clock = clock
        self._resets = resets
        self._evictions: dict[str, Eviction] = {}
        self._timers = Timers(clock, earlier)
        self._states: Counter[State] = Counter()
        # Those that wait for another try, by what the last one came to.
        self.retrying: Counter[str] = Counter()
        # None as long as there are no policies: nobody is told then, which costs nothing.
        self.watcher: Gate | None = None

    def __len__(self) -> int:
        return len(self._evictions)

    def __iter__(self) -> Iterator[Eviction]:
        return iter(self._evictions.values())

    def get(self, uid: str) -> Eviction | None:
        """The entry of a pod, if there is one."""
        return self._evictions.get(uid)

    @property
    def unfinished(self) -> int:
        """How many entries are not DONE."""
        return len(self._evictions) - self._states[State.DONE]

    def count(self, state: State) -> int:
        """How many entries are in a state."""
        return self._states[state]

    def schedule(self, pod: Pod, finding: Finding) -> Eviction | None:
        """The pod is to go: enter it, or update its entry; returns one whose place it takes."""
        eviction = self._evictions.get(pod.metadata.uid)
        if eviction is not None and eviction.is_hastened_by(finding, pod):
            # The one that was carried out has been told of, and nothing of it is taken back.
            self._move(eviction, states.HASTEN)
            eviction = None
        if eviction is None or eviction.waits_for_other_than(finding):
            self._enter(pod, finding, eviction)
            return eviction
        self._bring_up_to_date(eviction, pod, finding)
        return None

    def revoke(self, uid: str, why: str) -> Eviction | None:
        """The pod may stay. Returns the entry if it was still waiting, and so is cancelled."""
        eviction = self._evictions.get(uid)
        if eviction is None:
            return None
        after = self._move(eviction, states.REVOKE)
        if after is State.RUNNING:
            eviction.revoked = why
        return eviction if after is None else None

    def leave(self, pod: Pod) -> Eviction | None:
        """The pod is terminating; returns the entry if it was still to be.

        One that is DONE stays so until the pod is gone.
        """
        eviction = self._evictions.get(pod.metadata.uid)
        if eviction is None:
            return None
        self._move(eviction, states.LEAVE)
        eviction.pod, eviction.leaving = pod, True
        self._timers.cancel(eviction.uid)
        return _if_unbegun(eviction)

    def forget(self, uid: str) -> Eviction | None:
        """The pod is gone, or another worker's; returns the entry if it was still to be."""
        eviction = self._evictions.get(uid)
        if eviction is None:
            return None
        if self._move(eviction, states.FORGET) is State.RUNNING:
            eviction.gone = True
        return _if_unbegun(eviction)

    def next_due(self) -> float | None:
        """The first timer, by elapsed time; None: none. Ask again after a second: clocks step."""
        return self._timers.next_due()

    @property
    def overdue(self) -> bool:
        """Whether one is due this moment."""
        due = self.next_due()
        return due is not None and due <= self._clock.elapsed()

    def take(self) -> Eviction | None:
        """The first entry that is due, now RUNNING; None if none is due."""
        eviction = self._pop_due()
        return None if eviction is None else self._begin(eviction, states.TAKE)

    def hand_over(self) -> Eviction | None:
        """The first entry that is due, now HELD by the gate; None if none is due."""
        if (eviction := self._pop_due()) is not None:
            self._move(eviction, states.HAND_OVER)
        return eviction

    def begin(self, eviction: Eviction) -> Eviction:
        """Let one that is HELD be RUNNING."""
        return self._begin(eviction, states.BEGIN)

    def release(self, eviction: Eviction) -> None:
        """Let one that is HELD fall due once more."""
        self._wait(eviction, states.RELEASE)

    def held_by(self, eviction: Eviction) -> Hold | None:
        """What keeps one that is due from happening now: a policy, or its budget."""
        if self.watcher is not None and eviction.state is State.HELD:
            return self.watcher.hold(eviction)
        return None if eviction.waits is None else eviction.waits.hold

    def count_timers(self) -> tuple[int, int]:
        """How many have never been tried and wait for their time, and how many for a free hand.

        It looks at all that are due, so it is for those who ask now and then.
        """
        return self._timers.count()

    def counting_timers(self) -> Generator[None, None, tuple[int, int]]:
        """As `count_timers`, in parts: others may come, go, or fall due between two of them."""
        return self._timers.counting()

    def settle_over(self, eviction: Eviction, outcome: str, lapse: float | None = None) -> None:
        """The pod will not need another attempt, unless it lives on for `lapse` seconds.

        None: not then either, as where no write is kept. A pod that is terminating does not live
        on, however long it takes.
        """
        eviction.outcome = outcome
        if eviction.gone:
            self._move(eviction, states.DROP)
            return
        self._move(eviction, states.OVER)
        if lapse is not None and not eviction.pod.is_terminating:
            eviction.next_try = self._clock.elapsed() + lapse
            self._set_timer(eviction)

    def settle_dropped(self, eviction: Eviction) -> None:
        """The attempt found that the pod may stay."""
        self._move(eviction, states.DROP)

    def settle_put_off(self, eviction: Eviction) -> bool:
        """Wait for the deadline, which has not come; False if no longer wanted and removed."""
        return self._settle_again(eviction, states.PUT_OFF, None)

    def settle_retry(
        self, eviction: Eviction, outcome: str, delay: float, *, until_news: bool = False
    ) -> bool:
        """Try again after `delay` seconds; False if it is no longer wanted and was removed.

        With `until_news` it is tried earlier if the pod is seen to have changed.
        """
        eviction.outcome = outcome
        eviction.until_news = until_news
        return self._settle_again(eviction, states.RETRY, self._clock.elapsed() + delay)

    def _settle_again(self, eviction: Eviction, move: states.Move, next_try: float | None) -> bool:
        if eviction.is_off:
            self._move(eviction, states.DROP)
            return False
        eviction.next_try = next_try
        self._wait(eviction, move)
        return True

    def _bring_up_to_date(self, eviction: Eviction, pod: Pod, finding: Finding) -> None:
        # By states.UPDATE it stays what it is; this is done for all pods of a cluster.
        news = eviction.until_news and eviction.pod != pod
        eviction.pod, eviction.finding, eviction.revoked = pod, finding, ""
        eviction.gone = False  # a relist that lacked it for a moment has been made good
        if eviction.state is State.DONE and pod.is_terminating:
            self._timers.cancel(eviction.uid)
        if news:
            eviction.until_news = False
            eviction.next_try = self._clock.elapsed()
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
        due = self._clock.elapsed() + (deadline - now).total_seconds()
        eviction = Eviction(pod=pod, finding=finding, deadline=deadline, due=due)
        if old is not None:
            self._move(old, states.REPLACE)
            self._spare(old)
        self._evictions[eviction.uid] = eviction
        self._states[eviction.state] += 1
        if self.watcher is not None:
            self.watcher.entered(eviction)
        self._set_timer(eviction)

    def _spare(self, eviction: Eviction) -> None:
        if eviction.marked and self._resets is not None:
            self._resets.request(eviction)

    def _begin(self, eviction: Eviction, move: states.Move) -> Eviction:
        self._move(eviction, move)
        eviction.attempts += 1
        return eviction

    def _wait(self, eviction: Eviction, move: states.Move) -> None:
        self._move(eviction, move)
        if eviction.next_try is not None:
            self.retrying[eviction.outcome] += 1
        self._set_timer(eviction)

    def _set_timer(self, eviction: Eviction) -> None:
        self._timers.set(eviction.uid, eviction.deadline, eviction.next_try)

    def _pop_due(self) -> Eviction | None:
        """The one that has been due for longest, without a timer."""
        uid = self._timers.pop_due()
        return None if uid is None else self._fallen_due(self._evictions[uid])

    def _fallen_due(self, eviction: Eviction) -> Eviction:
        # From now on it has no timer that news could set to an earlier instant.
        eviction.until_news = False
        if eviction.next_try is None:
            # Only now is it known for sure: the wall clock may have been put right since.
            late = self._clock.now().timestamp() - eviction.deadline.timestamp()
            eviction.due = self._clock.elapsed() - late
        elif eviction.state is State.DONE:
            eviction.outcome = Outcome.SURVIVED.value
        else:
            self.retrying[eviction.outcome] -= 1
        return eviction

    def _move(self, eviction: Eviction, move: states.Move) -> State | None:
        """What the table says; returns the state that follows, None for an entry that is out."""
        before, after = eviction.state, move.after(eviction.state)
        if after is None:
            self._remove(eviction)
        elif after is not before:
            self._states[before] -= 1
            self._states[after] += 1
            eviction.state = after
        return after

    def _remove(self, eviction: Eviction) -> None:
        self._timers.cancel(eviction.uid)
        del self._evictions[eviction.uid]
        if eviction.state is State.WAITING and eviction.next_try is not None:
            self.retrying[eviction.outcome] -= 1
        self._states[eviction.state] -= 1
        if self.watcher is not None:
            self.watcher.left(eviction)


def _if_unbegun(eviction: Eviction) -> Eviction | None:
    """An entry that has just left the table, if nothing had been done for it."""
    return eviction if eviction.state in {State.WAITING, State.HELD} else None
