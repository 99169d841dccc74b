"""The system of pressure: what it decides from, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.criticality import is_critical
from bailiff.decisions.pressure.admission import (
    ADMIT_UNDER_PRESSURE,
    counts_empty_resources,
    not_admitted_to,
    pressures_of,
)
from bailiff.decisions.pressure.configuring import settings_of
from bailiff.decisions.pressure.facts import PressureFacts, check_same_node
from bailiff.decisions.pressure.findings import SYSTEM, CandidateSubject, ThresholdSubject
from bailiff.decisions.pressure.judging import PressureRound, layout_of, metering_of
from bailiff.decisions.pressure.looking import look_up
from bailiff.decisions.pressure.questions import PLAN_PRESSURE_ROUND, RANK_FOR_PRESSURE
from bailiff.decisions.pressure.reading import READ_EVICTION_CONFIGURATION
from bailiff.decisions.pressure.report import PressureReport
from bailiff.decisions.pressure.weighing import weigh
from bailiff.decisions.quality_of_service import qos_class
from bailiff.decisions.system import Round, System

if TYPE_CHECKING:
    from collections.abc import Hashable

    from bailiff.decisions.cost import Cost
    from bailiff.decisions.decision import Finding
    from bailiff.decisions.options import Options
    from bailiff.decisions.seen import NotAdmitted
    from bailiff.decisions.system import LookUp, Scene
    from bailiff.kinds import Node, Pod


class PressureSystem(System[PressureFacts]):
    """Should this pod go because its node runs out of memory, disk or processes?"""

    name = SYSTEM
    needs = "pressure"
    ranks = True
    facts = PressureFacts
    report = PressureReport
    subjects = (ThresholdSubject, CandidateSubject)
    questions = (
        PLAN_PRESSURE_ROUND,
        RANK_FOR_PRESSURE,
        ADMIT_UNDER_PRESSURE,
        READ_EVICTION_CONFIGURATION,
    )

    def is_reached(self, scene: Scene, facts: PressureFacts) -> bool:
        """Where the question brings a summary and all pods of the node."""
        return facts.summary is not None and scene.neighbours is not None

    def looks_at_neighbours(self, node: Node | None) -> bool:  # noqa: ARG002 - as of System
        """Not for itself: where kubelets may be asked they are listed for all nodes."""
        return False

    def check(self, scene: Scene, facts: PressureFacts) -> None:
        """See System.

        Raises:
            FactsError: there is no summary, the other pods of the node are not told, or the
                configuration is one that no kubelet would start with, or the summary is that of
                another node.
        """
        super().check(scene, facts)
        check_same_node(facts, scene.node)
        settings_of(facts)
        layout_of(facts)
        metering_of(facts)

    def cost(self, scene: Scene, facts: PressureFacts, options: Options) -> Cost:
        """Each pod is ranked once; the report tells of all, a finding of its own pod."""
        return weigh(scene, facts, explain=options.explain)

    def look_up(
        self,
        scene: Scene,
        options: Options,  # noqa: ARG002 - as of System
    ) -> LookUp[PressureFacts]:
        """What the node's kubelet measures now, where that may be asked for."""
        return look_up(scene)

    def sees_of_node(self, node: Node) -> Hashable:
        """The pressures that it reports; its kubelet's version matters under those alone."""
        held = pressures_of(node)
        version = node.status.node_info.kubelet_version
        return (held, counts_empty_resources(version)) if held else None

    def sees_of_pod(self, pod: Pod) -> Hashable | None:
        """Whether it is critical, and its class of quality of service, by each kubelet's rule."""
        classes = (qos_class(pod, empty_resources_count=one) for one in (True, False))
        return (is_critical(pod), *classes)

    def not_admitted(self, pod: Pod, node: Node, options: Options) -> NotAdmitted | None:
        """By the node's conditions, see `admit`."""
        return not_admitted_to(pod, node, options)

    def prepare(self, scene: Scene, facts: PressureFacts, options: Options) -> Round:
        """See System."""
        return _NotMeasured() if facts.summary is None else PressureRound(scene, facts, options)


class _NotMeasured(Round):
    """Without a summary nothing is said of anybody."""

    def of(self, pod: Pod) -> Finding | None:  # noqa: ARG002 - as of Round
        return None


PRESSURE = PressureSystem()
