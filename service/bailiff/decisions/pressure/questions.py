"""The questions that only this system answers: a round, a ranking, an admission, a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from bailiff.decisions.cost import Cost, FactsError, check_cost
from bailiff.decisions.pressure.admission import AdmissionRule, admit
from bailiff.decisions.pressure.allocation import as_allocated
from bailiff.decisions.pressure.configuration import ConfigurationError
from bailiff.decisions.pressure.configuring import is_windows, minor_of, read_configuration, settings_of
from bailiff.decisions.pressure.facts import FileSystemLayout, PressureFacts
from bailiff.decisions.pressure.file_systems import derive_layout
from bailiff.decisions.pressure.judging import PressureRound, layout_of
from bailiff.decisions.pressure.layout import Layout
from bailiff.decisions.pressure.ranking import Candidate, rank
from bailiff.decisions.pressure.report import PressureReport
from bailiff.decisions.pressure.round import stats_by_uid
from bailiff.decisions.pressure.signals import CONDITIONS, Signal
from bailiff.decisions.pressure.thresholds import Threshold
from bailiff.decisions.pressure.weighing import weigh
from bailiff.decisions.question import Asked, Plan, Question, Size
from bailiff.decisions.questions import Pods
from bailiff.decisions.system import Scene
from bailiff.kinds import Node, Pod
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.meta import Int64, Value
from bailiff.kinds.stats import Summary
from bailiff.kinds.texts import Word

if TYPE_CHECKING:
    from bailiff.decisions.decision import Decision
    from bailiff.decisions.question import QuestionTerms

# From this minor version on `resources: {}` of a pod no longer overrides its containers.
_EMPTY_RESOURCES_FIXED = 37
# Bytes of an answer that has no list of pods in it, at most.
_SHORT_ANSWER = 60_000


class _Told(Value, frozen=True):
    """An answer in which no pod is decided for."""

    def counted(self) -> tuple[Decision, ...]:
        """None."""
        return ()


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


class PlanPressureRoundResponse(_Told, frozen=True, kw_only=True):
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
    settings_of(facts.pressure)
    layout_of(facts.pressure)
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
    """

    signal: Signal
    summary: Summary
    pods: Pods = ()
    layout: FileSystemLayout | None = None


class RankForPressureResponse(_Told, frozen=True, kw_only=True):
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
    pods = [as_allocated(pod) for pod in facts.pods if not pod.is_finished]
    ranking = rank(facts.signal, layout, pods, stats_by_uid(facts.summary))
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


class AdmitUnderPressureRequest(Asked, frozen=True, kw_only=True):
    """A pod and the pressures of a node: may it start there?

    Attributes:
        pod: the pod.
        conditions: of the node those that are True: `MemoryPressure`, `DiskPressure`,
            `PIDPressure`, in the order in which the message is to name them.
        kubelet_version: as `v1.36.2`, since behaviour changed with 1.37; absent: 1.36.
    """

    pod: Pod
    conditions: Annotated[tuple[Word, ...], Meta(max_length=3)] = ()
    kubelet_version: Word = ""


class AdmitUnderPressureResponse(_Told, frozen=True, kw_only=True):
    """Whether the pod may start.

    Attributes:
        admit: it may.
        rule: which rule decided: `NoPressure`, `CriticalPod`, `NotBestEffort`, `Tolerated` or
            `UnderPressure`.
        reason: of the status of a pod that may not, for programs.
        message: the same for people.
    """

    admit: bool
    rule: AdmissionRule
    reason: str = ""
    message: str = ""


def _weigh_admission(
    facts: AdmitUnderPressureRequest, terms: QuestionTerms
) -> Plan[AdmitUnderPressureResponse]:
    for index, one in enumerate(facts.conditions):
        if one not in CONDITIONS:
            known = ", ".join(CONDITIONS)
            raise FactsError(f"$.conditions[{index}]", f"must be one of {known}, is {one!r}")
    steps = len(facts.pod.spec.tolerations) + 100
    cost = check_cost((Cost(steps, _SHORT_ANSWER, "$.pod"),))
    return Plan(cost.steps, cost.told, partial(_admit, facts, terms))


