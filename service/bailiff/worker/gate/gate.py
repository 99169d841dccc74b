"""May it begin? Every eviction that is due asks here, as long as there are policies.

An eviction that falls due is looked at once. Where a rule holds it back it is kept by the rule's
cause, and looked at again when the rule says so, or when what the rule looked at has changed.
Where none does it stands in line until the limits let it begin, and is looked at once more then.
Where the policies, the pause or a breaker change, all are looked at once more, a batch at a time,
and nobody begins before that is through: what held them was decided by what no longer counts.

Without policies none of this happens: what is due runs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bailiff.decisions.policies import CLUSTER, Cause, Policies, may_hold, rank
from bailiff.worker.execute.outcomes import REFUSALS, deadline_of
from bailiff.worker.gate.held import Held, Place
from bailiff.worker.gate.meters import TOTAL, Key, Keys, Meters, Scope
from bailiff.worker.gate.rule_facts import RuleFacts
from bailiff.worker.timers.queue import DeadlineQueue
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
        self.facts = RuleFacts(
            evaluator.mirror, clock, evaluator.publisher, evaluator.overrides_policies, self
        )
        self._meters = Meters()
        self._held = Held(self._meters)
        # Who stands behind, refused, by when it stands there no longer.
        self._refused: DeadlineQueue[Eviction] = DeadlineQueue()
        # What runs, with all for which it counts.
        self.running: dict[Eviction, Keys] = {}
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
        self.judge_breakers()
        ready = not self._is_blind() and self._work_off(now)
        eviction = self._held.first(now) if ready else None
        return None if eviction is None else self._begin(eviction, now)

    def next_due(self) -> float | None:
        """The instant of the next look, in elapsed time; None: when something changes."""
        due = self._pending.next_due()
        if self._is_open:
            return due
        now = self._clock.elapsed()
        if self._is_blind():
            return now + _MOMENT
        at = self._held.next_due(now, self._clock.now().timestamp())
        at = min([at, *(one for one in (due, self._refused.next_due()) if one is not None)])
        return None if at == math.inf else at

    def finished(self, eviction: Eviction) -> None:
        """An attempt has ended."""
        self._meters.finish(self.running.pop(eviction))
        self._held.something_ended()
        if not self._is_open:
            self._earlier.set()

    # What others tell.

    def set_policies(self, policies: Policies) -> None:
        """Go on with these; what runs goes on and still counts.

        Whoever is HELD stays so, and is looked at by these before anybody begins.
        """
        if self.facts.policies.blast_radius is None and policies.blast_radius is not None:
            self._evaluator.mark_all()
        self.facts.set_policies(policies)
        self._governs = may_hold(policies)
        self._pending.watcher = None if self._is_open else self
        self._set_limits()

    def set_pause(self, notice: PauseNotice | Literal[Unknown.UNKNOWN] | None) -> None:
        """This is what the ConfigMap says now."""
        if notice != self.facts.pause:
            self.facts.pause = notice
            self._look_again()

    def set_namespaces(
        self, labels: Mapping[str, Mapping[str, str]] | Literal[Unknown.UNKNOWN]
    ) -> None:
        """These are the labels by name of namespace now."""
        self.facts.namespaces = labels
        self._look_again(Cause.EXCLUDED)

    def nodes_relisted(self) -> None:
        """See NodeListener; each node is told of."""

    def node_changed(self, name: str, node: Node | None) -> None:  # noqa: ARG002 - the listener's
        """See NodeListener; nodes of all shards are told of."""
        if self.facts.look_at_node(name):
            self._earlier.set()

    def gang_changed(self, group: str) -> None:
        """See GangListener."""
        self._look_again(Cause.GANG, group)

    def counts_changed(self) -> None:
        """Budgets over time have counted something else than what was read before."""
        self._look_again(Cause.OVER_TIME)

    # What the table of evictions tells.

    def entered(self, eviction: Eviction) -> None:
        """See `watcher` of PendingEvictions."""
        if self.facts.blast.entered(eviction):
            self._look_again(Cause.BLAST_RADIUS)

    def left(self, eviction: Eviction) -> None:
        """See `watcher` of PendingEvictions."""
        if eviction.state is State.HELD:
            self._drop(eviction, self._clock.elapsed())
        if self.facts.blast.left(eviction.uid):
            self._look_again(Cause.BLAST_RADIUS)

    def look_again(self, eviction: Eviction) -> None:
        """One that stands in its line is looked at anyway before it begins."""
        if self._held.waits_for(eviction) not in {None, self._limits_of(eviction)}:
            self._look(eviction, self._clock.elapsed())
            self._earlier.set()

    # What people see.

    def judge_breakers(self) -> None:
        """Judge them by the nodes that there are now, and obey those that say something else."""
        if self.facts.zones.judge():
            self._set_limits()

    def hold(self, eviction: Eviction) -> Hold | None:
        """See `watcher` of PendingEvictions."""
        return self._held.hold(eviction, self._clock.elapsed())

    def counts(self) -> Counter[str]:
        """How many are HELD, by cause; `due` are those that only wait for their turn."""
        counts = self._held.counts(self._clock.elapsed())
        counts["due"] = self._pending.count(State.HELD) - counts.total()
        return counts

    # How it decides.

    def _is_blind(self) -> bool:
        """Counts of pods by cause are not complete before all that has changed was looked at."""
        return self.facts.policies.blast_radius is not None and self._evaluator.is_behind

    def _work_off(self, now: float) -> bool:
        """Look at who fell due, and who is to be looked at; False if some are left for later."""
        wall = self._clock.now().timestamp()
        for _ in range(_BATCH):
            due = self._pending.hand_over() if self._governs else None
            eviction = due or self._refused.pop_due(now) or self._held.to_look_at(wall)
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
            self._held.line_up(eviction, self._limits_of(eviction), self._place(eviction, now))
        else:
            self._pending.release(eviction)

    def _keep(self, eviction: Eviction, hold: Hold, now: float) -> None:
        until = math.inf if hold.until is None else hold.until.timestamp()
        self._held.hold_back(eviction, hold.cause, until)
        waits = waits_of(eviction)
        waits.begin(hold, now)
        if not waits.told:
            waits.told = True
            self._teller.held(eviction, hold)

    def _begin(self, eviction: Eviction, now: float) -> Eviction | None:
        """Let one run that the limits let begin, unless something else holds it back by now."""
        line, limits = self._held.waits_for(eviction), self._limits_of(eviction)
        if line != limits or self.facts.hold(eviction) is not None:
            # What keeps it from beginning may concern all who stand in line with it.
            self._held.look_again(line)
            return None
        self._drop(eviction, now)
        return self._pending.begin(self._count(eviction, now))

    def _count(self, eviction: Eviction, now: float) -> Eviction:
        """From now on it runs, until it has `finished`."""
        keys = self.running[eviction] = self.facts.keys(eviction.pod, eviction.finding)
        self._meters.start(keys, now)
        return eviction

    def _drop(self, eviction: Eviction, now: float) -> None:
        """Take it out of wherever it waits."""
        self._refused.cancel(eviction)
        last = self._held.remove(eviction)
        if last is not None:
            waits = waits_of(eviction)
            waits.add(last, now - waits.since)

    def _limits_of(self, eviction: Eviction) -> Keys:
        """What has a limit now and concerns it, but for the total."""
        _, *others = self.facts.keys(eviction.pod, eviction.finding)
        return tuple([key for key in others if self._meters.limit(key)])

    def _place(self, eviction: Eviction, now: float) -> Place:
        """Who was refused goes behind, until a hard deadline lets it go all the same."""
        policies = self.facts.policies
        overdue_at = deadline_of(eviction.due, policies.eviction_api)
        refused = eviction.outcome in REFUSALS and now < overdue_at
        if refused:
            self._refused.put(eviction, overdue_at)
        of_pod = rank(eviction.pod, policies.drain_order, refused=refused)
        return Place(of_pod, eviction.place)

    def _set_limits(self) -> None:
        """Go on with those of the policies and of the breakers, and look at everybody again."""
        self.facts.zones.judge()
        breakers = {
            TOTAL if where == CLUSTER else Key(Scope.ZONE, where): state
            for where, state in self.facts.zones.states.items()
            if state.slow_per_second is not None
        }
        self._meters.set_limits(self.facts.policies.limits, breakers, self._clock.elapsed())
        self._look_again()

    def _look_again(self, cause: Cause | None = None, group: str = "") -> None:
        """Look soon at all whom a cause holds; None: at everybody. One gang or all are news."""
        self.facts.forget_gangs(group)
        if cause is None:
            self._held.look_again_at_all()
        else:
            self._held.look_again(cause)
        self._earlier.set()
