"""What hooks see of the cluster: within a time, some things at a time, kept for seconds.

Many nodes are tainted one after the other, and for each of them hooks want to see much of the same.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.decisions import NotRead, Wanted, Why
from bailiff.kinds import Node, Pod
from bailiff.lookup import Age, ForbiddenError, Kept, LookUpError, NotServedError
from bailiff.lookup.nodes import ALL_NODES
from bailiff.webhooks.allowed_nodes import AllowedNodes
from bailiff.webhooks.hook import SEEN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.clock import Clock
    from bailiff.decisions.changes import ChangeLookUp, Consequences
    from bailiff.decisions.question import Plan
    from bailiff.decisions.seen import Seen
    from bailiff.kinds.meta import Value
    from bailiff.lookup import AllNodes, Source

# A list serves others for seconds, and where a new one cannot be had in time for some more; the new
# one may take this share of the time: what is looked at next takes the rest.
_LIST, _FRESH_SHARE = Age(5.0, stale=30.0), 0.5
# A single node, which decides whether a pod comes to it now: a scheduler binds many pods to one.
_NODE = Age(1.0)
# Objects in all lists together: about 100 MB. A list counts for so many at least.
_MAX_OBJECTS, _LEAST = 50_000, 390
# Seconds for one thing that is read; who waits for it may have gone.
_READ_TIMEOUT = 10.0
# Requests at a time: the client has 64 for everybody.
_AT_A_TIME = 16


class Sight:
    """Reads for hooks. What cannot be read in time is said to be so."""

    def __init__(self, source: Source | None, nodes: AllNodes | None, clock: Clock) -> None:
        """See nothing yet.

        Args:
            source: where objects come from; None: there is no cluster.
            nodes: all of that cluster; None: likewise.
            clock: by which deadlines are.
        """
        self._source = source
        self._nodes = nodes
        self._clock = clock
        self._turns = asyncio.Semaphore(_AT_A_TIME)
        self._kept: Kept[tuple[Value, ...]] = Kept(clock, _MAX_OBJECTS, _weight, self._turns)
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
        until = deadline - SEEN
        found = await asyncio.gather(*(self._see(one, until) for one in wanted))
        if not found:
            await asyncio.sleep(0)
        return tuple(found)

    def allowed(self, node: Node) -> None:
        """A node is about to be as this: what is seen has it so, whatever lists show yet."""
        self._allowed.add(node)

    async def _see(self, wanted: Wanted, until: float) -> Seen:
        left = max(0.0, until - self._clock.monotonic())
        try:
            async with asyncio.timeout(left):
                return await self._shown(wanted, left * _FRESH_SHARE)
        except TimeoutError:
            found = NotRead(Why.NOT_ANSWERED, f"{_plural(wanted)} were not read in time")
        except LookUpError as error:
            found = NotRead(_why(error), str(error))
        return found._replace(known=self._allowed.over(())) if wanted == ALL_NODES else found

    async def _shown(self, wanted: Wanted, patience: float) -> Seen:
        source, nodes = self._source, self._nodes
        if source is None or nodes is None:
            said = f"{_plural(wanted)}: Bailiff was given no cluster to read"
            return NotRead(Why.NOT_ASKED, said)
        if wanted == ALL_NODES:
            listed = await nodes.get(_LIST, patience)
            return self._allowed.over(listed.value, listed.began)

        async def read() -> tuple[Value, ...]:
            async with asyncio.timeout(_READ_TIMEOUT):
                return await source.see(wanted)

        age = _age(wanted)
        if age is not None:
            return await self._kept.get(wanted, read, age, patience)
        async with self._turns:
            return await read()


def _age(wanted: Wanted) -> Age | None:
    """How old it may be; None: it is kept for nobody, since few ask for it twice."""
    if wanted.kind is Node and wanted.names is not None:
        return _NODE
    if wanted.names is not None or (wanted.kind is Pod and not wanted.fields):
        return None
    return _LIST


def _weight(found: tuple[Value, ...]) -> int:
    return max(_LEAST, len(found))


def _plural(wanted: Wanted) -> str:
    return f"{wanted.kind.__name__}s"


def _why(error: LookUpError) -> Why:
    if isinstance(error, ForbiddenError):
        return Why.FORBIDDEN
    return Why.NOT_SERVED if isinstance(error, NotServedError) else Why.NOT_ANSWERED
