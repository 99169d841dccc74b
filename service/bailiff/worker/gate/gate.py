"""May it begin? Every eviction that is due asks here, as long as there are policies.

An eviction that falls due is looked at once. Where a rule holds it back it is kept by the rule's
cause, and looked at again when the rule says so, or when what the rule looked at has changed.
Where none does it stands in line until the limits let it begin, and is looked at once more then.
Nothing is looked at in turn for no reason, so a step costs O(log n), however many wait. Where the
policies, the pause or a breaker change, all are looked at once more, a batch at a time, and nobody
begins before that is through: what held them was decided by what no longer counts.

Without policies none of this happens: what is due runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.policies import Cause, Policies
from bailiff.worker.gate.lines import Lines, place_in_line
from bailiff.worker.gate.meters import TOTAL, Key, Meters, Scope
from bailiff.worker.gate.rule_facts import RuleFacts, needs_gate
from bailiff.worker.gate.rule_holds import RuleHolds
from bailiff.worker.gate.zones import CLUSTER
from bailiff.worker.timers.states import State
from bailiff.worker.timers.waits import waits_of

if TYPE_CHECKING:
    import asyncio
    from collections import Counter
    from collections.abc import Mapping
    from typing import Literal

    from bailiff.clock import Clock
    from bailiff.decisions.policies import Hold, PauseNotice, Unknown
    from bailiff.kinds import Node
    from bailiff.worker.observe.telling import Teller
    from bailiff.worker.timers.evaluator import Evaluator
    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.timers.pending import PendingEvictions

# Looked at in one go, about 5 ms.
_BATCH = 256
# How long to wait for the evaluator, where counts are not complete before it is through.
_MOMENT = 0.01


class Gate:
    """Between due and running."""

    def __init__(
        self,
        pending: PendingEvictions,
        evaluator: Evaluator,
        clock: Clock,
        teller: Teller,
        earlier: asyncio.Event,
    ) -> None:
        """Stand open.

        Args:
            pending: where evictions come from.
            evaluator: with the mirror.
            clock: for both kinds of time.
            teller: told of an eviction that a rule holds back, once.
            earlier: set when `next_due` is earlier than it was.
        """
        self._pending = pending
        self._evaluator = evaluator
        self._clock = clock
        self._teller = teller
        self._earlier = earlier
        self.facts = RuleFacts(evaluator.mirror, clock, self._breaker_changed)
        self._meters = Meters()
        self._lines = Lines(self._meters)
        self._rule_holds = RuleHolds(pending)
        # What runs, with the limits for which it counts.
        self._running: dict[Eviction, tuple[Key, ...]] = {}
        evaluator.mirror.listen_to_nodes(self)
        # There are policies. Once there are none the gate opens, when nobody is HELD any more.
        self._governs = False

    @property
    def _is_open(self) -> bool:
        return not self._governs and not self._pending.count(State.HELD)

    # What the executor asks.

    def take(self) -> Eviction | None:
        """The first that may begin, now RUNNING; None if none may."""
        now = self._clock.elapsed()
        if self._is_open:
            self._pending.watcher = None
            eviction = self._pending.take()
            return None if eviction is None else self._count(eviction, now)
        self.facts.zones.judge()
        if self._is_blind() or not self._work_off(now):
            return None
        for _ in range(_BATCH):
            eviction = self._lines.first(now)
            if eviction is None:
                break
            if self._may_begin(eviction):
                return self._begin(eviction, now)
            self._look(eviction, now)
        return None

    def next_due(self) -> float | None:
        """The instant of the next look, in elapsed time; None: when something changes."""
        due = self._pending.next_due()
        if self._is_open:
            return due
        now = self._clock.elapsed()
        if self._is_blind():
            return now + _MOMENT
        again = self._rule_holds.next_due(now, self._clock.now().timestamp())
        others = (due, again, self._lines.next_free(now))
        return min((at for at in others if at is not None), default=None)

    def finished(self, eviction: Eviction) -> None:
        """An attempt has ended."""
        keys = self._running.pop(eviction)
        self._meters.finish(keys)
        self._lines.let_out(keys, self._clock.elapsed())
        if not self._is_open:
            self._earlier.set()

    # What others tell.

    def set_policies(self, policies: Policies) -> None:
        """Go on with these; what runs goes on and still counts.

        Whoever is HELD stays so, and is looked at by these before anybody begins.
        """
        # Before the limits change: a line waits for a limit that may be gone then.
        self._look_at_all_again()
        if self.facts.policies.blast_radius is None and policies.blast_radius is not None:
            self._evaluator.mark_all()
        zones = policies.breakers.zone is not None
        self._meters.set_limits(policies.limits, zones=zones, now=self._clock.elapsed())
        self.facts.set_policies(policies)
        self._governs = needs_gate(policies)
        self._pending.watcher = None if self._is_open else self
        self._running = {one: self._keys(one) for one in self._running}
        self._meters.count_anew(self._running.values())

    def set_pause(self, notice: PauseNotice | Literal[Unknown.UNKNOWN] | None) -> None:
        """This is what the ConfigMap says now."""
        if notice != self.facts.pause:
            self.facts.pause = notice
            self._look_at_all_again()

    def set_namespaces(
        self, labels: Mapping[str, Mapping[str, str]] | Literal[Unknown.UNKNOWN]
    ) -> None:
        """These are the labels by name of namespace now."""
        self.facts.namespaces = labels
        self._look_again_at(Cause.EXCLUDED)

    def nodes_relisted(self) -> None:
        """See NodeListener; each node is told of."""

    def node_changed(self, name: str, node: Node | None) -> None:  # noqa: ARG002 - the listener's
        """See NodeListener; nodes of all shards are told of."""
        if self.facts.look_at_node(name):
            self._earlier.set()

    # What the table of evictions tells.

    def entered(self, eviction: Eviction) -> None:
        """See `watcher` of PendingEvictions."""
        if self.facts.blast.entered(eviction):
            self._look_again_at(Cause.BLAST_RADIUS)

    def left(self, eviction: Eviction) -> None:
        """See `watcher` of PendingEvictions."""
        if eviction.state is State.HELD:
            self._drop(eviction, self._clock.elapsed())
        if self.facts.blast.left(eviction.uid):
            self._look_again_at(Cause.BLAST_RADIUS)

    def look_again(self, eviction: Eviction) -> None:
        """One that stands in its line is looked at anyway before it begins."""
        if self._lines.keys_of(eviction) != self._keys(eviction):
            self._rule_holds.look_at(eviction)
            self._earlier.set()

    # What people see.

    def hold(self, eviction: Eviction) -> Hold | None:
        """See `watcher` of PendingEvictions."""
        if eviction in self._lines:
            return self._lines.hold(eviction, self._clock.elapsed())
        return None if eviction.waits is None else eviction.waits.hold

    def counts(self) -> Counter[str]:
        """How many are HELD, by cause; `due` are those that only wait for their turn."""
        counts = self._rule_holds.counts() + self._lines.counts(self._clock.elapsed())
        counts["due"] = self._pending.count(State.HELD) - counts.total()
        return counts

    # How it decides.

    def _is_blind(self) -> bool:
        """Counts of pods by taint are not complete before all nodes have been looked at."""
        return self.facts.policies.blast_radius is not None and self._evaluator.unread_nodes > 0

    def _work_off(self, now: float) -> bool:
        """Look at who fell due, and who is to be looked at; False if some are left for later."""
        wall = self._clock.now().timestamp()
        for _ in range(_BATCH):
            due = self._pending.hand_over() if self._governs else None
            eviction = due or self._rule_holds.next(wall)
            if eviction is None:
                return True
            self._look(eviction, now)
        return False

    def _look(self, eviction: Eviction, now: float) -> None:
        """Release it where there are no policies; else keep it where it has to wait."""
        self._drop(eviction, now)
        hold = self.facts.hold(eviction) if self._governs else None
        if hold is not None:
            self._keep(eviction, hold, now)
            return
        waits = waits_of(eviction)
        waits.end(now)
        if self._governs:
            waits.since = now
            place = place_in_line(eviction, self.facts.policies, now)
            self._lines.put(eviction, self._keys(eviction), place)
        else:
            self._pending.release(eviction)

    def _keep(self, eviction: Eviction, hold: Hold, now: float) -> None:
        self._rule_holds.put(eviction, hold)
        waits = waits_of(eviction)
        waits.begin(hold, now)
        if not waits.told:
            waits.told = True
            self._teller.held(eviction, hold)

    def _may_begin(self, eviction: Eviction) -> bool:
        """Whether one that the limits let begin still may, by all else."""
        in_its_line = self._keys(eviction) == self._lines.keys_of(eviction)
        return in_its_line and self.facts.hold(eviction) is None

    def _begin(self, eviction: Eviction, now: float) -> Eviction:
        self._count(eviction, now)
        self._drop(eviction, now)
        return self._pending.begin(eviction)

    def _count(self, eviction: Eviction, now: float) -> Eviction:
        """From now on it runs, until it has `finished`."""
        keys = self._running[eviction] = self._keys(eviction)
        self._meters.start(keys, now)
        return eviction

    def _drop(self, eviction: Eviction, now: float) -> None:
        """Take it out of wherever it waits."""
        self._rule_holds.drop(eviction)
        last = self._lines.remove(eviction, now)
        if last is not None:
            waits = waits_of(eviction)
            waits.add(last, now - waits.since)

    def _keys(self, eviction: Eviction) -> tuple[Key, ...]:
        pod = eviction.pod
        zone = self.facts.zone(pod)
        return self._meters.keys(pod.spec.node_name, pod.metadata.namespace, zone)

    def _breaker_changed(self, where: str, slow_per_second: float | None) -> None:
        key = TOTAL if where == CLUSTER else Key(Scope.ZONE, where)
        self._meters.slow_down(key, slow_per_second, self._clock.elapsed())
        self._look_at_all_again()

    def _look_at_all_again(self) -> None:
        self._lines.renew()
        self._rule_holds.look_at_all()
        self._earlier.set()

    def _look_again_at(self, cause: Cause) -> None:
        self._rule_holds.look_at_held_by(cause)
        self._earlier.set()
