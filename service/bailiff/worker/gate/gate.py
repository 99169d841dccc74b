"""May it begin? Every eviction that is due asks here, as long as there are policies.

An eviction that falls due is looked at once. Where a rule holds it back it is kept by the rule's
cause, and looked at again when the rule says so, or when what the rule looked at has changed.
Where none does it stands in line until the limits let it begin, and is looked at once more then.
Nothing is looked at in turn for no reason, so a step costs O(log n), however many wait. Where the
policies or the pause change, all are looked at once more, a batch at a time, and nothing begins
before that is through: see `second_look`.

Without policies none of this happens: what is due runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.policies import Cause, Policies
from bailiff.worker.gate.holding import Holding
from bailiff.worker.gate.lines import Lines, place_in_line
from bailiff.worker.gate.meters import TOTAL, Key, Meters, Scope
from bailiff.worker.gate.running import Running
from bailiff.worker.gate.second_look import SecondLook
from bailiff.worker.gate.surroundings import Surroundings, needs_gate
from bailiff.worker.gate.zones import CLUSTER
from bailiff.worker.timers.eviction import State
from bailiff.worker.timers.waits import waits_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping
    from typing import Literal

    from bailiff.clock import Clock
    from bailiff.decisions.policies import Hold, PauseNotice, Unknown
    from bailiff.kinds import Node
    from bailiff.worker.timers.evaluator import Evaluator
    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.timers.pending import PendingEvictions

# Looked at in one go, about 5 ms.
_BATCH = 256
# Counted in one go, about 5 ms.
_COUNTED = 4096
# How long to wait for the evaluator, where counts are not complete before it is through.
_MOMENT = 0.01


class Gate:
    """Between due and running."""

    def __init__(
        self,
        pending: PendingEvictions,
        evaluator: Evaluator,
        clock: Clock,
        on_earlier: Callable[[], None],
        on_held: Callable[[Eviction, Hold], None],
    ) -> None:
        """Stand open.

        Args:
            pending: where evictions come from.
            evaluator: with the mirror.
            clock: for both kinds of time.
            on_earlier: called when `next_due` is earlier than it was.
            on_held: told of an eviction that a rule holds back, once.
        """
        self._pending = pending
        self._evaluator = evaluator
        self._clock = clock
        self._on_earlier = on_earlier
        self._on_held = on_held
        self.surroundings = Surroundings(
            evaluator.mirror,
            clock,
            self._breaker_changed,
            on_earlier,
            lambda: self._look_again_at(Cause.BLAST_RADIUS),
        )
        self._meters = Meters()
        self._lines = Lines(self._meters)
        self._running = Running(self._meters, self._keys)
        self._holding = Holding()
        self._second_look = SecondLook(pending)
        evaluator.mirror.listen_to_nodes(self)
        # There are policies. Once there are none, the gate opens when nobody is HELD any more.
        self._governs = False

    @property
    def _is_open(self) -> bool:
        return self._pending.watcher is None

    # What the executor asks.

    def take(self) -> Eviction | None:
        """The first that may begin, now RUNNING; None if none may."""
        if self._is_open:
            return self._pending.take()
        now = self._clock.elapsed()
        self.surroundings.zones.judge()
        self.surroundings.blast.count_some(self._pending.get, _COUNTED)
        if self._is_blind() or not self._work_off(now):
            return None
        if self._opens():
            return self._pending.take()
        for _ in range(_BATCH):
            eviction = self._lines.first(now)
            if eviction is None:
                break
            if self._may_begin(eviction, now):
                return self._begin(eviction, now)
        return None

    def next_due(self) -> float | None:
        """The instant of the next look, in elapsed time; None: when something changes."""
        due = self._pending.next_due()
        if self._is_open:
            return due
        now = self._clock.elapsed()
        if self._is_blind():
            return now + _MOMENT
        if self._second_look:
            return now
        others = (
            due,
            self._holding.next_due(now, self._clock.now().timestamp()),
            self._lines.next_free(now),
        )
        return min((at for at in others if at is not None), default=None)

    def finished(self, eviction: Eviction) -> None:
        """An attempt has ended."""
        keys = self._running.finish(eviction.uid)
        if keys is not None and self._lines.freed(keys, self._clock.elapsed()):
            self._on_earlier()

    # What others tell.

    def set_policies(self, policies: Policies) -> None:
        """Go on with these; what runs goes on and still counts.

        Whoever is HELD stays so, and is looked at by these before anybody begins.
        """
        zones = policies.breakers.zone is not None
        self._meters.set_limits(policies.limits, zones=zones, now=self._clock.elapsed())
        self.surroundings.set_policies(policies)
        self._governs = needs_gate(policies)
        if self._governs:
            self._pending.watcher = self
        if not self._is_open and not self._opens():
            self._start_over()
        self._on_earlier()

    def set_pause(self, notice: PauseNotice | Literal[Unknown.UNKNOWN] | None) -> None:
        """This is what the ConfigMap says now."""
        if notice != self.surroundings.pause:
            self.surroundings.pause = notice
            self._look_at_all_again(Cause.PAUSED)

    def set_namespaces(
        self, labels: Mapping[str, Mapping[str, str]] | Literal[Unknown.UNKNOWN]
    ) -> None:
        """These are the labels by name of namespace now."""
        self.surroundings.namespaces = labels
        self._look_again_at(Cause.EXCLUDED)

    # What the mirror tells, of all nodes, also those that are not ours.

    def nodes_relisted(self) -> None:
        """See NodeListener; each node is told of."""

    def node_changed(self, name: str, node: Node | None) -> None:  # noqa: ARG002 - the listener's
        """See NodeListener."""
        self.surroundings.look_at_node(name)

    # What the table of evictions tells.

    def entered(self, eviction: Eviction) -> None:
        """See `watcher` of PendingEvictions."""
        self.surroundings.blast.entered(eviction)

    def left(self, eviction: Eviction) -> None:
        """See `watcher` of PendingEvictions."""
        if eviction.state is State.HELD:
            self._drop(eviction)
        self.surroundings.blast.left(eviction.uid)

    def look_again(self, eviction: Eviction) -> None:
        """One that stands in its line is looked at anyway before it begins."""
        if self._lines.keys_of(eviction.uid) != self._keys(eviction):
            self._holding.mark(eviction)
            self._on_earlier()

    # What people see.

    def hold(self, eviction: Eviction) -> Hold | None:
        """See `watcher` of PendingEvictions."""
        if self._lines.keys_of(eviction.uid) is not None:
            return self._lines.hold(eviction.uid, self._clock.elapsed())
        return None if eviction.waits is None else eviction.waits.hold

    def counts(self) -> Counter[str]:
        """How many are HELD, by cause; `due` are those that only wait for their turn."""
        counts, now = self._holding.counts(), self._clock.elapsed()
        for line in self._lines:
            hold = self._lines.hold_of(line, now)
            counts[hold.cause.value if hold else "due"] += line.size
        counts["due"] += self._second_look.waiting
        return counts

    # How it decides.

    def _is_blind(self) -> bool:
        """Counts of pods by taint are not complete before all nodes have been looked at."""
        bounded = self.surroundings.policies.blast_radius is not None
        return bounded and bool(self.surroundings.blast.uncounted or self._evaluator.unread_nodes)

    def _work_off(self, now: float) -> bool:
        """Look at what fell due and at what is marked; False if some are left for later."""
        wall = self._clock.now().timestamp()
        for _ in range(_BATCH):
            eviction = self._next(wall)
            if eviction is None:
                return True
            self._look(eviction, now)
        return False

    def _next(self, wall: float) -> Eviction | None:
        due = self._pending.hold() or self._holding.next(wall) if self._governs else None
        return due or self._second_look.next(self._lines)

    def _look(self, eviction: Eviction, now: float) -> None:
        self._drop(eviction)
        hold = self.surroundings.hold(eviction)
        if not self._governs:
            waits_of(eviction).end(now)
            self._pending.release(eviction)
        elif hold is not None:
            self._hold(eviction, hold, now)
        else:
            self._line_up(eviction, now)

    def _may_begin(self, eviction: Eviction, now: float) -> bool:
        """Whether one that the limits let begin still may, by all else; if not it is looked at."""
        in_its_line = self._keys(eviction) == self._lines.keys_of(eviction.uid)
        if in_its_line and self.surroundings.hold(eviction) is None:
            return True
        self._look(eviction, now)
        return False

    def _hold(self, eviction: Eviction, hold: Hold, now: float) -> None:
        waits = waits_of(eviction)
        waits.begin(hold, now)
        until = None if hold.until is None else hold.until.timestamp()
        self._holding.put(eviction, hold.cause, until)
        if not waits.told:
            waits.told = True
            self._on_held(eviction, hold)

    def _line_up(self, eviction: Eviction, now: float) -> None:
        waits = waits_of(eviction)
        waits.end(now)
        waits.since = now
        place = place_in_line(eviction, self.surroundings.policies, now)
        self._lines.put(eviction, self._keys(eviction), place, now)

    def _begin(self, eviction: Eviction, now: float) -> Eviction:
        self._drop(eviction)
        self._lines.begun(self._running.begin(eviction, now), now)
        return self._pending.begin(eviction)

    def _drop(self, eviction: Eviction) -> None:
        """Take it out of wherever it waits."""
        uid = eviction.uid
        self._holding.drop(uid)
        lines = self._second_look.standing(uid) or self._lines
        last = lines.last_hold(uid)
        if lines.remove(uid) and last is not None:
            waits = waits_of(eviction)
            waits.add(last, self._clock.elapsed() - waits.since)

    def _keys(self, eviction: Eviction) -> tuple[Key, ...]:
        pod = eviction.pod
        zone = self.surroundings.zone(pod)
        return self._meters.keys(pod.spec.node_name, pod.metadata.namespace, zone)

    def _opens(self) -> bool:
        if not self._governs and not self._pending.count(State.HELD):
            self._pending.watcher = None
        return self._is_open

    def _start_over(self) -> None:
        held, runs = State.HELD, State.RUNNING
        busy = [one for one in self._pending if one.state is held or one.state is runs]
        self._running.count_anew(one for one in busy if one.state is runs)
        self._second_look.at_all((one for one in busy if one.state is held), self._lines)
        self._lines = Lines(self._meters)
        self.surroundings.blast.count_anew(self._pending)

    def _breaker_changed(self, where: str, slow_per_second: float | None) -> None:
        now = self._clock.elapsed()
        key = TOTAL if where == CLUSTER else Key(Scope.ZONE, where)
        self._meters.slow_down(key, slow_per_second, now)
        self._lines.freed((key,), now)
        self._look_at_all_again(Cause.BREAKER_OPEN)

    def _look_at_all_again(self, cause: Cause) -> None:
        """At those whom the cause holds, and at those in line, whom it may hold now."""
        self._second_look.at_those_in(self._lines)
        self._look_again_at(cause)

    def _look_again_at(self, cause: Cause) -> None:
        self._holding.mark_all(cause)
        self._on_earlier()
