"""What people and the cluster are told beside evictions: Events, and the node's conditions.

It is written in a task of its own, so that no round waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING, TypeVar

from bailiff.actions.event_bodies import Regarding
from bailiff.actions.node_conditions import status_body
from bailiff.agent.fates import Answer, answer_in
from bailiff.cluster.errors import ClusterError
from bailiff.cluster.resource import NODES
from bailiff.decisions.pressure.conditions import CONDITION_EVENTS

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Sequence
    from datetime import datetime

    from bailiff.actions.ports import Actions
    from bailiff.agent.evicting import Evictor
    from bailiff.agent.log import Log
    from bailiff.agent.node_facts import NodeFacts
    from bailiff.agent.remembering import Remembering
    from bailiff.agent.standing import Standing
    from bailiff.clock import Clock
    from bailiff.decisions.decision import EventNote, Finding
    from bailiff.kinds import Pod
    from bailiff.kinds.node_status import NodeCondition

_T = TypeVar("_T")

# Whose Events these are, and the conditions: upstream's controller of all this.
_COMPONENT = "kubelet"
_FIELD_MANAGER = "bailiff-agent"
# Seconds. As the worker's (worker/systems/pressure): an Event that a round may repeat, a heartbeat.
_TELL_EVERY = 600.0
_HEARTBEAT = 300.0
# Seconds until what failed is tried again.
_AGAIN = 10.0
_MOST_WAITING = 64


class Teller:
    """Owns the task; `run` it, and hand on what is to be told."""

    def __init__(
        self,
        actions: Actions | None,
        facts: NodeFacts,
        evictor: Evictor,
        remembering: Remembering,
        standing: Standing,
        clock: Clock,
        log: Log,
        *,
        publishes: bool,
    ) -> None:
        """Nothing waits to be told yet.

        Args:
            actions: on the API server; None: nobody is told.
            facts: of the node.
            evictor: tells of evictions.
            remembering: whom the API server does not know of yet.
            standing: is told what cannot be written.
            clock: for instants and heartbeats.
            log: hears of what cannot be told.
            publishes: the node's conditions are written.
        """
        self._actions = actions
        self._facts = facts
        self._evictor = evictor
        self._remembering = remembering
        self._standing = standing
        self._clock = clock
        self._log = log
        self._publishes = publishes
        self._events: deque[tuple[EventNote, datetime]] = deque(maxlen=_MOST_WAITING)
        self._evictions: deque[tuple[Pod, Finding]] = deque(maxlen=_MOST_WAITING)
        self._last: dict[tuple[str, str], float] = {}
        self._conditions: tuple[NodeCondition, ...] = ()
        self._published: tuple[NodeCondition, ...] = ()
        self._beat = float("-inf")
        self._wake = asyncio.Event()

    def tell(self, notes: Iterable[EventNote]) -> None:
        """Events about the node; the same is told once in ten minutes."""
        elapsed = self._clock.elapsed()
        self._last = {what: at for what, at in self._last.items() if elapsed - at < _TELL_EVERY}
        for note in notes:
            if note.reason in CONDITION_EVENTS and not self._publishes:
                # What it says of the node's status would not be so.
                continue
            what = (note.reason, note.message)
            if what not in self._last:
                self._last[what] = elapsed
                self._events.append((note, self._clock.now()))
                self._wake.set()

    def evicted(self, pod: Pod, found: Finding) -> None:
        """The Event of an eviction."""
        self._evictions.append((pod, found))
        self._wake.set()

    def publish(self, conditions: Sequence[NodeCondition]) -> None:
        """Have these conditions in the node's status."""
        self._conditions = tuple(conditions)
        late = self._clock.elapsed() - self._beat >= _HEARTBEAT
        if self._publishes and (late or self._conditions != self._published):
            self._wake.set()

    def wake(self) -> None:
        """There is something to write: of a pod whose containers were stopped, or to take back."""
        self._wake.set()

    async def run(self) -> None:
        """Write what waits, until cancelled; what failed is tried again soon."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_AGAIN):
                    await self._wake.wait()
            self._wake.clear()
            await self.write()

    async def write(self) -> None:
        """Write what waits, once."""
        if self._actions is None:
            self._events.clear()
            self._evictions.clear()
            return
        await self._evictor.announced.take_back()
        await self._remembering.tell(self._evictor, self._clock.now())
        while self._evictions:
            first = self._evictions[0]
            await self._evictor.record(*first)
            _done_with(self._evictions, first)
        # One of the two that fails keeps the other from nothing.
        await self._try("Events", self._write_events(self._actions))
        await self._try("the node's conditions", self._write_conditions(self._actions))

    async def _try(self, what: str, writing: Coroutine[None, None, bool]) -> None:
        """Write this; what was refused is told of until something of the kind is taken."""
        about = f"the API server, about {what}"
        try:
            if await writing:
                self._standing.complain(about, "")
        except ClusterError as error:
            if self._standing.complain(about, error.message):
                self._log.warning("node not written", what=what, error=error.message)

    async def _write_events(self, actions: Actions) -> bool:
        """Whether one was written."""
        node, wrote = self._facts.node, False
        if node is None:
            return False
        meta = node.metadata
        about = Regarding(api_version="v1", kind="Node", name=meta.name, uid=meta.uid)
        while self._events:
            first = self._events[0]
            try:
                await actions.report(about, *first, _COMPONENT)
            except ClusterError as error:
                if answer_in(error, meta.name) not in (Answer.AWAY, Answer.BUSY):
                    # It may never be taken, and keeps those behind it.
                    _done_with(self._events, first)
                raise
            _done_with(self._events, first)
            wrote = True
        return wrote

    async def _write_conditions(self, actions: Actions) -> bool:
        """Whether they were written."""
        node, conditions, elapsed = self._facts.node, self._conditions, self._clock.elapsed()
        late = elapsed - self._beat >= _HEARTBEAT
        if node is None or not self._publishes or not conditions:
            return False
        if conditions == self._published and not late:
            return False
        body = status_body(node, conditions, self._clock.now().replace(microsecond=0))
        await actions.write(
            NODES, body, field_manager=_FIELD_MANAGER, apply=True, subresource="status"
        )
        self._published, self._beat = conditions, elapsed
        return True


def _done_with(waiting: deque[_T], first: _T) -> None:
    """It waits no more; others may have pushed it out meanwhile."""
    if waiting and waiting[0] is first:
        waiting.popleft()
