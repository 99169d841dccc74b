"""What is written into the status of pods on lost nodes besides evictions, and told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from bailiff.actions.ports import Mark
from bailiff.cluster import ClusterError, ConflictError, FencedError, NotFoundError
from bailiff.decisions import EventNote
from bailiff.decisions.node_loss.standing import LOST
from bailiff.decisions.node_loss.words import CONTROLLER, NODE_NOT_READY, STUCK_REASON, unresponsive
from bailiff.worker.systems.node_loss.watched import PodMark
from bailiff.worker.timers.retrying import Again, Retrying

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import Counter

    from bailiff.decisions.decision import ObjectReference
    from bailiff.decisions.node_loss.report import NodeLossReport
    from bailiff.kinds import Pod
    from bailiff.worker.systems.node_loss.fleet import Fleet
    from bailiff.worker.systems.node_loss.settings import NodeLossMode
    from bailiff.worker.systems.node_loss.watched import WatchedNode
    from bailiff.worker.systems.system import Parts

_AT_A_TIME = 8
# Seconds until a pod is marked as lost: what evicts it marks it by itself, in one go.
_AFTER_EVICTIONS = 5.0
_FAILURE_DELAY = 1.0
_MAX_DELAY = 60.0

log = structlog.get_logger(__name__)


class Marker(Retrying[PodMark]):
    """Each pod once for each thing, as long as its node stays lost."""

    def __init__(self, parts: Parts, mode: NodeLossMode, fleet: Fleet, writes: Counter) -> None:
        """Begin with nothing to write; `writes` counts, by what and fate."""
        super().__init__(parts.clock, at_a_time=_AT_A_TIME)
        self._parts = parts
        self._mode = mode
        self._fleet = fleet
        self._writes = writes
        self._written = "onPaper" if parts.settings.on_paper else "written"

    def judged(self, watched: WatchedNode, report: NodeLossReport) -> None:
        """Have written what a round says of the pods of a node, and no more what one said before.

        A standby writes nothing, and is told again when it leads.
        """
        wanted = dict.fromkeys(_marks(report.to_mark, "reason"), "")
        if self._mode.marks_not_ready:
            wanted |= dict.fromkeys(_marks(report.to_mark_not_ready, "notReady"), "")
        wanted |= {_mark(one.pod, "stuck"): one.message for one in report.stuck}
        watched.to_mark = {one: why for one, why in wanted.items() if one not in watched.marked}
        if self._parts.election.may_act():
            for one in watched.to_mark:
                self.remind(one, _AFTER_EVICTIONS if one.what == "reason" else 0.0)

    async def attempt(self, key: PodMark, failures: int) -> Again | None:
        """See Retrying. Bounded by the time that the client gives each request."""
        pod = self._parts.mirror.pod((key.namespace, key.name))
        if pod is None or pod.metadata.uid != key.uid:
            return None
        watched = self._fleet.get(pod.spec.node_name)
        if watched is None or not self._is_wanted(key, watched):
            return None
        try:
            await self._do(pod, key, watched.to_mark[key])
        except FencedError:
            self._writes.labels(key.what, "fenced").inc()
            return None
        except (NotFoundError, ConflictError):
            # Gone, or another pod under its name.
            self._writes.labels(key.what, "gone").inc()
        except ClusterError as error:
            self._writes.labels(key.what, "failed").inc()
            log.info("pod of a lost node not marked", pod=pod.key, error=str(error))
            return Again.doubled(_FAILURE_DELAY, failures, _MAX_DELAY)
        else:
            self._writes.labels(key.what, self._written).inc()
        watched.marked.add(key)
        return None

    def _is_wanted(self, key: PodMark, watched: WatchedNode) -> bool:
        """Whether the node is lost still, by what is known this moment, and ours to speak of."""
        if not (self._parts.marks.owns(watched.name) and self._parts.election.may_act()):
            return False
        node = self._parts.mirror.node(watched.name)
        if node is None or not watched.is_lost:
            return False
        glance = self._fleet.glance(node, watched, self._parts.clock.elapsed())
        # One that was asked for while it was written is not written twice.
        is_open = key in watched.to_mark and key not in watched.marked
        return glance.state in LOST and is_open

    async def _do(self, pod: Pod, key: PodMark, message: str) -> None:
        now, actions = self._parts.clock.now(), self._parts.actions
        match key.what:
            case "reason":
                await self._mark_lost(pod)
            case "notReady":
                await actions.mark(pod, Mark(not_ready=True), now)
                await actions.record(pod, NODE_NOT_READY, now, CONTROLLER)
            case _:
                note = EventNote(type="Warning", reason=STUCK_REASON, message=message)
                await actions.record(pod, note, now, CONTROLLER)

    async def _mark_lost(self, pod: Pod) -> None:
        reason = self._mode.settings.reason.value
        if pod.status.reason == reason or pod.is_finished:
            return
        message = unresponsive(pod.spec.node_name, pod.metadata.name)
        await self._parts.actions.mark(pod, Mark(reason, message), self._parts.clock.now())


def _mark(pod: ObjectReference, what: str) -> PodMark:
    return PodMark(pod.namespace, pod.name, pod.uid, what)


def _marks(pods: Iterable[ObjectReference], what: str) -> list[PodMark]:
    return [_mark(pod, what) for pod in pods]
