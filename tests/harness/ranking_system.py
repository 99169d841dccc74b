"""A fourth system, made up for tests: one that needs all that the other three do not.

A node may say by a taint how many pods have a seat there. Where there are more for a minute, the
one of the lowest priority goes, then the next, until all have one. So the system weighs pods
against their neighbours; what it says changes though no object does; it leaves a state for the next
round, and reports a condition of the node; and it tells in each eviction how crowded it was.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from bailiff.decisions import (
    SYSTEMS,
    EvictionTerms,
    Finding,
    Round,
    System,
    Systems,
    Unread,
    Verdict,
)
from bailiff.decisions.cost import Cost
from bailiff.decisions.decision import Subject, TraceStep, keep
from bailiff.kinds import PodCondition, Taint, Time
from bailiff.kinds.meta import Int32, Value
from bailiff.worker.systems import HALVES, SystemByFacts, halves_of
from tests.harness.kinds import node_of

if TYPE_CHECKING:
    from bailiff.decisions import Options, Scene
    from bailiff.decisions.system import LookUp
    from bailiff.kinds import Node, Pod
    from bailiff.worker.systems import Parts

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


class SeatFacts(Value, frozen=True):
    """What the last round has left.

    Attributes:
        crowded_since: from when on there were too many; absent: there were not.
    """

    crowded_since: Time | None = None


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
        self._places = {pod.key: place for place, pod in enumerate(ranked)}
        self._crowd = f"{len(ranked)} pods for {_seats_on(scene.node)} seats"
        self._explain = options.explain
        crowded = len(ranked) > (_seats_on(scene.node) or 0)
        since = (facts.crowded_since or scene.now) if crowded else None
        due = None if since is None else since + PATIENCE
        self._goes = due is not None and due <= scene.now
        self.holds_until = None if self._goes else due
        self.report = SeatReport(crowded=crowded, next=SeatFacts(crowded_since=since))

    def of(self, pod: Pod) -> Finding:
        place, priority = self._places[pod.key], pod.spec.priority
        first = place == 0 and self._goes
        step = TraceStep(
            rule="Seat",
            outcome="Last" if place == 0 else "Before",
            message=f"place {place} by priority {priority}",
            subject=SeatSubject(place=place, priority=priority),
        )
        trace = (step,) if self._explain else ()
        if not first:
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
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__(SEATING, parts)
        self.told: list[tuple[str, bool]] = []
        self._next: dict[str, SeatFacts] = {}

    def facts(self, node: Node | None) -> SeatFacts:
        return SeatFacts() if node is None else self._next.get(node.metadata.name, SeatFacts())

    def evaluated(self, node: Node, report: Value | None) -> None:
        assert isinstance(report, SeatReport)
        self._next[node.metadata.name] = report.next
        condition = (node.metadata.name, report.crowded)
        if not self.told or self.told[-1] != condition:
            self.told.append(condition)


SEATING = SeatSystem()
WITH_SEATS = Systems((*SYSTEMS.all, SEATING))
WORKER_WITH_SEATS = halves_of(WITH_SEATS, {**HALVES, NAME: SeatsInWorker})


def seating_node(name: str, seats: int) -> Node:
    """A node with so many seats; no other system minds."""
    return node_of(name, Taint(key=SEATS, value=str(seats), effect="NoSchedule"))
