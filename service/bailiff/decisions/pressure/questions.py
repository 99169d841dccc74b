"""The questions about all pods of a node: what a round comes to, and who would go first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bailiff.decisions.cost import FactsError, check_cost
from bailiff.decisions.pressure.acting import stats_by_uid
from bailiff.decisions.pressure.configuring import settings_of
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, PressureExtensions
from bailiff.decisions.pressure.facts import FileSystemLayout, PressureFacts, check_same_node
from bailiff.decisions.pressure.file_systems import derive_layout
from bailiff.decisions.pressure.judging import PressureRound, layout_of, metering_of
from bailiff.decisions.pressure.layout import Layout
from bailiff.decisions.pressure.ranking import Candidate, rank
from bailiff.decisions.pressure.report import PressureReport
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.weighing import weigh
from bailiff.decisions.question import Asked, Plan, Question, Size, Undecided
from bailiff.decisions.questions import Pods
from bailiff.decisions.system import Scene
from bailiff.kinds import Node
from bailiff.kinds.stats import Summary

if TYPE_CHECKING:
    from bailiff.decisions.question import QuestionTerms


class PlanPressureRoundRequest(Asked, frozen=True, kw_only=True):
    """A node under pressure or not, its pods, and what the last round has left.

    Attributes:
        pressure: the summary, which is required, and what else a round goes by.
        pods: all pods of the node; those that have finished are passed over.
        node: the node; absent: pods of any node count, and the summary names it.
    """

    pressure: PressureFacts
    pods: Pods = ()
    node: Node | None = None


class PlanPressureRoundResponse(Undecided, frozen=True, kw_only=True):
    """What a round comes to.

    Attributes:
        report: conditions, reclaim steps, candidates, victims, and the next state.
    """

    report: PressureReport


def _weigh_round(
    facts: PlanPressureRoundRequest, terms: QuestionTerms
) -> Plan[PlanPressureRoundResponse]:
    if facts.pressure.summary is None:
        raise FactsError("$.pressure.summary", "required")
    check_same_node(facts.pressure, facts.node)
    settings_of(facts.pressure)
    layout_of(facts.pressure)
    metering_of(facts.pressure)
    scene = Scene(facts.pods, terms.now, facts.node, neighbours=())
    cost = check_cost((weigh(scene, facts.pressure, explain=False),))
    return Plan(cost.steps, cost.told, partial(_plan_round, scene, facts, terms))


def _plan_round(
    scene: Scene, facts: PlanPressureRoundRequest, terms: QuestionTerms
) -> PlanPressureRoundResponse:
    return PlanPressureRoundResponse(
        report=PressureRound(scene, facts.pressure, terms.options).report
    )


PLAN_PRESSURE_ROUND = Question(
    name="planPressureRound",
    path="pressure/round",
    summary="What would the kubelet's eviction manager do on this node now?",
    description=(
        "One round: conditions, thresholds, what is to be freed on the node first, the pods by "
        "rank with what decided each place, who goes with which words, and the state to hand in "
        "with the next round. With `pressure.reclaims` nobody goes before the reclaim steps are "
        "done; ask again with the same state and `pressure.afterReclaim` then."
    ),
    facts=PlanPressureRoundRequest,
    answer=PlanPressureRoundResponse,
    weigh=_weigh_round,
    explains=False,
    size=Size.MANY,
)


class RankForPressureRequest(Asked, frozen=True, kw_only=True):
    """Pods and what was measured of them: who would go first?

    Attributes:
        signal: that is low.
        summary: of the node; of its pods is read.
        pods: all pods of the node; those that have finished are passed over.
        layout: of the node's file systems; absent: taken from the summary.
        extensions: what no kubelet does; what counts as in use, and who goes first among equals.
    """

    signal: Signal
    summary: Summary
    pods: Pods = ()
    layout: FileSystemLayout | None = None
    extensions: PressureExtensions = NO_EXTENSIONS


class RankForPressureResponse(Undecided, frozen=True, kw_only=True):
    """The pods by rank.

    Attributes:
        candidates: the first to go first.
    """

    candidates: tuple[Candidate, ...]


def _weigh_ranking(
    facts: RankForPressureRequest, terms: QuestionTerms
) -> Plan[RankForPressureResponse]:
    scene = Scene(facts.pods, terms.now, neighbours=())
    known = PressureFacts(summary=facts.summary)
    cost = check_cost((weigh(scene, known, explain=False),))
    return Plan(cost.steps, cost.told, partial(_rank, facts))


def _rank(facts: RankForPressureRequest) -> RankForPressureResponse:
    told = facts.layout or derive_layout(facts.summary)
    layout = Layout.of(told.dedicated_image_fs, told.split_container_image_fs)
    pods = [pod for pod in facts.pods if not pod.is_finished]
    stats = stats_by_uid(facts.summary.pods)
    ranking = rank(facts.signal, layout, pods, stats, facts.extensions)
    return RankForPressureResponse(candidates=ranking.candidates)


RANK_FOR_PRESSURE = Question(
    name="rankForPressure",
    path="pressure/ranking",
    summary="Who would go first, were this signal low?",
    description="The pods in the order in which they would go, with what decided each place.",
    facts=RankForPressureRequest,
    answer=RankForPressureResponse,
    weigh=_weigh_ranking,
    explains=False,
    size=Size.MANY,
)
