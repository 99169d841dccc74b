"""A third system, made up for tests: it must be found wherever systems are, with nothing changed.

A node whose lights are to go out carries a taint of the key LIGHTS_OUT, of whatever effect. Pods of
a priority below 1,000 have a minute from its timeAdded on. So the system reads pod and node, has
no section of its own, and brings a report, a subject, terms of eviction and a question of its own.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from bailiff.decisions import (
    SYSTEMS,
    Decision,
    EvictionTerms,
    Finding,
    Plan,
    PodFacts,
    Question,
    Round,
    Scene,
    Size,
    System,
    Systems,
    Verdict,
    combine,
)
from bailiff.decisions.cost import Cost
from bailiff.decisions.decision import Subject, TraceStep, keep, keep_pod
from bailiff.decisions.system import NoFacts
from bailiff.kinds import PodCondition, Taint, Time
from bailiff.kinds.meta import Int32, Value
from tests.harness.kinds import node_of

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions import Options
    from bailiff.decisions.question import QuestionTerms
    from bailiff.kinds import Node, Pod

NAME = "lights-out"
LIGHTS_OUT = "example.com/lights-out"
ESSENTIAL = 1000
MINUTE = timedelta(seconds=60)
TERMS = EvictionTerms(
    controller="lights-out-controller",
    event_reason="LightsOutEviction",
    condition=PodCondition(
        type="DisruptionTarget",
        status="True",
        reason="LightsOut",
        message="The lights of the node go out",
    ),
    phase="Failed",
    status_reason="LightsOut",
    grace_period_seconds=7,
)


class LightsOutEviction(Finding, frozen=True):
    """That the pod goes with the lights."""

    eviction: ClassVar[EvictionTerms] = TERMS


class LightsSubject(Subject, frozen=True, tag="lights"):
    """The lights of a node, and how much a pod matters.

    Attributes:
        out_at: when they go out.
        priority: of the pod.
    """

    out_at: Time
    priority: Int32 = 0


class LightsReport(Value, frozen=True):
    """What is said of the lights.

    Attributes:
        out_at: when they go out.
        pods: how many pods sit in the dark then.
    """

    out_at: Time
    pods: int = 0


class DecideByLightResponse(Value, frozen=True):
    """The answer by light.

    Attributes:
        decision: of this system alone.
    """

    decision: Decision

    def counted(self) -> tuple[Decision, ...]:
        return (self.decision,)


def _weigh_by_light(facts: PodFacts, terms: QuestionTerms) -> Plan[DecideByLightResponse]:
    scene = Scene((facts.pod,), terms.now, facts.node)

    def answer() -> DecideByLightResponse:
        found = LIGHTS.prepare(scene, NoFacts(), terms.options).of(facts.pod)
        findings = () if found is None else (found,)
        decision = combine(facts.pod, scene.node_name, findings, terms.now)
        return DecideByLightResponse(decision=decision)

    return Plan(steps=1, told=1500, answer=answer)


DECIDE_BY_LIGHT = Question(
    name="decideByLight",
    path="decisions/by-light",
    summary="Should the pod go before the lights do?",
    description="Asks this system alone.",
    facts=PodFacts,
    answer=DecideByLightResponse,
    weigh=_weigh_by_light,
    explains=False,
    size=Size.ONE,
)


class LightsOutSystem(System[NoFacts]):
    """Should the pod go before the lights do?"""

    name = NAME
    needs = "node"
    facts = NoFacts
    report = LightsReport
    subjects = (LightsSubject,)
    questions: ClassVar[tuple[Question[Any], ...]] = (DECIDE_BY_LIGHT,)

    def is_reached(self, scene: Scene, facts: NoFacts) -> bool:
        return scene.node is not None

    def cost(self, scene: Scene, facts: NoFacts, options: Options) -> Cost:
        return Cost(steps=len(scene.pods), told=1500 * len(scene.pods) + 100, path="$.pods")

    def prepare(self, scene: Scene, facts: NoFacts, options: Options) -> Round:
        out_at = None if scene.node is None else _out_at(scene.node)
        return _Lit() if out_at is None else _GoingOut(scene, out_at, options)


class _Lit(Round):
    def of(self, pod: Pod) -> Finding | None:
        return None


class _GoingOut(Round):
    def __init__(self, scene: Scene, out_at: datetime, options: Options) -> None:
        self._now = scene.now
        self._out_at = out_at
        self._explain = options.explain
        self.report = LightsReport(out_at=out_at, pods=len(scene.pods))
        self.holds_until = out_at if out_at > scene.now else None

    def of(self, pod: Pod) -> Finding:
        if pod.has_ended:
            return keep_pod(NAME, "PodEnded", "it needs no light any more")
        priority = pod.spec.priority
        stays = priority >= ESSENTIAL
        outcome = "Essential" if stays else "NotEssential"
        message = f"the pod is of priority {priority}"
        subject = LightsSubject(out_at=self._out_at, priority=priority)
        step = TraceStep(rule="Lights", outcome=outcome, message=message, subject=subject)
        trace = (step,) if self._explain else ()
        if stays:
            return keep(NAME, outcome, message, trace)
        return self._goes(f"{message}, and the lights go out", trace)

    def _goes(self, message: str, trace: tuple[TraceStep, ...]) -> LightsOutEviction:
        waits = self._out_at > self._now
        return LightsOutEviction(
            system=NAME,
            verdict=Verdict.EVICT_AT if waits else Verdict.EVICT_NOW,
            reason="LightsOut",
            message=message,
            evict_at=self._out_at,
            holds_until=self._out_at if waits else None,
            cause="lights out",
            due_since=None if waits else self._out_at,
            trace=trace,
        )


def _out_at(node: Node) -> datetime | None:
    added = (taint.time_added for taint in node.spec.taints if taint.key == LIGHTS_OUT)
    return next((at + MINUTE for at in added if at is not None), None)


LIGHTS = LightsOutSystem()
THREE_SYSTEMS = Systems((*SYSTEMS.all, LIGHTS))


def dark_node(name: str, since: datetime, effect: str = "NoSchedule") -> Node:
    """A node whose lights go out a minute after `since`; no other system minds."""
    return node_of(name, Taint(key=LIGHTS_OUT, effect=effect, time_added=since))
