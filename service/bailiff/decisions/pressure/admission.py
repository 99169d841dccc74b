"""May a pod start on a node under pressure? (Admit in pkg/kubelet/eviction/eviction_manager.go)"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from bailiff.decisions.criticality import is_critical
from bailiff.decisions.pressure.signals import MEMORY_PRESSURE
from bailiff.decisions.quality_of_service import QualityOfService, qos_class
from bailiff.decisions.tolerations import tolerates
from bailiff.kinds import Taint
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.kinds import Pod

REFUSED = "Evicted"
_MEMORY_TAINT = Taint(key="node.kubernetes.io/memory-pressure", effect="NoSchedule")


class AdmissionRule(StrEnum):
    """Which rule decided."""

    NO_PRESSURE = "NoPressure"
    CRITICAL_POD = "CriticalPod"
    NOT_BEST_EFFORT = "NotBestEffort"
    TOLERATED = "Tolerated"
    UNDER_PRESSURE = "UnderPressure"


class Admission(Value, frozen=True):
    """Whether a pod may start.

    Attributes:
        admit: it may.
        rule: which rule decided.
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
) -> Admission:
    """Whether a kubelet would let a pod start.

    Args:
        pod: the pod.
        conditions: of the node's pressures those that are reported, in their order.
        comparison_operators: the gate TaintTolerationComparisonOperators.
        empty_resources_count: see computed_qos_class.
    """
    if not conditions:
        return Admission(admit=True, rule=AdmissionRule.NO_PRESSURE)
    if is_critical(pod):
        return Admission(admit=True, rule=AdmissionRule.CRITICAL_POD)
    if list(conditions) == [MEMORY_PRESSURE]:
        of_service = qos_class(pod, empty_resources_count=empty_resources_count)
        if of_service != QualityOfService.BEST_EFFORT:
            return Admission(admit=True, rule=AdmissionRule.NOT_BEST_EFFORT)
        if any(
            tolerates(one, _MEMORY_TAINT, comparison_operators=comparison_operators)
            for one in pod.spec.tolerations
        ):
            return Admission(admit=True, rule=AdmissionRule.TOLERATED)
    message = f"The node had condition: [{' '.join(conditions)}]. "
    return Admission(
        admit=False, rule=AdmissionRule.UNDER_PRESSURE, reason=REFUSED, message=message
    )
