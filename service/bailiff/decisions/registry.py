"""All systems together: what may be asked of them, and how they answer as one.

`SYSTEMS` below is the list; a system that is added there is asked by every face.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from bailiff.decisions.asking import Asking
from bailiff.decisions.cost import MAX_PODS, FactsError, check_cost, check_number
from bailiff.decisions.device_taints import DEVICE_TAINTS
from bailiff.decisions.joining import combine, combine_alike
from bailiff.decisions.lengths import weigh_decisions
from bailiff.decisions.node_loss.system import NODE_LOSS
from bailiff.decisions.node_taints import NODE_TAINTS
from bailiff.decisions.pressure.system import PRESSURE
from bailiff.decisions.question import Plan, Size
from bailiff.decisions.questions import (
    PodAnswer,
    PodFacts,
    PodsAnswer,
    PodsFacts,
    Reports,
    decide_batch_question,
    decide_question,
    live_questions,
)
from bailiff.decisions.scheduling import JudgeNodes
from bailiff.decisions.system import Scene, Unread, others_of
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bailiff.decisions.changes import ChangeLookUp, ObjectChange
    from bailiff.decisions.cost import Cost
    from bailiff.decisions.decision import Decision, Subject
    from bailiff.decisions.options import Options
    from bailiff.decisions.question import LiveQuestion, Question, QuestionTerms
    from bailiff.decisions.seen import NotAdmitted
    from bailiff.decisions.system import LookUp, Round, System
    from bailiff.kinds import Node, Pod

# Characters of a text that an error quotes.
_QUOTED = 100

# A system and its facts, or what is said in its place where those could not be read.
Part: TypeAlias = "tuple[System[Any], Value | Round]"
Ready: TypeAlias = "tuple[System[Any], Round]"


class Systems:
    """The systems of one process; an argument of whoever puts the process together.

    Attributes:
        all: the systems, in the order of their findings.
        questions: every question that brings its facts, by name.
        judge_nodes: what may be asked about many nodes, one of those questions and its stream.
        live_questions: every question about objects of a cluster, by name.
        subjects: the types of what trace steps look at.
    """

    def __init__(self, systems: Iterable[System[Any]]) -> None:
        """Put the table of questions together; raises ValueError where two have one name."""
        self.all = tuple(systems)
        self._by_name = {system.name: system for system in self.all}
        if len(self._by_name) < len(self.all):
            raise ValueError("two systems have the same name")
        self._ranking = tuple(system for system in self.all if system.ranks)
        self.subjects: tuple[type[Subject], ...] = tuple(
            dict.fromkeys(subject for system in self.all for subject in system.subjects)
        )
        sections = [(s.section, s.facts, s.facts()) for s in self.all if s.facts.__struct_fields__]
        told = [(s.section, s.report | None, None) for s in self.all if s.report is not None]
        names = {s.section: s.name for s in self.all}
        self._reports = _made("Reports", told, Reports, rename=names.__getitem__)
        reports = [("reports", self._reports | None, None)]
        self._pod_answer: type[PodAnswer] = _made("DecideResponse", reports, PodAnswer)
        self._pods_answer: type[PodsAnswer] = _made("DecideBatchResponse", reports, PodsAnswer)
        pod_facts = _made("DecideRequest", sections, PodFacts)
        pods_facts = _made("DecideBatchRequest", sections, PodsFacts)
        # With the pods of a node beside it a question about one is as long as one about many.
        size = Size.MANY if self._ranking else Size.ONE
        decide = decide_question(pod_facts, self._pod_answer, self._weigh_pod, size)
        batch = decide_batch_question(pods_facts, self._pods_answer, self._weigh_pods)
        of_systems = (question for system in self.all for question in system.questions)
        self.judge_nodes = JudgeNodes(self.all)
        self.questions = _by_name((decide, batch, *of_systems, self.judge_nodes.question))
        self.live_questions: Mapping[str, LiveQuestion[Any]] = live_questions(decide, batch)

    def rank_on(self, node: Node | None) -> bool:
        """Whether some system weighs the pods of this node against each other, see System."""
        return any(system.ranks_on(node) for system in self._ranking)

    def look_at_neighbours(self, node: Node | None) -> bool:
        """Whether some system's look-up is to be shown the other pods of this node."""
        return any(system.looks_at_neighbours(node) for system in self._ranking)

    def look_ups(self, scene: Scene, options: Options) -> Iterator[tuple[System[Any], LookUp[Any]]]:
        """What each system wants to see of a live cluster to decide for the pods of a scene."""
        for system in self.all:
            yield system, system.look_up(scene, options)

    def not_admitted(self, pod: Pod, node: Node, options: Options) -> NotAdmitted | None:
        """Why the kubelet of a node would not let a pod start there now; None: it would."""
        said = (system.not_admitted(pod, node, options) for system in self.all)
        return next((one for one in said if one is not None), None)

    def look_at_change(self, change: ObjectChange, options: Options) -> Iterator[ChangeLookUp]:
        """What each system has to see to tell what a change of an object evicts."""
        return (system.look_at_change(change, options) for system in self.all)

    def weigh_seen_pod(
        self, scene: Scene, parts: Iterable[Part], options: Options
    ) -> Plan[PodAnswer]:
        """As `decide`, by what the systems' look-ups for the scene's one pod have come to."""
        return self._plan_pod(scene, _speaking(scene, parts), options)

    def weigh_seen_pods(
        self, scene: Scene, parts: Iterable[Part], options: Options
    ) -> Plan[PodsAnswer]:
        """As `decideBatch`, by what the systems' look-ups have come to."""
        return self._plan_pods(scene, _speaking(scene, parts), options)

    def _weigh_pod(self, facts: PodFacts, terms: QuestionTerms) -> Plan[PodAnswer]:
        told = facts.neighbours if self.rank_on(facts.node) else None
        others = None if told is None else others_of(facts.pod, told.pods)
        scene = Scene((facts.pod,), terms.now, facts.node, neighbours=others)
        return self._plan_pod(scene, self._reached(scene, facts), terms.options)

    def _weigh_pods(self, facts: PodsFacts, terms: QuestionTerms) -> Plan[PodsAnswer]:
        scene = Scene(facts.pods, terms.now, facts.node, neighbours=())
        return self._plan_pods(scene, self._reached(scene, facts), terms.options)

    def _plan_pod(self, scene: Scene, parts: list[Part], options: Options) -> Plan[PodAnswer]:
        cost = _weigh(scene, parts, options)
        return Plan(cost.steps, cost.told, partial(self._answer_pod, scene, parts, options))

    def _plan_pods(self, scene: Scene, parts: list[Part], options: Options) -> Plan[PodsAnswer]:
        check_number("$.pods", len(scene.pods), MAX_PODS)
        cost = _weigh(scene, parts, options)
        return Plan(cost.steps, cost.told, partial(self._answer_pods, scene, parts, options))

    def _reached(self, scene: Scene, facts: PodFacts | PodsFacts) -> list[Part]:
        """The systems to ask, with their facts: those that the question names, or all it reaches.

        Raises:
            FactsError: a name that no system has, nothing to decide from, or a section for a system
                that lacks something else.
        """
        _check_node(scene)
        named = facts.systems
        parts: list[Part] = []
        for system in self._named(named) if named else self.all:
            own = _own(system, facts)
            # A section that tells something and cannot be used is not passed over.
            if (
                named
                or system.is_reached(scene, own)
                or (own != system.facts() and system.lacks(scene))
            ):
                system.check(scene, own)
                parts.append((system, own))
        if not parts:
            wanted = " or ".join(system.needs for system in self.all if system.needs)
            raise FactsError("$", f"nothing to decide from: {wanted} is required")
        _check_one_node(scene, parts)
        return parts

    def _named(self, names: Sequence[str]) -> list[System[Any]]:
        for index, name in enumerate(names):
            if name not in self._by_name:
                known = ", ".join(self._by_name)
                raise FactsError(
                    f"$.systems[{index}]", f"must be one of {known}, got {name[:_QUOTED]!r}"
                )
        return [system for system in self.all if system.name in names]

    def _answer_pod(self, scene: Scene, parts: list[Part], options: Options) -> PodAnswer:
        rounds = _prepare(scene, parts, options)
        decision = _decide_one(scene, rounds, options)
        return self._pod_answer(decision=decision, reports=self._report(rounds))

    def _answer_pods(self, scene: Scene, parts: list[Part], options: Options) -> PodsAnswer:
        rounds = _prepare(scene, parts, options)
        decisions = _decide(scene, rounds, options)
        return self._pods_answer(decisions=decisions, reports=self._report(rounds))

    def _report(self, rounds: Iterable[Ready]) -> Reports | None:
        told = {s.section: one.report for s, one in rounds if one.report is not None}
        return self._reports(**told) if told else None


