"""A system made up for tests: one that needs all that the others do not.

A node may say by a taint how many pods have a seat there. Where there are more for a minute, the
one of the lowest priority goes, then the next, until all have one. So the system weighs pods
against their neighbours; what it says changes though no object does; it leaves a state for the next
round, and reports a condition of the node; and it tells in each eviction how crowded it was.

An usher may count the pods of a node now and then. What he has counted is old as soon as a pod
goes, so by one count one pod goes, and no other while its eviction is under way.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from bailiff.decisions import (
    EvictionTerms,
    Finding,
    Round,
    System,
    Systems,
    Unread,
    Verdict,
)
from bailiff.decisions.cost import Cost
from bailiff.decisions.decision import (
    ObjectReference,
    Subject,
    TraceStep,
    keep,
    reference_to,
)
from bailiff.decisions.device_taints import DEVICE_TAINTS
from bailiff.decisions.node_taints import NODE_TAINTS
from bailiff.kinds import PodCondition, Taint, Time
from bailiff.kinds.meta import Int32, Value
from bailiff.worker.systems import HALVES, SystemByFacts, halves_of
from tests.harness.kinds import node_of

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions import Options, Scene
    from bailiff.decisions.system import LookUp
    from bailiff.kinds import Node, Pod
    from bailiff.worker.execute.outcomes import Outcome
    from bailiff.worker.systems import Parts
    from bailiff.worker.timers.eviction import Eviction

NAME = "seats"
SEATS = "example.com/seats"
PATIENCE = timedelta(seconds=60)
TERMS = EvictionTerms(
    controller="usher",
    event_reason="Unseated",
    condition=PodCondition(type="DisruptionTarget", status="True", reason="NoSeat"),
    phase="Failed",
    status_reason="Unseated",
    grace_period_seconds=30,
    event_type="Warning",
    cancellation_reason="Reseated",
)


class Unseated(Finding, frozen=True):
    """That the pod has no seat."""

    eviction: ClassVar[EvictionTerms] = TERMS

    @property
    def terms(self) -> EvictionTerms | None:
        terms = super().terms
        if terms is None or terms.condition is None:
            return terms
        told = replace(terms.condition, message=self.message)
        return replace(
            terms, condition=told, status_message=self.message, event_message=self.message
        )


class SeatSubject(Subject, frozen=True, tag="seat"):
    """How a pod stands among its neighbours.

    Attributes:
        place: in which it would go, from 0.
        priority: by which it is ranked.
    """

    place: Int32
    priority: Int32 = 0


class SeatFacts(Value, frozen=True, forbid_unknown_fields=True):
    """What an usher has counted, and what the last round has left.

    Attributes:
        crowded_since: from when on there were too many; absent: there were not.
        counted: so many pods; absent: those that are there are counted.
        counted_at: when that was.
        unseated: whom a round has chosen.
        unseated_by: the count that it was chosen by, by its instant.
        under_way: the eviction of that pod has begun, and is not over.
    """

    crowded_since: Time | None = None
    counted: Int32 | None = None
    counted_at: Time | None = None
    unseated: ObjectReference | None = None
    unseated_by: Time | None = None
    under_way: bool = False

    @property
    def chosen(self) -> ObjectReference | None:
        """Who goes and nobody else, whatever has become of it; None: the next is to be chosen."""
        used = self.counted_at is not None and self.unseated_by == self.counted_at
        return self.unseated if used or self.under_way else None


class SeatReport(Value, frozen=True):
    """A condition of the node, and the facts of the next round.

    Attributes:
        crowded: there are more pods than seats.
        next: for the next round.
    """

    crowded: bool
    next: SeatFacts


class SeatSystem(System[SeatFacts]):
    """Has the pod a seat?"""

    name = NAME
    needs = "node"
    ranks = True
    facts = SeatFacts
    report = SeatReport
    subjects = (SeatSubject,)

    def ranks_on(self, node: Node | None) -> bool:
        return _seats_on(node) is not None

    def is_reached(self, scene: Scene, facts: SeatFacts) -> bool:
        known = scene.node is not None and scene.neighbours is not None
        return known and _seats_on(scene.node) is not None

    def cost(self, scene: Scene, facts: SeatFacts, options: Options) -> Cost:
        asked = len(scene.pods)
        ranked = asked + len(scene.neighbours or ())
        return Cost(steps=4 * ranked, told=2000 * asked + 200, path="$.pods")

    def prepare(self, scene: Scene, facts: SeatFacts, options: Options) -> Round:
        return _Seating(scene, facts, options)

    def look_up(self, scene: Scene, options: Options) -> LookUp[SeatFacts]:
        yield from ()
        if scene.neighbours is None and _seats_on(scene.node) is not None:
            return _NotSeen()
        return SeatFacts()


class _NotSeen(Unread):
    def of(self, pod: Pod) -> Finding:
        return keep(NAME, "NeighboursNotRead", "nobody may see who sits there")


class _Seating(Round):
    def __init__(self, scene: Scene, facts: SeatFacts, options: Options) -> None:
        seated = [pod for pod in scene.on_node if not pod.has_ended]
        ranked = sorted(seated, key=lambda pod: (pod.spec.priority, pod.key))
        self._places = {reference_to(pod): place for place, pod in enumerate(ranked)}
        crowd = len(ranked) if facts.counted is None else facts.counted
        self._crowd = f"{crowd} pods for {_seats_on(scene.node)} seats"
        self._explain = options.explain
        crowded = crowd > (_seats_on(scene.node) or 0)
        since = (facts.crowded_since or scene.now) if crowded else None
        due = None if since is None else since + PATIENCE
        self._goes = due is not None and due <= scene.now
        self.holds_until = None if self._goes else due
        self._chosen = (facts.chosen or next(iter(self._places), None)) if self._goes else None
        by = facts.unseated_by if facts.chosen else facts.counted_at
        left = SeatFacts(since, unseated=self._chosen, unseated_by=by if self._chosen else None)
        self.report = SeatReport(crowded=crowded, next=left)

    def of(self, pod: Pod) -> Finding | None:
        place, priority = self._places.get(reference_to(pod)), pod.spec.priority
        if place is None:
            # It has come since, or has no seat to lose.
            return None
        goes = self._chosen == reference_to(pod)
        step = TraceStep(
            rule="Seat",
            outcome="Last" if place == 0 else "Before",
            message=f"place {place} by priority {priority}",
            subject=SeatSubject(place=place, priority=priority),
        )
        trace = (step,) if self._explain else ()
        if not goes:
            return keep(NAME, "Seated", self._crowd, trace)
        return Unseated(
            NAME, Verdict.EVICT_NOW, "NoSeat", self._crowd, cause="no seat", trace=trace
        )


def _seats_on(node: Node | None) -> int | None:
    taints = () if node is None else node.spec.taints
    return next((int(taint.value) for taint in taints if taint.key == SEATS), None)


class SeatsInWorker(SystemByFacts[SeatFacts]):
    """Keeps the facts of the next round.

    Attributes:
        told: what was reported, each change once: node, whether it is crowded.
        heard: what became of evictions: pod, what was told, and the outcome where there is one.
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__(SEATING, parts)
        self.told: list[tuple[str, bool]] = []
        self.heard: list[tuple[str, str]] = []
        self._clock, self._marks = parts.clock, parts.marks
        self._next: dict[str, SeatFacts] = {}
        self._counts: dict[str, tuple[int, datetime]] = {}
        self._under_way: dict[str, str] = {}

    def count(self, node: str, pods: int) -> None:
        """The usher has counted so many."""
        self._counts[node] = pods, self._clock.now()
        self._marks.look_at_node(node)

    def facts(self, node: Node | None) -> SeatFacts:
        name = "" if node is None else node.metadata.name
        counted, at = self._counts.get(name, (None, None))
        under_way = name in self._under_way.values()
        left = self._next.get(name, SeatFacts())
        return replace(left, counted=counted, counted_at=at, under_way=under_way)

    def evaluated(self, node: Node, report: Value | None) -> None:
        # At once: the next look, were it for the write of this very eviction, finds the choice.
        assert isinstance(report, SeatReport)
        self._next[node.metadata.name] = report.next
        condition = (node.metadata.name, report.crowded)
        if not self.told or self.told[-1] != condition:
            self.told.append(condition)

    def began(self, eviction: Eviction) -> None:
        self._under_way[eviction.uid] = eviction.pod.spec.node_name
        self._hear(eviction, "began")

    def failed(self, eviction: Eviction, outcome: Outcome) -> None:
        self._under_way.pop(eviction.uid, None)
        # It may be chosen by a newer count now, which is used up then.
        self._marks.look_at_node(eviction.pod.spec.node_name)
        self._hear(eviction, f"failed: {outcome.value}")

    def ended(self, eviction: Eviction, outcome: Outcome) -> None:
        self._under_way.pop(eviction.uid, None)
        self._hear(eviction, f"ended: {outcome.value}")

    def _hear(self, eviction: Eviction, what: str) -> None:
        self.heard.append((eviction.pod.metadata.name, what))

    def forget_node(self, name: str) -> None:
        self._next.pop(name, None)
        self._counts.pop(name, None)

    def lost(self) -> None:
        self._next.clear()
        self._counts.clear()
        self._under_way.clear()


SEATING = SeatSystem()
# Without the pressure on nodes, which ranks the pods of all of them.
WITH_SEATS = Systems((NODE_TAINTS, DEVICE_TAINTS, SEATING))
WORKER_WITH_SEATS = halves_of(WITH_SEATS, {**HALVES, NAME: SeatsInWorker})


def seating_node(name: str, seats: int) -> Node:
    """A node with so many seats; no other system minds."""
    return node_of(name, Taint(key=SEATS, value=str(seats), effect="NoSchedule"))
