"""A round of this node, planned by the core from what was measured; and what it leaves."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.agent.notices.notifier import NODE, PODS, PODS_FOR_NODE
from bailiff.decisions.decision import reference_to
from bailiff.decisions.options import Options
from bailiff.decisions.pressure.choosing import Outside
from bailiff.decisions.pressure.configuring import settings_of
from bailiff.decisions.pressure.facts import AfterReclaim, PressureFacts
from bailiff.decisions.pressure.file_systems import tells_layout
from bailiff.decisions.pressure.findings import EVICTED, by_status_alone
from bailiff.decisions.pressure.judging import PressureRound
from bailiff.decisions.pressure.memory import LONGEST_BREAK, NOTHING, Noted, memory_of, note_of
from bailiff.decisions.pressure.notifying import marks_for_pods, usage_marks
from bailiff.decisions.pressure.observations import measured_at
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.state import PressureState
from bailiff.decisions.pressure.strangers import Strangers, describe, strangers
from bailiff.decisions.pressure.versions import told_version
from bailiff.decisions.system import Scene
from bailiff.kinds.node import Node, NodeMeta
from bailiff.kinds.stats import Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bailiff.agent.reading import Reading
    from bailiff.agent.settings import AgentSettings
    from bailiff.clock import Moment
    from bailiff.decisions.decision import Finding
    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.decisions.pressure.report import PressureReport
    from bailiff.decisions.pressure.strangers import Stranger
    from bailiff.decisions.pressure.thresholds import Threshold
    from bailiff.kinds import Pod
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration
    from bailiff.kinds.stats import NodeStats

# Pods take no trace along; who asks why asks the decision API.
_OPTIONS = Options(explain=False)


class Circumstances(NamedTuple):
    """What a round goes by beside what was measured.

    Attributes:
        node: as the API has it; None: it is not known.
        pods: of the node.
        configuration: whose thresholds count; None: the kubelet's defaults.
        moment: as rounds count time.
        wall: in UTC, by the wall clock.
        found_layout: of the file systems, as looked for on the node; None: it was not.
        refused: UIDs of pods whose eviction was refused a moment ago, so that others go.
        set_aside: UIDs of pods that do not go for limits of their own, see Outside.
        only_without_reclaim: see Outside.
        aside: see Outside, besides those of the reading.
        hard_only: see Outside.
    """

    node: Node | None
    pods: tuple[Pod, ...]
    configuration: KubeletConfiguration | None
    moment: Moment
    wall: datetime
    found_layout: FileSystemLayout | None = None
    refused: frozenset[str] = frozenset()
    set_aside: frozenset[str] = frozenset()
    only_without_reclaim: bool = False
    aside: frozenset[Signal] = frozenset()
    hard_only: bool = False


class Judged(NamedTuple):
    """What a round comes to.

    Attributes:
        report: without its candidates, of which there may be hundreds.
        reading: by which it was planned.
        before: the state with which it began.
        victims: who goes, each with what is said of it, in this order.
        is_hard: those that go by rank go for a hard threshold.
        marks: of memory in use that are to be reached yet, by what they are of, see the notices.
        strangers: who uses more memory than who goes for it, and the API does not tell of.
        waits: why nobody goes though somebody was chosen; empty: there is no reason.
        look_soon: what it waits for may be over in a second.
        unmeasured: how many of the pods that were ranked have no numbers, so that they go first.
    """

    report: PressureReport
    reading: Reading
    before: PressureState
    victims: tuple[tuple[Pod, Finding], ...]
    is_hard: bool
    marks: Mapping[str, tuple[int, ...]]
    strangers: tuple[Stranger, ...] = ()
    waits: str = ""
    look_soon: bool = False
    unmeasured: int = 0

    def waiting(self, why: str, *, look_soon: bool = False) -> Judged:
        """The same, but that nobody goes yet."""
        return self._replace(victims=(), waits=why, look_soon=look_soon)


class Judge:
    """Plans rounds, each by the state that the one before has left.

    `judge` changes nothing, so that a round may be planned in more than one way; the one that
    counts is handed to `take`.

    Attributes:
        state: for the next round.
    """

    def __init__(self, settings: AgentSettings, *, reclaims: bool) -> None:
        """Begin as a kubelet that has just started.

        Args:
            settings: the operator's.
            reclaims: the node can be freed before a pod goes.
        """
        self._settings = settings
        self._reclaims = reclaims
        self.state = PressureState()
        self._layout: FileSystemLayout | None = None
        self._measured: datetime | None = None
        # When the last round was, by elapsed time; None: there was none.
        self._judged_at: float | None = None
        self._remembered = ""
        self._noted = NOTHING
        self._strangers = Strangers()

    def recall(self, text: str) -> None:
        """Go on where an agent of before has stopped; what it cannot read is nothing."""
        self._remembered = text

    def judge(
        self, reading: Reading, circumstances: Circumstances, again: Reading | None = None
    ) -> Judged:
        """Plan a round.

        Args:
            reading: what was measured.
            circumstances: what else it goes by.
            again: what was measured after its reclaim steps; None: they have not been done.

        Raises:
            FactsError: the configuration is one that no kubelet starts with.
            ReadingError: what was measured of pods cannot be read.
        """
        facts = self._facts(reading, circumstances, again)
        node = circumstances.node or Node(metadata=NodeMeta(name=self._settings.node))
        scene = Scene(circumstances.pods, circumstances.moment.now, node, neighbours=())
        outside = Outside(
            now=circumstances.wall,
            refused=circumstances.refused,
            set_aside=circumstances.set_aside | circumstances.refused,
            only_without_reclaim=circumstances.only_without_reclaim,
            aside=reading.aside | circumstances.aside,
            hard_only=circumstances.hard_only,
        )
        # Measured where somebody needs it, and once.
        measured = cache(reading.pods)
        planned = PressureRound(scene, facts, _OPTIONS, measured, outside)
        # Not by name: a kubelet tells of the one that was replaced, and of the one in its place.
        by_reference = {reference_to(one): one for one in scene.pods}
        going = (by_reference[one.pod] for one in planned.report.victims)
        # What one uses that has finished will be free soon, too; one that was evicted may have long
        # to end, and is waited for by whoever has evicted it.
        known = [
            one for one in circumstances.pods if not one.is_finished or one.status.reason == EVICTED
        ]
        in_use = self._settings.extensions.memory_in_use
        return Judged(
            replace(planned.report, candidates=()),
            reading,
            facts.state,
            tuple((pod, self._finding(planned, pod)) for pod in going),
            planned.is_hard,
            _marks(settings_of(facts).thresholds, reading.node),
            tuple(strangers(planned.report, known, measured, in_use)),
            unmeasured=len(planned.unmeasured),
        )

    def why_it_waits(self, judged: Judged, elapsed: float) -> str:
        """For which pod that the API does not tell of nobody goes yet; empty: for none.

        To be asked once about each round that may count.
        """
        stranger = self._strangers.waited_for(judged.strangers, elapsed)
        return "" if stranger is None else describe(stranger)

    def take(self, judged: Judged, elapsed: float) -> None:
        """This round counts: the next one goes on by what it leaves.

        A round takes its victims for gone. Here a cool-down begins when somebody went, see `went`.
        """
        before, after = judged.before.last_eviction_at, judged.report.next.last_eviction_at
        last = before and after and min(before, after)
        self.state = replace(judged.report.next, last_eviction_at=last)
        self._judged_at = elapsed
        self._measured, self._remembered = _measured_at(judged.reading.node), ""
        if self._layout is None and tells_layout(judged.reading.node):
            self._layout = judged.report.layout

    def went(self, now: datetime) -> None:
        """Somebody went by rank, so that a cool-down begins where there is one.

        Args:
            now: in UTC, as rounds count time.
        """
        if self._settings.extensions.cool_down:
            self.state = replace(self.state, last_eviction_at=now)

    def nobody_went(self) -> None:
        """By one measurement one pod goes: by the last one somebody may go yet."""
        self.state = replace(self.state, signals=())

    def note(self, now: datetime) -> str:
        """What a restart has to know; the same text as long as that is the same.

        Args:
            now: in UTC, as rounds count time.
        """
        note = note_of(now, self.state, Noted(self._measured, publishes=False))
        if note.key != self._noted.key:
            self._noted = note
        return self._noted.text

    def _facts(
        self, reading: Reading, circumstances: Circumstances, again: Reading | None
    ) -> PressureFacts:
        node, settings = circumstances.node, self._settings
        extensions = settings.extensions
        if reading.without_huge_pages:
            extensions = replace(extensions, subtract_huge_pages=False)
        info = None if node is None else node.status.node_info
        return PressureFacts(
            summary=Summary(node=reading.node),
            configuration=circumstances.configuration,
            kubelet_version="" if info is None else told_version(info.kubelet_version),
            layout=settings.layout or circumstances.found_layout or self._layout,
            state=self._state_at(circumstances.moment, reading),
            reclaims=self._reclaims,
            after_reclaim=None if again is None else AfterReclaim(summary=Summary(node=again.node)),
            extensions=extensions,
            mem_available=reading.mem_available,
            huge_pages_bytes=None if node is None else node.status.huge_pages,
        )

    def _state_at(self, moment: Moment, reading: Reading) -> PressureState:
        """A threshold counts as met without a break only while somebody looks."""
        memory = memory_of(self._remembered)
        if memory is not None:
            return memory.resumed(moment.now, _measured_at(reading.node), self._longest_break)
        last = self._judged_at
        if last is None or moment.elapsed - last <= self._longest_break:
            return self.state
        return replace(self.state, thresholds=())

    @property
    def _longest_break(self) -> float:
        return max(LONGEST_BREAK, 3 * self._settings.interval)

    def _finding(self, planned: PressureRound, pod: Pod) -> Finding:
        found = planned.of(pod)
        if found is None:
            raise ValueError(f"{pod.key} is a victim, and nothing is said of it")
        # It is due by the time of rounds, which is not what is written.
        found = replace(found, due_since=None)
        return by_status_alone(found) if self._settings.keeps_pods else found


def _marks(thresholds: Iterable[Threshold], node: NodeStats) -> Mapping[str, tuple[int, ...]]:
    marks = usage_marks(thresholds, node)
    by_signal = ((NODE, Signal.MEMORY_AVAILABLE), (PODS, Signal.ALLOCATABLE_MEMORY_AVAILABLE))
    found = {of: marks[signal] for of, signal in by_signal if signal in marks}
    return found | {PODS_FOR_NODE: marks_for_pods(marks, node)}


def _measured_at(node: NodeStats) -> datetime | None:
    """When its memory was: a disk that stands still ends no grace period."""
    memory = None if node.memory is None else node.memory.time
    return memory or measured_at(node)


def oldest(pods: Sequence[Pod]) -> tuple[Pod, ...]:
    """In the order in which they came; who is equal in rank goes in the order of the pods."""
    return tuple(sorted(pods, key=lambda pod: (str(pod.metadata.creation_timestamp), pod.key)))