def _own(system: System[Any], facts: PodFacts | PodsFacts) -> Value:
    own: Value | None = getattr(facts, system.section, None)
    return system.facts() if own is None else own


def _speaking(scene: Scene, parts: Iterable[Part]) -> list[Part]:
    """Those with anything to say; what could not be read stands first, see Unread."""
    found = [(s, own) for s, own in parts if not isinstance(own, Value) or s.is_reached(scene, own)]
    return sorted(found, key=lambda part: not isinstance(part[1], Unread))


def _weigh(scene: Scene, parts: Iterable[Part], options: Options) -> Cost:
    costs = []
    for system, own in parts:
        if isinstance(own, Value):
            costs.append(system.cost(scene, own, options))
    costs.append(weigh_decisions(scene.pods, scene.node))
    return check_cost(costs)


def _prepare(scene: Scene, parts: Iterable[Part], options: Options) -> list[Ready]:
    return [
        (system, system.prepare(scene, own, options) if isinstance(own, Value) else own)
        for system, own in parts
    ]


def _decide_one(scene: Scene, rounds: Sequence[Ready], options: Options) -> Decision:
    """The decision for the scene's only pod."""
    pod, asking = scene.pods[0], Asking(rounds, scene, options)
    where = scene.node_name or pod.spec.node_name
    return combine(pod, where, asking.findings(pod), scene.now, asking.holds_until)


