"""What hooks see of the cluster: within a time, some things at a time, kept for seconds.

Many nodes are tainted one after the other, and for each of them hooks want to see much of the same.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions import NotRead, Wanted, Why
from bailiff.kinds import Node, NodeStatus, Pod
from bailiff.lookup import ForbiddenError, LookUpError, NotServedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bailiff.clock import Clock
    from bailiff.decisions.changes import ChangeLookUp, Consequences
    from bailiff.decisions.question import Plan
    from bailiff.decisions.seen import Seen
    from bailiff.kinds.meta import Value
    from bailiff.lookup import Source

# Seconds for which a list serves others, and a single node: a scheduler binds many pods to one.
_KEPT_LIST, _KEPT_NODE = 5.0, 1.0
# Lists, and objects in all of them together: about 100 MB.
_MAX_KEPT, _MAX_OBJECTS = 128, 50_000
# Seconds for one thing that is read; who waits for it may have gone.
_READ_TIMEOUT = 10.0
# Seconds for which it is known what was allowed: as long as a list may be that has been begun
# before, and is kept.
_KEPT_ALLOWED, _MAX_ALLOWED = _READ_TIMEOUT + _KEPT_LIST, 1_000
# Requests at a time: the client has 64 for everybody.
_AT_A_TIME = 16
# Seconds that are left for the answer itself.
_MARGIN = 0.02


class Sight:
    """Reads for hooks. What cannot be read in time is said to be so, and nothing is raised."""

    def __init__(self, source: Source | None, clock: Clock) -> None:
        """See nothing yet.

        Args:
            source: where objects come from; None: there is no cluster.
            clock: by which deadlines are.
        """
        self._source = source
        self._clock = clock
        self._turns = asyncio.Semaphore(_AT_A_TIME)
        self._kept: OrderedDict[Wanted, _Kept] = OrderedDict()
        self._allowed: OrderedDict[str, tuple[float, Node]] = OrderedDict()

    async def look(self, looking: ChangeLookUp, deadline: float) -> Plan[Consequences] | None:
        """Show a system all that it wants to see, and give back what it makes of that.

        Args:
            looking: of the system.
            deadline: the instant of the clock by which there is to be an answer.

        Raises:
            FactsError: it would be too much to decide for.
        """
        try:
            wanted = next(looking)
            while True:
                wanted = looking.send(await self.see(wanted, deadline))
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    async def see(self, wanted: Iterable[Wanted], deadline: float) -> tuple[Seen, ...]:
        """Several things, or of each why it could not be read in time."""
        until = deadline - _MARGIN
        found = await asyncio.gather(*(self._see(one, until) for one in wanted))
        if not found:
            await asyncio.sleep(0)
        return tuple(found)

    def allowed(self, node: Node) -> None:
        """A node is about to be as this; lists of the next seconds have it so."""
        self._allowed.pop(node.metadata.name, None)
        self._allowed[node.metadata.name] = self._clock.monotonic() + _KEPT_ALLOWED, node
        if len(self._allowed) > _MAX_ALLOWED:
            self._allowed.popitem(last=False)

    async def _see(self, wanted: Wanted, until: float) -> Seen:
        kept = self._keep(wanted)
        left = until - self._clock.monotonic()
        try:
            await asyncio.wait({kept.reading}, timeout=max(0.0, left))
        finally:
            # What serves nobody else is given up with whoever wanted it.
            if wanted not in self._kept:
                kept.reading.cancel()
        if not kept.reading.done() or kept.reading.cancelled():
            return NotRead(Why.NOT_ANSWERED, f"{_plural(wanted)} were not read in time")
        found = kept.reading.result()
        if wanted == Wanted(Node) and not isinstance(found, NotRead):
            return self._as_allowed(found)
        return found

    def _keep(self, wanted: Wanted) -> _Kept:
        """What is under way or kept, else begun now; nobody's deadline ends it."""
        known = self._kept.get(wanted)
        if known is not None and known.serves(self._clock.monotonic()):
            return known
        found = _Kept(asyncio.ensure_future(self._read(wanted)))
        seconds = _seconds(wanted)
        if seconds:
            self._kept[wanted] = found
            self._kept.move_to_end(wanted)
            found.reading.add_done_callback(lambda _: self._done(found, seconds))
        return found

    def _done(self, kept: _Kept, seconds: float) -> None:
        if kept.seen is not None:
            kept.until = self._clock.monotonic() + seconds
        while len(self._kept) > _MAX_KEPT or self._objects > _MAX_OBJECTS:
            self._kept.popitem(last=False)

    @property
    def _objects(self) -> int:
        return sum(len(one.seen or ()) for one in self._kept.values())

    async def _read(self, wanted: Wanted) -> Seen:
        if self._source is None:
            return NotRead(
                Why.NOT_ASKED, f"{_plural(wanted)}: Bailiff was given no cluster to read"
            )
        try:
            async with asyncio.timeout(_READ_TIMEOUT), self._turns:
                return _slim(wanted, await self._source.see(wanted))
        except TimeoutError:
            return NotRead(Why.NOT_ANSWERED, f"{_plural(wanted)} were not read in time")
        except LookUpError as error:
            return NotRead(_why(error), str(error))

    def _as_allowed(self, nodes: Sequence[Value]) -> tuple[Value, ...]:
        now = self._clock.monotonic()
        while self._allowed and next(iter(self._allowed.values()))[0] <= now:
            self._allowed.popitem(last=False)
        if not self._allowed:
            return tuple(nodes)
        others = (one for one in nodes if isinstance(one, Node) and not self._is_allowed(one))
        return (*others, *(node for _, node in self._allowed.values()))

    def _is_allowed(self, node: Node) -> bool:
        return node.metadata.name in self._allowed


class _Kept:
    """What is being read, or was."""

    def __init__(self, reading: asyncio.Future[Seen]) -> None:
        self.reading = reading
        self.until = 0.0

    def serves(self, now: float) -> bool:
        return not self.reading.done() or now < self.until

    @property
    def seen(self) -> tuple[Value, ...] | None:
        """None: nothing yet, or it could not be read."""
        one = self.reading
        if not one.done() or one.cancelled() or one.exception() is not None:
            return None
        found = one.result()
        return None if isinstance(found, NotRead) else found


def _seconds(wanted: Wanted) -> float:
    """For how long it serves others; 0: not at all, since few ask for it twice."""
    if wanted.kind is Node and wanted.names is not None:
        return _KEPT_NODE
    if wanted.names is not None or (wanted.kind is Pod and not wanted.fields):
        return 0.0
    return _KEPT_LIST


def _slim(wanted: Wanted, found: tuple[Value, ...]) -> tuple[Value, ...]:
    """Of a list of nodes nobody reads more than names and taints."""
    if wanted != Wanted(Node):
        return found
    return tuple(replace(one, status=NodeStatus()) for one in found if isinstance(one, Node))


def _plural(wanted: Wanted) -> str:
    return f"{wanted.kind.__name__}s"


def _why(error: LookUpError) -> Why:
    if isinstance(error, ForbiddenError):
        return Why.FORBIDDEN
    return Why.NOT_SERVED if isinstance(error, NotServedError) else Why.NOT_ANSWERED