def _admit(
    facts: AdmitUnderPressureRequest, terms: QuestionTerms
) -> AdmitUnderPressureResponse:
    found = admit(
        facts.pod,
        facts.conditions,
        comparison_operators=terms.options.comparison_operators,
        empty_resources_count=minor_of(facts.kubelet_version) < _EMPTY_RESOURCES_FIXED,
    )
    return AdmitUnderPressureResponse(
        admit=found.admit, rule=found.rule, reason=found.reason, message=found.message
    )


ADMIT_UNDER_PRESSURE = Question(
    name="admitUnderPressure",
    path="pressure/admission",
    summary="May this pod start on a node under these pressures?",
    description="As a kubelet decides when a pod comes to its node: critical pods always may.",
    facts=AdmitUnderPressureRequest,
    answer=AdmitUnderPressureResponse,
    weigh=_weigh_admission,
    explains=False,
    size=Size.ONE,
)


class ReadEvictionConfigurationRequest(Asked, frozen=True, kw_only=True):
    """A kubelet's configuration: is it right, and what does it come to?

    Attributes:
        configuration: a KubeletConfiguration; of the whole object the eviction's fields are read.
        kubelet_version: as `v1.36.2`, since behaviour changed with 1.37; absent: 1.36.
        operating_system: `linux` or `windows`, which have other defaults; absent: linux.
    """

    configuration: KubeletConfiguration
    kubelet_version: Word = ""
    operating_system: Word = ""


class ReadEvictionConfigurationResponse(_Told, frozen=True, kw_only=True):
    """What a configuration comes to.

    Attributes:
        thresholds: those that can be read; those of containerfs are derived in each round.
        errors: all that no kubelet would start with.
        defaults: the statements of evictionHard that nobody has made, and that count.
        transition_period_nanoseconds: for so long a condition of the node is reported after there
            was last reason for it.
        max_pod_grace_period_seconds: at most so long a pod may take for a soft threshold; never
            less than 1 s is given.
        local_storage_capacity_isolation: pods' own limits on the node's disk count.
    """

    thresholds: tuple[Threshold, ...]
    errors: tuple[ConfigurationError, ...] = ()
    defaults: Mapping[str, str] = {}
    transition_period_nanoseconds: Int64 = 0
    max_pod_grace_period_seconds: Int64 = 0
    local_storage_capacity_isolation: bool = False


def _weigh_configuration(
    facts: ReadEvictionConfigurationRequest,
    terms: QuestionTerms,  # noqa: ARG001 - no instant, no option counts
) -> Plan[ReadEvictionConfigurationResponse]:
    is_windows(facts.operating_system, "$.operatingSystem")
    cost = check_cost((Cost(1000, 4 * _SHORT_ANSWER, "$.configuration"),))
    return Plan(cost.steps, cost.told, partial(_read, facts))


def _read(facts: ReadEvictionConfigurationRequest) -> ReadEvictionConfigurationResponse:
    windows = is_windows(facts.operating_system, "$.operatingSystem")
    found = read_configuration(facts.configuration, facts.kubelet_version, windows=windows)
    settings = found.settings
    return ReadEvictionConfigurationResponse(
        thresholds=settings.thresholds,
        errors=found.errors,
        defaults=found.defaults,
        transition_period_nanoseconds=settings.transition_period_nanoseconds,
        max_pod_grace_period_seconds=settings.max_pod_grace_period_seconds,
        local_storage_capacity_isolation=settings.local_storage_capacity_isolation,
    )


READ_EVICTION_CONFIGURATION = Question(
    name="readEvictionConfiguration",
    path="pressure/configuration",
    summary="Is this kubelet's eviction configuration right, and what does it come to?",
    description="Every error with its field, the thresholds, and the defaults that count.",
    facts=ReadEvictionConfigurationRequest,
    answer=ReadEvictionConfigurationResponse,
    weigh=_weigh_configuration,
    explains=False,
    size=Size.ONE,
)
