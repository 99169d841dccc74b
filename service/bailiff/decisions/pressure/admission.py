"""May a pod start on a node under pressure?

Source: Admit in pkg/kubelet/eviction/eviction_manager.go.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from bailiff.decisions.cost import Cost, FactsError, check_cost
from bailiff.decisions.criticality import is_critical
from bailiff.decisions.pressure.signals import CONDITIONS, MEMORY_PRESSURE
from bailiff.decisions.pressure.versions import check_version, minor_of
from bailiff.decisions.quality_of_service import QualityOfService, qos_class
from bailiff.decisions.question import Asked, Plan, Question, Size, Undecided
from bailiff.decisions.seen import NotAdmitted
from bailiff.decisions.tolerations import tolerates
from bailiff.kinds import Pod, Taint
from bailiff.kinds.texts import Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.decisions.options import Options
    from bailiff.decisions.question import QuestionTerms
    from bailiff.kinds import Node

REFUSED = "Evicted"
# From this minor version on `resources: {}` of a pod no longer overrides its containers.
_EMPTY_RESOURCES_FIXED = 37
# Bytes of an answer, at most.
_ANSWER = 1000
# Of the class of quality of service, which goes by requests and limits of all containers.
_CONTAINER_STEPS = 6
_MEMORY_TAINT = Taint(key="node.kubernetes.io/memory-pressure", effect="NoSchedule")


class AdmissionRule(StrEnum):
    """Which rule decided."""

    NO_PRESSURE = "NoPressure"
    CRITICAL_POD = "CriticalPod"
    NOT_BEST_EFFORT = "NotBestEffort"
    TOLERATED = "Tolerated"
    UNDER_PRESSURE = "UnderPressure"


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


class AdmitUnderPressureResponse(Undecided, frozen=True, kw_only=True):
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


def admit(
    pod: Pod,
    conditions: Sequence[str],
    *,
    comparison_operators: bool = False,
    empty_resources_count: bool = True,
) -> AdmitUnderPressureResponse:
    """Whether a kubelet would let a pod start.

    Args:
        pod: the pod.
        conditions: of the node's pressures those that are reported, in their order.
        comparison_operators: the gate TaintTolerationComparisonOperators.
        empty_resources_count: see computed_qos_class.
    """
    if not conditions:
        return AdmitUnderPressureResponse(admit=True, rule=AdmissionRule.NO_PRESSURE)
    if is_critical(pod):
        return AdmitUnderPressureResponse(admit=True, rule=AdmissionRule.CRITICAL_POD)
    if list(conditions) == [MEMORY_PRESSURE]:
        of_service = qos_class(pod, empty_resources_count=empty_resources_count)
        if of_service != QualityOfService.BEST_EFFORT:
            return AdmitUnderPressureResponse(admit=True, rule=AdmissionRule.NOT_BEST_EFFORT)
        if any(
            tolerates(one, _MEMORY_TAINT, comparison_operators=comparison_operators)
            for one in pod.spec.tolerations
        ):
            return AdmitUnderPressureResponse(admit=True, rule=AdmissionRule.TOLERATED)
    message = f"The node had condition: [{' '.join(conditions)}]. "
    return AdmitUnderPressureResponse(
        admit=False, rule=AdmissionRule.UNDER_PRESSURE, reason=REFUSED, message=message
    )


def not_admitted_to(pod: Pod, node: Node, options: Options) -> NotAdmitted | None:
    """Why the kubelet of a node would not let a pod start, by what the node reports.

    The node's word is up to ten seconds old; its kubelet goes by what it knows itself. A pod that
    shows a static one to the API server is not asked for: its kubelet has started the other.
    """
    found = admit(
        pod,
        pressures_of(node),
        comparison_operators=options.comparison_operators,
        empty_resources_count=counts_empty_resources(node.status.node_info.kubelet_version),
    )
    return None if found.admit else NotAdmitted(found.reason, found.message)


def pressures_of(node: Node) -> tuple[str, ...]:
    """The pressures that a node reports, in the order in which kubelets name them."""
    held = {one.type for one in node.status.conditions if one.status == "True"}
    return tuple([one for one in CONDITIONS if one in held])


def counts_empty_resources(kubelet_version: str) -> bool:
    """Whether a kubelet of this version takes `resources: {}` for what a pod asks for."""
    return minor_of(kubelet_version) < _EMPTY_RESOURCES_FIXED


def _weigh_admission(
    facts: AdmitUnderPressureRequest, terms: QuestionTerms
) -> Plan[AdmitUnderPressureResponse]:
    for index, one in enumerate(facts.conditions):
        if one not in CONDITIONS:
            known = ", ".join(CONDITIONS)
            raise FactsError(f"$.conditions[{index}]", f"must be one of {known}, is {one!r}")
    check_version(facts.kubelet_version, "$.kubeletVersion")
    spec = facts.pod.spec
    containers = len(spec.containers) + len(spec.init_containers)
    steps = len(spec.tolerations) + _CONTAINER_STEPS * containers + 100
    cost = check_cost((Cost(steps, _ANSWER, "$.pod"),))
    return Plan(cost.steps, cost.told, partial(_admit, facts, terms))


def _admit(facts: AdmitUnderPressureRequest, terms: QuestionTerms) -> AdmitUnderPressureResponse:
    return admit(
        facts.pod,
        facts.conditions,
        comparison_operators=terms.options.comparison_operators,
        empty_resources_count=counts_empty_resources(facts.kubelet_version),
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
