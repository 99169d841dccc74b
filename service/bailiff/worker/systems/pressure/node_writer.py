"""Writes about nodes: what the worker remembers, conditions, and Events; beside everything else.

No eviction waits for any of it. What is to be written is asked for when its turn has come.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from bailiff.actions.event_bodies import Regarding
from bailiff.actions.node_conditions import status_body
from bailiff.cluster import NODES, ClusterError, ConflictError, FencedError, NotFoundError
from bailiff.decisions.pressure.memory import NOTHING, Note
from bailiff.kinds import Annotations
from bailiff.worker.timers.retrying import Again, Retrying

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from prometheus_client import Counter

    from bailiff.decisions import EventNote
    from bailiff.kinds import Node
    from bailiff.kinds.node_status import NodeCondition
    from bailiff.worker.systems.system import Parts

ANNOTATION = next(
    each for each in Annotations.__struct_encode_fields__ if each.endswith("pressure-state")
)
# Who writes, by managedFields.
FIELD_MANAGER = "bailiff-pressure"
# Whose Events these are, and the conditions: upstream's controller of all this.
COMPONENT = "kubelet"
# Seconds. A condition that does not change is written once in so long, as the kubelet does
# (nodeStatusReportFrequency of KubeletConfiguration).
HEARTBEAT = 300.0
_WRITERS = 8
# Events of a node that wait to be written; the oldest go first where there are more.
_EVENTS = 16
# Seconds until the second try, doubled with each further one, up to the last number.
_FAILURE_DELAY = 1.0
_MAX_DELAY = 60.0

log = structlog.get_logger(__name__)


class _Event(NamedTuple):
    note: EventNote
    at: datetime


@dataclass(slots=True)
class _Wanted:
    """What is to be written about one node, and what was."""

    uid: str
    note: Note | None = None
    noted: Note | None = None
    conditions: tuple[NodeCondition, ...] = ()
    published: tuple[NodeCondition, ...] = ()
    heartbeat: float | None = None
    events: deque[_Event] = field(default_factory=deque)

    def is_to_publish(self, elapsed: float) -> bool:
        """Whether the conditions have changed, or the last sign of life is old."""
        late = self.heartbeat is None or elapsed - self.heartbeat >= HEARTBEAT
        return bool(self.conditions) and (late or self.conditions != self.published)


class NodeWriter(Retrying[str]):
    """By the name of the node. A round only reminds: what fails keeps its growing distance."""

    def __init__(self, parts: Parts, writes: Counter) -> None:
        """Begin with nothing to write; `writes` counts, by what and fate."""
        super().__init__(parts.clock, at_a_time=_WRITERS)
        self._parts = parts
        self._writes = writes
        # The API server has checked it, and keeps nothing: a dry run, or a shadow's.
        self._written = "onPaper" if parts.settings.on_paper else "written"
        self._wanted: dict[str, _Wanted] = {}
        self._failing: set[str] = set()

    def remember(self, node: Node, note: Note) -> None:
        """Have this in the node's annotation; a note with the key of the last needs no write."""
        wanted = self._of(node)
        if wanted.noted is None and not node.metadata.annotations.pressure_state:
            wanted.noted = NOTHING
        if wanted.noted is not None and note.key == wanted.noted.key:
            # What waited to be written meanwhile is out of date.
            wanted.note = None
            return
        wanted.note = note
        self.remind(node.metadata.name)

    def publish(self, node: Node, conditions: Sequence[NodeCondition]) -> None:
        """Have these conditions in the node's status, and a sign of life once in five minutes."""
        wanted = self._of(node)
        wanted.conditions = tuple(conditions)
        if wanted.is_to_publish(self._parts.clock.elapsed()):
            self.remind(node.metadata.name)

    def tell(self, node: Node, note: EventNote, at: datetime) -> None:
        """Write this Event about the node."""
        events = self._of(node).events
        if len(events) == _EVENTS:
            events.popleft()
        events.append(_Event(note, at))
        self.remind(node.metadata.name)

    def drop(self, name: str) -> None:
        """The node is gone, or another's."""
        self._wanted.pop(name, None)
        self._failing.discard(name)

    async def forget(self) -> None:
        """See Retrying."""
        await super().forget()
        self._wanted.clear()
        self._failing.clear()

    async def attempt(self, key: str, failures: int) -> Again | None:
        """See Retrying. Bounded by the time that the client gives each request."""
        wanted, node = self._wanted.get(key), self._parts.mirror.node(key)
        if wanted is None or node is None or node.metadata.uid != wanted.uid:
            return None
        what = "annotation"
        try:
            await self._remember(node, wanted)
            what = "conditions"
            await self._publish(node, wanted)
            what = "event"
            await self._tell(node, wanted)
        except FencedError:
            self._writes.labels(what, "fenced").inc()
            return None
        except ClusterError as error:
            self._writes.labels(what, "failed").inc()
            if isinstance(error, NotFoundError | ConflictError):
                # Gone, or another node under its name: the watch will tell.
                return None
            return self._failed(key, what, error, failures)
        self._failing.discard(key)
        return None

    def _of(self, node: Node) -> _Wanted:
        name, uid = node.metadata.name, node.metadata.uid
        wanted = self._wanted.get(name)
        if wanted is None or wanted.uid != uid:
            wanted = self._wanted[name] = _Wanted(uid)
        return wanted

    async def _remember(self, node: Node, wanted: _Wanted) -> None:
        note = wanted.note
        if note is None:
            return
        metadata = {
            "name": node.metadata.name,
            "uid": node.metadata.uid,
            "annotations": {ANNOTATION: note.text or None},
        }
        await self._write({"metadata": metadata})
        wanted.noted = note
        if wanted.note is note:
            wanted.note = None
        self._writes.labels("annotation", self._written).inc()

    async def _publish(self, node: Node, wanted: _Wanted) -> None:
        elapsed, conditions = self._parts.clock.elapsed(), wanted.conditions
        if not wanted.is_to_publish(elapsed):
            return
        body = status_body(node, conditions, self._parts.clock.now().replace(microsecond=0))
        await self._write(body, apply=True, subresource="status")
        wanted.published, wanted.heartbeat = conditions, elapsed
        self._writes.labels("conditions", self._written).inc()

    async def _tell(self, node: Node, wanted: _Wanted) -> None:
        meta = node.metadata
        about = Regarding(api_version="v1", kind="Node", name=meta.name, uid=meta.uid)
        while wanted.events:
            event = wanted.events.popleft()
            try:
                await self._parts.actions.report(about, event.note, event.at, COMPONENT)
            except FencedError:
                raise
            except ClusterError as error:
                # A courtesy, which is not worth a retry that would delay the others.
                self._writes.labels("event", "failed").inc()
                log.info("event not written", node=meta.name, error=str(error))
            else:
                self._writes.labels("event", self._written).inc()

    async def _write(
        self, body: dict[str, Any], *, apply: bool = False, subresource: str = ""
    ) -> None:
        how: Any = {"field_manager": FIELD_MANAGER, "apply": apply, "subresource": subresource}
        await self._parts.actions.write(NODES, body, **how)

    def _failed(self, name: str, what: str, error: ClusterError, failures: int) -> Again:
        if not self._failing:
            log.warning("node not written, trying again", node=name, what=what, error=str(error))
        self._failing.add(name)
        # The exponent is bounded too: no float is as large as the power would grow.
        return Again.doubled(_FAILURE_DELAY, failures, _MAX_DELAY)
