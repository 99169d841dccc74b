"""Pressure in a worker: summaries of nodes are read, and pods evicted as their kubelets would."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import structlog
from msgspec.structs import replace

from bailiff.clock import Moment, SteadyTime
from bailiff.cluster.kubelets import KubeletError
from bailiff.decisions import Round, Scene
from bailiff.decisions.cost import FactsError
from bailiff.decisions.decision import Verdict, reference_to
from bailiff.decisions.pressure.choosing import Outside
from bailiff.decisions.pressure.file_systems import tells_layout
from bailiff.decisions.pressure.findings import SYSTEM, by_status_alone, went_by_rank
from bailiff.decisions.pressure.judging import PressureRound
from bailiff.decisions.pressure.strangers import strangers
from bailiff.worker.execute.outcomes import EVICTED, may_be_ours
from bailiff.worker.systems.pressure.fleet import STATES, Fleet
from bailiff.worker.systems.pressure.following import Configured, Following
from bailiff.worker.systems.pressure.leaving import LEAVES
from bailiff.worker.systems.pressure.metrics import PressureMetrics
from bailiff.worker.systems.pressure.node_writer import NodeWriter
from bailiff.worker.systems.pressure.round_facts import facts_of
from bailiff.worker.systems.pressure.telling import NodeTeller
from bailiff.worker.systems.pressure.watched_node import Planned
from bailiff.worker.systems.system import SystemInWorker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bailiff.cluster.kubelets import MeasuredNode
    from bailiff.cluster.kubelets import Outcome as Reading
    from bailiff.decisions import Finding
    from bailiff.decisions.pressure.report import PressureReport
    from bailiff.kinds import Node, Pod
    from bailiff.worker.execute.outcomes import Outcome
    from bailiff.worker.mirror.mirror import PodKey
    from bailiff.worker.systems.pressure.following import KubeletSource
    from bailiff.worker.systems.pressure.settings import PressureMode
    from bailiff.worker.systems.pressure.watched_node import WatchedNode
    from bailiff.worker.systems.system import Parts, Work, Writer
    from bailiff.worker.timers.eviction import Eviction

log = structlog.get_logger(__name__)

# Characters; a node may say anything of itself, and is quoted.
_LONGEST_REASON = 500


class PressureInWorker(SystemInWorker):
    """What the kubelet's eviction manager does, from outside, for the nodes that are selected."""

    name = SYSTEM
    # What is found rests on a summary, and no newer state of the node object would change it.
    by_node = False

    def __init__(self, parts: Parts, kubelets: KubeletSource, mode: PressureMode) -> None:
        """Watch no node yet.

        Args:
            parts: of the worker. Its mirror has to keep what pods are weighed by, and the status
                of nodes, see Keep.
            kubelets: are asked for summaries and configurations.
            mode: the operator's.
        """
        self._parts = parts
        self._mode = mode
        self._options = replace(parts.settings.options, explain=True)
        self.fleet = Fleet(mode.longest_break)
        self._steady = SteadyTime(parts.clock)
        self.metrics = PressureMetrics(parts.registry, on_paper=parts.settings.on_paper)
        self.writer = NodeWriter(parts, self.metrics.writes)
        self.teller = NodeTeller(parts, mode, self.writer, self.metrics)
        self.configured = Configured(kubelets, parts.clock, mode.configuration)
        self.following = Following(parts, mode, self.configured, self.read, self._drop)
        parts.mirror.listen_to_pods(self)
        for state in STATES:
            self.metrics.nodes.labels(state).set_function(partial(self.fleet.count, state))

    # What the worker asks.

    def prepare(self, scene: Scene, *, explain: bool) -> Round | None:  # noqa: ARG002 - see below
        """See SystemInWorker. The round was planned when its summary came; this only looks."""
        watched = None if scene.node is None else self.fleet.get(scene.node.metadata.name)
        if watched is None:
            return None
        # A held eviction must not outlive by much what it was decided by.
        ago = watched.judged_ago(self._parts.clock.elapsed())
        why_not = watched.unknown
        if not why_not and ago > self._mode.stale_after:
            why_not = f"its last round was {ago:.0f} s ago"
        return Planned(watched, self._parts.clock.now(), why_not)

    def overrides_policies(self, pod: Pod) -> bool:
        """See SystemInWorker."""
        watched = self.fleet.of(pod)
        found = None if watched is None else watched.victims.get(pod.metadata.uid)
        if watched is None or found is None or not self._mode.hard_overrides_policies:
            return False
        return watched.by_hard and went_by_rank(found)

    def followers(self) -> Mapping[str, Work]:
        """See SystemInWorker."""
        return {"summaries": self.following.run}

    def writers(self) -> Mapping[str, Writer]:
        """See SystemInWorker."""
        return {"nodes": self.writer}

    def forget_node(self, name: str) -> None:
        """See SystemInWorker."""
        self.following.drop(name)
        self._drop(name)

    def _drop(self, name: str) -> None:
        """Keep nothing of a node that is read no more: another worker may watch it meanwhile."""
        self.fleet.drop(name)
        self.writer.drop(name)

    def lost(self) -> None:
        """See SystemInWorker."""
        for name in self.fleet.names:
            self.forget_node(name)

    def began(self, eviction: Eviction) -> None:
        """See SystemInWorker."""
        if (watched := self.fleet.of(eviction.pod)) is not None:
            watched.began(eviction.uid)
            # By what was measured nobody else is to go after a restart.
            self._remember(watched)

    def failed(self, eviction: Eviction, outcome: Outcome) -> None:  # noqa: ARG002 - the port's
        """See SystemInWorker."""
        if (watched := self.fleet.of(eviction.pod)) is not None:
            watched.failed(eviction.uid)

    def evicted(self, eviction: Eviction, late: float) -> None:  # noqa: ARG002 - the port's
        """See SystemInWorker."""
        self.metrics.evictions.labels(eviction.finding.cause).inc()

    def ended(self, eviction: Eviction, outcome: Outcome) -> None:
        """See SystemInWorker."""
        watched = self.fleet.of(eviction.pod)
        if watched is None:
            return
        if not (outcome in EVICTED or may_be_ours(outcome, eviction.failures)):
            watched.failed(eviction.uid)
            return
        grace = eviction.finding.grace_period_seconds or 0
        watched.evicted(eviction.uid, self._parts.clock.elapsed(), grace)
        if self._mode.extensions.cool_down and went_by_rank(eviction.finding):
            watched.cools_from(self._steady.now())
            self._remember(watched)

    def complaints(self) -> list[str]:
        """See SystemInWorker."""
        return self.fleet.complaints()

    def describe(self) -> dict[str, Any]:
        """See SystemInWorker."""
        return self.fleet.describe()

    # What the mirror tells.

    def pod_changed(self, key: PodKey, pod: Pod) -> None:  # noqa: ARG002 - the listener's
        """See PodListener."""
        if (watched := self.fleet.of(pod)) is not None:
            watched.see(pod, self._parts.clock.elapsed())

    def pod_gone(self, pod: Pod) -> None:
        """See PodListener."""
        if (watched := self.fleet.of(pod)) is not None:
            watched.gone(pod.metadata.uid, self._parts.clock.now())

    # What kubelets tell.

    def read(self, name: str, reading: Reading) -> None:
        """A summary has been read, or could not be; see SummaryListener."""
        node = self._parts.mirror.node(name)
        if node is None:
            return
        try:
            self._look(node, reading)
        except Exception:
            # What one node tells of itself, and its kubelet may be hostile, must not end the
            # evictions of all others. It is a fault of ours, so that it is told with its place.
            log.exception("a round could not be planned", node=name)
            self.metrics.reads.labels("failed").inc()
            if (watched := self.fleet.get(name)) is not None:
                why = "its round could not be planned, see the worker's log"
                self._lose_sight(node, watched, why)

    def _look(self, node: Node, reading: Reading) -> None:
        watched = self.fleet.watch(node)
        before = watched.victims
        if isinstance(reading, KubeletError):
            self.metrics.reads.labels(reading.reason).inc()
            self._lose_sight(node, watched, reading.message)
        else:
            self.metrics.reads.labels("read").inc()
            self.metrics.read_seconds.observe(reading.seconds)
            try:
                self._judge(node, watched, reading.measured)
            except KubeletError as error:
                # What was measured of its pods is read only now.
                self._lose_sight(node, watched, error.message)
        if before or watched.victims:
            self._parts.marks.look_at_node(watched.name)

    def _judge(self, node: Node, watched: WatchedNode, measured: MeasuredNode) -> None:
        """Plan a round, unless what was measured is old.

        While somebody leaves nobody else goes by it, but what goes on from round to round does.
        """
        now, elapsed = self._steady.now(), self._parts.clock.elapsed()
        age = watched.age(measured.node, now, elapsed)
        if age > self._mode.stale_after:
            self._lose_sight(node, watched, f"its kubelet has measured nothing for {age:.0f} s")
            return
        pods = tuple(self._parts.mirror.pods_on(watched.name))
        may_go = self._may_be_judged(watched, pods, measured)
        moment, configured = Moment(now, elapsed), self.configured.of(watched.name)
        facts = facts_of(node, measured.node, watched, configured, self._mode, moment)
        try:
            scene = Scene(pods, now, node, neighbours=())
            outside = Outside(self._parts.clock.now(), watched.held)
            planned = PressureRound(scene, facts, self._options, lambda: measured.pods, outside)
        except FactsError as error:
            self._lose_sight(node, watched, f"its configuration cannot be: {error}")
            return
        if watched.layout is None and tells_layout(measured.node):
            watched.layout = planned.report.layout
        report = replace(planned.report, candidates=())
        if may_go:
            in_use = self._mode.extensions.memory_in_use
            unknown = strangers(planned.report, pods, lambda: measured.pods, in_use)
            watched.waits = watched.leaving.why_nobody_goes(report, unknown, elapsed)
            self._take(watched, planned, report, () if watched.waits else pods)
        else:
            watched.waits = LEAVES
            watched.note(report, elapsed)
        self.teller.judged(node, watched, report, now)

    def _may_be_judged(
        self, watched: WatchedNode, pods: tuple[Pod, ...], measured: MeasuredNode
    ) -> bool:
        clock, leaving = self._parts.clock, watched.leaving
        leaving.find(pods, clock.now(), clock.elapsed())
        if leaving:
            uids = {one.metadata.uid for one in pods}
            seen = {one.pod_ref.uid for one in measured.pods}
            leaving.look(uids, seen, Moment(clock.now(), clock.elapsed()))
        return watched.may_be_judged()

    def _take(
        self,
        watched: WatchedNode,
        planned: PressureRound,
        report: PressureReport,
        pods: Iterable[Pod],
    ) -> None:
        """What holds until the next round; of its victims those go that are among these pods."""
        chosen = {one.pod for one in report.victims}
        going = [one for one in pods if reference_to(one) in chosen]
        watched.take(
            report,
            {one.metadata.uid: self._finding(planned, one) for one in going},
            planned.of_others(),
            by_hard=planned.is_hard and bool(going),
            unmeasured=planned.unmeasured,
            elapsed=self._parts.clock.elapsed(),
        )

    def _finding(self, planned: PressureRound, pod: Pod) -> Finding:
        found = planned.of(pod)
        if found is None or found.verdict is Verdict.KEEP:
            raise ValueError(f"{pod.key} is a victim, and is said to stay")
        # It is due by the time of rounds, which is not what attempts go by.
        found = replace(found, due_since=None)
        return by_status_alone(found) if self._mode.keeps_pods else found

    def _lose_sight(self, node: Node, watched: WatchedNode, why: str) -> None:
        why = why[:_LONGEST_REASON]
        if watched.lose_sight(why):
            self.teller.lost_sight(node, watched, why)

    def _remember(self, watched: WatchedNode) -> None:
        """Something that a restart has to know, too."""
        node = self._parts.mirror.node(watched.name)
        if node is not None:
            self.teller.remember(node, watched, self._steady.now())
