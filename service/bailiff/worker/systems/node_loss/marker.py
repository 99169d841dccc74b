"""What is written into the status of pods on lost nodes besides evictions, and told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import structlog

from bailiff.cluster import ClusterError, ConflictError, FencedError, NotFoundError
from bailiff.decisions import EventNote
from bailiff.decisions.node_loss.words import CONTROLLER, NODE_NOT_READY, STUCK_REASON, unresponsive
from bailiff.worker.execute.actions import Mark
from bailiff.worker.timers.retrying import Again, Retrying

if TYPE_CHECKING:
    from prometheus_client import Counter

    from bailiff.decisions.decision import ObjectReference
    from bailiff.decisions.node_loss.report import NodeLossReport
    from bailiff.kinds import Pod
    from bailiff.worker.systems.node_loss.settings import NodeLossMode
    from bailiff.worker.systems.node_loss.watched import WatchedNode
    from bailiff.worker.systems.system import Parts

_AT_A_TIME = 8
# Seconds until a pod is marked as lost: what evicts it marks it by itself, in one go.
_AFTER_EVICTIONS = 5.0
_FAILURE_DELAY = 1.0
_MAX_DELAY = 60.0

log = structlog.get_logger(__name__)


class _Key(NamedTuple):
    """Which pod, and what is to be done: `reason`, `notReady` or `stuck`."""

    namespace: str
    name: str
    uid: str
    what: str


class Marker(Retrying[_Key]):
    """Each pod once for each thing, as long as its node stays lost."""

    def __init__(self, parts: Parts, mode: NodeLossMode, writes: Counter) -> None:
        """Begin with nothing to write; `writes` counts, by what and fate."""
        super().__init__(parts.clock, at_a_time=_AT_A_TIME)
        self._parts = parts
        self._mode = mode
        self._writes = writes
        self._written = "onPaper" if parts.settings.on_paper else "written"
        self._messages: dict[_Key, str] = {}

    def judged(self, watched: WatchedNode, report: NodeLossReport) -> None:
        """Have written what a round says of the pods of a node."""
        for pod in report.to_mark:
            self._want(watched, pod, "reason", _AFTER_EVICTIONS)
        if self._mode.marks_not_ready:
            for pod in report.to_mark_not_ready:
                self._want(watched, pod, "notReady")
        for stuck in report.stuck:
            self._want(watched, stuck.pod, "stuck", message=stuck.message)

    def _want(
        self,
        watched: WatchedNode,
        pod: ObjectReference,
        what: str,
        delay: float = 0.0,
        message: str = "",
    ) -> None:
        if (pod.uid, what) in watched.marked:
            return
        watched.marked.add((pod.uid, what))
        key = _Key(pod.namespace, pod.name, pod.uid, what)
        if message:
            self._messages[key] = message
        self.remind(key, delay)

    async def forget(self) -> None:
        """See Retrying."""
        await super().forget()
        self._messages.clear()

    async def attempt(self, key: _Key, failures: int) -> Again | None:
        """See Retrying. Bounded by the time that the client gives each request."""
        pod = self._parts.mirror.pod((key.namespace, key.name))
        message = self._messages.get(key, "")
        gone = pod is None or pod.metadata.uid != key.uid
        if gone or pod is None or not self._parts.election.may_act():
            self._messages.pop(key, None)
            return None
        try:
            await self._do(pod, key, message)
        except FencedError:
            self._writes.labels(key.what, "fenced").inc()
        except (NotFoundError, ConflictError):
            # Gone, or another pod under its name.
            self._writes.labels(key.what, "gone").inc()
        except ClusterError as error:
            self._writes.labels(key.what, "failed").inc()
            log.info("pod of a lost node not marked", pod=pod.key, error=str(error))
            return Again(min(_FAILURE_DELAY * 2 ** min(failures, 10), _MAX_DELAY))
        else:
            self._writes.labels(key.what, self._written).inc()
        self._messages.pop(key, None)
        return None

    async def _do(self, pod: Pod, key: _Key, message: str) -> None:
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