def _decide(scene: Scene, rounds: Sequence[Ready], options: Options) -> tuple[Decision, ...]:
    """One decision for each pod of the scene.

    What one system alone says of many pods, as nearly always, is put into words once.
    """
    asking = Asking(rounds, scene, options)
    findings, until = asking.findings, asking.holds_until
    node, now = scene.node_name, scene.now
    # By id(finding). A decision keeps its finding, so no other can take its id.
    known: dict[int, Decision] = {}
    decisions = []
    for pod in scene.pods:
        found, where = findings(pod), node or pod.spec.node_name
        like = known.get(id(found[0])) if len(found) == 1 else None
        if like is not None and like.node == where:
            decisions.append(combine_alike(pod, like))
            continue
        decision = combine(pod, where, found, now, until)
        if len(found) == 1:
            known[id(found[0])] = decision
        decisions.append(decision)
    return tuple(decisions)


def _check_node(scene: Scene) -> None:
    """Refuse a node without a name for a pod that is bound to one: nobody knows if it is that."""
    if scene.node is None or scene.node.metadata.name:
        return
    for pod in (*scene.pods, *(scene.neighbours or ())):
        if pod.spec.node_name:
            why = f"required: pod {pod.key} is bound to node {pod.spec.node_name}"
            raise FactsError("$.node.metadata.name", why)


def _check_one_node(scene: Scene, parts: Iterable[Part]) -> None:
    """Refuse pods of several nodes where they are weighed against each other."""
    ranking = [system.name for system, _ in parts if system.ranks_on(scene.node)]
    if ranking and scene.node is None and len({pod.spec.node_name for pod in scene.pods}) > 1:
        raise FactsError("$.node", f"required: {ranking[0]} ranks the pods of one node")


def _made(name: str, fields: Sequence[tuple[str, Any, Any]], base: type, **config: Any) -> Any:  # noqa: ANN401 - a type, made at run time
    namespace = {"__doc__": base.__doc__}
    return msgspec.defstruct(
        name, fields, bases=(base,), frozen=True, kw_only=True, namespace=namespace, **config
    )


def _by_name(questions: Iterable[Question[Any]]) -> Mapping[str, Question[Any]]:
    found: dict[str, Question[Any]] = {}
    for question in questions:
        if question.name in found:
            raise ValueError(f"two questions are called {question.name}")
        found[question.name] = question
    return found


SYSTEMS = Systems((NODE_TAINTS, DEVICE_TAINTS, PRESSURE, NODE_LOSS))
