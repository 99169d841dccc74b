"""What people and the cluster are told of watched nodes: Events, conditions, what is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from bailiff.decisions import EventNote
from bailiff.decisions.pressure.memory import note_of
from bailiff.decisions.pressure.report import DRY_RUN, INVALID_DISK_CAPACITY, THRESHOLD_MET
from bailiff.decisions.pressure.signals import CONDITIONS

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.pressure.report import PressureReport
    from bailiff.kinds import Node
    from bailiff.worker.systems.pressure.metrics import PressureMetrics
    from bailiff.worker.systems.pressure.node_writer import NodeWriter
    from bailiff.worker.systems.pressure.settings import PressureMode
    from bailiff.worker.systems.pressure.watched_node import WatchedNode
    from bailiff.worker.systems.system import Parts

UNKNOWN = "PressureUnknown"
# Events that a round may repeat are told of a node once in so many seconds.
_REPEATED = frozenset({THRESHOLD_MET, DRY_RUN, INVALID_DISK_CAPACITY, UNKNOWN})
_TELL_EVERY = 600.0
# Seconds. A kubelet writes its conditions once in five minutes at least (nodeStatusReportFrequency
# of KubeletConfiguration). Those that nobody has written for so long are those of a worker that has
# left no note, and would hold for ever.
_ABANDONED = 1800.0

log = structlog.get_logger(__name__)


class NodeTeller:
    """Hands on to the writer what is news of a node."""

    def __init__(
        self, parts: Parts, mode: PressureMode, writer: NodeWriter, metrics: PressureMetrics
    ) -> None:
        """Prepare; what is written beside evictions is the writer's."""
        self._parts = parts
        self._publishes = mode.publishes
        self._writer = writer
        self._metrics = metrics

    def judged(
        self, node: Node, watched: WatchedNode, report: PressureReport, at: datetime
    ) -> None:
        """A round has been planned, and its state taken over.

        Args:
            node: as the API has it.
            watched: with what the round has left.
            report: of the round.
            at: when, as rounds count time.
        """
        now = self._parts.clock.now()
        for event in report.events:
            self._tell(node, watched, event, now)
        self._publish(node, watched, report)
        if watched.victims:
            self._count_age(report, at)
        for one in report.dry_runs:
            if one.victims:
                self._metrics.dry_runs.labels(one.threshold.signal).inc()
        self.remember(node, watched, at)

    def remember(self, node: Node, watched: WatchedNode, now: datetime) -> None:
        """Have the node's annotation tell what a restart must know."""
        if self._parts.settings.persist_observations:
            self._writer.remember(node, note_of(now, watched.state, watched.noted))

    def _count_age(self, report: PressureReport, now: datetime) -> None:
        """Count how old the measurement is by which a threshold is acted upon."""
        for one in report.next.signals:
            if one.signal == report.starved and one.time is not None:
                age = max(0.0, (now - one.time).total_seconds())
                self._metrics.stats_age.labels(one.signal).observe(age)

    def lost_sight(self, node: Node, watched: WatchedNode, why: str) -> None:
        """Nothing is known of the node any more, or has ever been."""
        log.warning("pressure of a node is unknown", node=watched.name, why=why)
        message = f"Nobody is evicted from node {watched.name} for pressure: {why}"
        note = EventNote(type="Warning", reason=UNKNOWN, message=message)
        self._tell(node, watched, note, self._parts.clock.now())

    def _publish(self, node: Node, watched: WatchedNode, report: PressureReport) -> None:
        """Conditions, where nobody else writes them: a kubelet always writes all three."""
        there = [one for one in node.status.conditions if one.type in CONDITIONS]
        beats = [one.last_heartbeat_time for one in there if one.last_heartbeat_time is not None]
        still = watched.still_for(max(beats, default=None), self._parts.clock.elapsed())
        if self._publishes and (watched.publishes or not there or still >= _ABANDONED):
            watched.publishes = True
            self._writer.publish(node, report.conditions)

    def _tell(self, node: Node, watched: WatchedNode, note: EventNote, now: datetime) -> None:
        elapsed = self._parts.clock.elapsed()
        if note.reason in _REPEATED:
            # The one Event that tells of several things, of which there are few.
            what = (note.message,) if note.reason == THRESHOLD_MET else ()
            key = (note.reason, *what)
            if elapsed - watched.told.get(key, float("-inf")) < _TELL_EVERY:
                return
            watched.told[key] = elapsed
        self._writer.tell(node, note, now)
