"""A round as its node's pods see it: who goes, and why all others stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import FactsError
from bailiff.decisions.criticality import is_critical
from bailiff.decisions.decision import reference_to
from bailiff.decisions.pressure.configuring import is_windows, settings_of
from bailiff.decisions.pressure.extensions import MemoryInUse
from bailiff.decisions.pressure.facts import FileSystemLayout, PressureFacts
from bailiff.decisions.pressure.file_systems import derive_layout
from bailiff.decisions.pressure.findings import (
    candidate_step,
    evicted,
    spared,
    threshold_steps,
)
from bailiff.decisions.pressure.layout import Layout
from bailiff.decisions.pressure.observations import Metering
from bailiff.decisions.pressure.report import PressureReport, report_on
from bailiff.decisions.pressure.round import Reclaimed, RoundFacts, plan
from bailiff.decisions.pressure.versions import minor_of
from bailiff.decisions.system import Round

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bailiff.decisions.decision import Finding, ObjectReference, TraceStep
    from bailiff.decisions.options import Options
    from bailiff.decisions.pressure.choosing import Outside
    from bailiff.decisions.system import Scene
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import PodStats


# From this minor version of Kubernetes 1 on a summary itself leaves huge pages out.
_SUBTRACTS = 37


class PressureRound(Round):
    """A round of a node; asked about its pods it says who goes, and why all others stay."""

    report: PressureReport

    def __init__(
        self,
        scene: Scene,
        facts: PressureFacts,
        options: Options,
        pod_stats: Callable[[], Iterable[PodStats]] | None = None,
        outside: Outside | None = None,
    ) -> None:
        """Plan the round, by a summary that has to be there; the last two as of RoundFacts."""
        if facts.summary is None:
            raise ValueError("a round goes by a summary")
        layout, derived = layout_of(facts)
        pods = [pod for pod in scene.on_node if not pod.is_finished]
        after = facts.after_reclaim
        planned = plan(
            RoundFacts(
                settings=settings_of(facts),
                layout=Layout.of(layout.dedicated_image_fs, layout.split_container_image_fs),
                summary=facts.summary,
                pods=pods,
                state=facts.state,
                now=scene.now,
                metering=metering_of(facts),
                reclaims=facts.reclaims,
                reclaimed=None if after is None else Reclaimed(after.summary),
                pod_stats=pod_stats,
                outside=outside,
            )
        )
        name = scene.node_name or facts.summary.node.node_name
        self.report = report_on(planned, facts.state, name, layout, derived=derived)
        # Whether the pods that go by rank go for a hard threshold.
        self.is_hard = planned.starved is not None and planned.starved.is_hard
        self._now = scene.now
        self._explain = options.explain
        self._on_node = {reference_to(pod) for pod in pods}
        self._victims = {reference_to(one.pod): one for one in planned.victims}
        self._places = {one.pod: at for at, one in enumerate(self.report.candidates, 1)}
        within = "WithinLimits", "the pod is within its own limits"
        self._why = within if planned.victims else (self.report.reason, self.report.message)
        self._steps = threshold_steps(self.report.thresholds) if options.explain else ()

    @property
    def unmeasured(self) -> frozenset[str]:
        """UIDs of the candidates of which nothing was measured."""
        return frozenset(one.pod.uid for one in self.report.candidates if not one.measured)

    def of(self, pod: Pod) -> Finding | None:
        """See Round. Of a pod that is not on the node, or has finished, nothing is said."""
        who = reference_to(pod)
        if who not in self._on_node:
            return None
        victim = self._victims.get(who)
        trace = self._trace(who)
        if victim is not None:
            return evicted(victim, self._now, trace)
        if self._victims and is_critical(pod):
            return spared("CriticalPod", "critical pods are never evicted for pressure", trace)
        place = self._places.get(who)
        if place is not None and self._victims:
            return spared("RanksLater", f"place {place} of {len(self._places)}", trace)
        return spared(*self._why, trace)

    def of_others(self) -> Finding:
        """What is said of any pod that stays, for whoever need not know its place."""
        if self._victims and self._places:
            return spared("RanksLater", "another pod of the node goes in this round", ())
        return spared(*self._why, ())

    def _trace(self, who: ObjectReference) -> tuple[TraceStep, ...]:
        place = self._places.get(who)
        if not self._explain or place is None:
            return self._steps
        candidates = self.report.candidates
        return (*self._steps, candidate_step(place, len(candidates), candidates[place - 1]))


def metering_of(facts: PressureFacts) -> Metering:
    """How a summary is to be read.

    Raises:
        FactsError: something is not told by which the extensions go.
    """
    extensions = facts.extensions
    in_use, told = extensions.memory_in_use, facts.mem_available
    if in_use is not MemoryInUse.MEM_AVAILABLE:
        told = None
    elif told is None:
        why = "required: extensions.memoryInUse is MemAvailable"
        raise FactsError("$.pressure.memAvailable", why)
    return Metering(
        windows=is_windows(facts.operating_system, "$.pressure.operatingSystem"),
        memory=in_use,
        mem_available=told,
        huge_pages=_huge_pages(facts) if extensions.subtract_huge_pages else 0,
        window=extensions.stall_window,
    )


def _huge_pages(facts: PressureFacts) -> int:
    """Bytes that the summary calls available although they are set aside for huge pages.

    Source: adjustForHugePages in pkg/kubelet/server/stats/summary.go, from 1.37 on, which a gate
    may turn off.
    """
    why = "required: extensions.subtractHugePages is set"
    if not facts.kubelet_version:
        raise FactsError("$.pressure.kubeletVersion", why)
    if facts.huge_pages_bytes is None:
        raise FactsError("$.pressure.hugePagesBytes", why)
    gates = None if facts.configuration is None else facts.configuration.feature_gates
    is_off = gates is not None and gates.hugepage_aware_eviction is False
    by_itself = minor_of(facts.kubelet_version) >= _SUBTRACTS and not is_off
    return 0 if by_itself else facts.huge_pages_bytes


def layout_of(facts: PressureFacts) -> tuple[FileSystemLayout, bool]:
    """The layout, and whether it was derived from the summary.

    Raises:
        FactsError: it is one that this kubelet does not run with.
    """
    layout, derived = facts.layout, facts.layout is None
    if layout is None:
        layout = FileSystemLayout() if facts.summary is None else derive_layout(facts.summary)
    gates = None if facts.configuration is None else facts.configuration.feature_gates
    off = gates is not None and gates.kubelet_separate_disk_gc is False
    if off and layout.split_container_image_fs:
        why = "must be on where containers and images are on file systems of their own"
        path = "$.pressure.configuration.featureGates.KubeletSeparateDiskGC"
        raise FactsError(path, why)
    return layout, derived
