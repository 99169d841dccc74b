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
from bailiff.webhooks.allowed_nodes import AllowedNodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.clock import Clock
    from bailiff.decisions.changes import ChangeLookUp, Consequences
    from bailiff.decisions.question import Plan
    from bailiff.decisions.seen import Seen
    from bailiff.kinds.meta import Value
    from bailiff.lookup import Source

# Seconds for which a list serves others, and a single node: a scheduler binds many pods to one.
_KEPT_LIST, _KEPT_NODE = 5.0, 1.0
# Seconds more for which a list serves where a new one cannot be had in time, which then may take
# this share of it: what is looked at next takes the rest.
_STALE, _FRESH_SHARE = 30.0, 0.5
# Lists, and objects in all of them together: about 100 MB.
_MAX_KEPT, _MAX_OBJECTS = 128, 50_000
# Seconds for one thing that is read; who waits for it may have gone.
_READ_TIMEOUT = 10.0
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
        self._allowed = AllowedNodes(clock)

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
        """A node is about to be as this: what is seen has it so, whatever lists show yet."""
        self._allowed.add(node)

    async def _see(self, wanted: Wanted, until: float) -> Seen:
        kept = self._keep(wanted)
        left = max(0.0, until - self._clock.monotonic())
        kept.waiting += 1
        try:
            await asyncio.wait({kept.reading}, timeout=left * _FRESH_SHARE if kept.last else left)
        finally:
            kept.waiting -= 1
            self._let_go(wanted, kept)
        return self._shown(wanted, kept)

    def _keep(self, wanted: Wanted) -> _Kept:
        """What is under way or kept, else begun now; nobody's deadline ends it."""
        now = self._clock.monotonic()
        known = self._kept.get(wanted)
        if known is not None and known.serves(now):
            return known
        found = _Kept(now, None if known is None else known.before(now))
        found.reading = asyncio.ensure_future(self._read(wanted, found))
        if _seconds(wanted):
            self._kept[wanted] = found
            self._kept.move_to_end(wanted)
            found.reading.add_done_callback(lambda _: self._done(wanted, found))
        return found

    def _let_go(self, wanted: Wanted, kept: _Kept) -> None:
        """Give up what nobody waits for, where it would serve nobody else or is not begun yet."""
        is_kept = self._kept.get(wanted) is kept
        if kept.waiting or kept.reading.done() or (is_kept and kept.has_turn):
            return
        kept.reading.cancel()
        if is_kept:
            del self._kept[wanted]
            if kept.last is not None:
                self._kept[wanted] = kept.last

    def _shown(self, wanted: Wanted, kept: _Kept) -> Seen:
        found = kept if kept.seen is not None else kept.before(self._clock.monotonic())
        of_nodes = wanted == Wanted(Node)
        if found is not None and found.seen is not None:
            return self._allowed.over(found.seen, found.begun) if of_nodes else found.seen
        why = kept.why_not or NotRead(Why.NOT_ANSWERED, f"{_plural(wanted)} were not read in time")
        return why._replace(known=self._allowed.over(())) if of_nodes else why

    def _done(self, wanted: Wanted, kept: _Kept) -> None:
        if kept.seen is not None:
            kept.until = self._clock.monotonic() + _seconds(wanted)
            # A single node decides whether a pod comes to it now.
            kept.stale = kept.until + (_STALE if wanted.names is None else 0.0)
            kept.last = None
        while len(self._kept) > _MAX_KEPT or self._objects > _MAX_OBJECTS:
            self._kept.popitem(last=False)

    @property
    def _objects(self) -> int:
        return sum(one.size for one in self._kept.values())

    async def _read(self, wanted: Wanted, kept: _Kept) -> Seen:
        if self._source is None:
            return NotRead(
                Why.NOT_ASKED, f"{_plural(wanted)}: Bailiff was given no cluster to read"
            )
        try:
            async with asyncio.timeout(_READ_TIMEOUT), self._turns:
                kept.has_turn = True
                return _slim(wanted, await self._source.see(wanted))
        except TimeoutError:
            return NotRead(Why.NOT_ANSWERED, f"{_plural(wanted)} were not read in time")
        except LookUpError as error:
            return NotRead(_why(error), str(error))


class _Kept:
    """What is being read, or was.

    Attributes:
        begun: the instant at which that was begun.
        last: the same as it was read before, while nothing new has come; None: it was not.
        reading: what comes of it.
        waiting: how many wait for that.
        has_turn: it has been begun in earnest.
        until: the instant until which it serves others.
        stale: until which it does where there is nothing newer.
    """

    reading: asyncio.Future[Seen]

    def __init__(self, begun: float, last: _Kept | None) -> None:
        self.begun = begun
        self.last = last
        self.waiting = 0
        self.has_turn = False
        self.until = self.stale = 0.0

    def serves(self, now: float) -> bool:
        return not self.reading.done() or now < self.until

    def before(self, now: float) -> _Kept | None:
        """What serves while something new is read."""
        found = self if self.seen is not None else self.last
        return found if found is not None and now < found.stale else None

    @property
    def size(self) -> int:
        """Objects in it."""
        return len(self.seen or (self.last.seen if self.last else None) or ())

    @property
    def seen(self) -> tuple[Value, ...] | None:
        """None: nothing yet, or it could not be read."""
        found = self._result
        return None if isinstance(found, NotRead) else found

    @property
    def why_not(self) -> NotRead | None:
        """None: it was read, or nobody knows yet."""
        found = self._result
        return found if isinstance(found, NotRead) else None

    @property
    def _result(self) -> Seen | None:
        one = self.reading
        if not one.done() or one.cancelled() or one.exception() is not None:
            return None
        return one.result()


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
