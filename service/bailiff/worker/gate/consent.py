"""What an eviction needs besides this worker's own rules: a word of the cluster, right before it.

Budgets over time are kept by all who evict, and PodGroups are not watched: both are asked for once
the gate has let an eviction begin, and before anything of it is done. What was learnt by that the
gate knows from then on, so that whoever has to wait does so at the gate, as for any other rule.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from bailiff.cluster import FencedError
from bailiff.decisions.policies import (
    EMPTY_BOOK,
    UNKNOWN,
    Cause,
    Hold,
    gang_of,
    group_of,
    uncounted,
    wishes_of,
)
from bailiff.lookup import LookUpError
from bailiff.tally import TallyError
from bailiff.worker.gate.tries import Tries

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from bailiff.clock import Clock
    from bailiff.decisions.policies import Book, OverTime, Store, Wish
    from bailiff.lookup import GangBudgets, PodGroups
    from bailiff.tally import Tally
    from bailiff.worker.gate.rule_facts import RuleFacts
    from bailiff.worker.timers.eviction import Eviction

    Rehearse = Callable[[Eviction, GangBudgets | None], Awaitable[None]]

# Seconds for all of it: one of the executor's few places is kept meanwhile.
_PATIENCE = 20.0


class _HeldError(Exception):
    """It may not begin, for what was asked has not been answered."""

    def __init__(self, hold: Hold) -> None:
        super().__init__(hold.message)
        self.hold = hold


@dataclass(frozen=True)
class Shared:
    """What a worker shares with all others that evict.

    Attributes:
        tally: counts evictions over time; fenced by the election.
        pod_groups: which of them go whole.
        gang_budgets: which PodDisruptionBudgets would not let all of one go.
    """

    tally: Tally
    pod_groups: PodGroups
    gang_budgets: GangBudgets

    def on_paper(self) -> Shared:
        """The same for a worker that does nothing, and counts for itself what it would do."""
        return replace(self, tally=self.tally.on_paper())


class Consent:
    """Asks before an eviction is begun."""

    def __init__(self, facts: RuleFacts, shared: Shared | None, clock: Clock) -> None:
        """Prepare.

        Args:
            facts: what the rules look at.
            shared: None: there is nothing to ask, which holds where a policy needs it.
            clock: for when counts that have failed are asked again.
        """
        self._facts = facts
        self._shared = shared
        self._tries = Tries(clock)
        if shared is not None:
            facts.book = partial(_known, shared.tally)

    @property
    def is_needed(self) -> bool:
        """Whether any policy asks for a word of the cluster."""
        policies = self._facts.policies
        return policies.over_time is not None or policies.gangs is not None

    async def __call__(self, eviction: Eviction, rehearse: Rehearse) -> Hold | None:
        """Why the eviction may not begin after all; None: it is counted, and may.

        Args:
            eviction: that the gate has let begin.
            rehearse: raises ClusterError for what the API server would refuse, to the pod or to
                its gang, so that nobody is counted in vain and no gang goes in part.

        Raises:
            ClusterError: as `rehearse` does.
        """
        if self._facts.overrides(eviction):
            return None
        try:
            return await self._ask(eviction, rehearse)
        except _HeldError as error:
            return error.hold

    async def _ask(self, eviction: Eviction, rehearse: Rehearse) -> Hold | None:
        deadline = asyncio.get_running_loop().time() + _PATIENCE
        await self._learn_gang(eviction, deadline)
        held = self._facts.hold_whole(eviction)
        if held is not None:
            return held
        around, over_time = self._facts.around(eviction), self._facts.policies.over_time
        wishes = wishes_of(around, over_time)
        if isinstance(wishes, Hold):
            return wishes
        counts, gang = any(wish.places for wish in wishes), gang_of(around)
        if not counts and not gang:
            return None
        asks = Cause.GANG if gang else Cause.OVER_TIME
        async with _step("whether the API server lets it go", asks, deadline):
            await rehearse(eviction, self._shared.gang_budgets if gang and self._shared else None)
        if over_time is not None and counts:
            async with _step("how many have gone", Cause.OVER_TIME, deadline):
                held = await self._count(wishes, over_time)
        return held or self._hold_counted(eviction, over_time)

    async def _count(self, wishes: list[Wish], over_time: OverTime) -> Hold | None:
        if self._shared is None:
            return uncounted(over_time, "cannot be read: there is no cluster")
        tally = self._shared.tally
        try:
            return await self._tries(lambda: tally.count(wishes, over_time))
        except FencedError:
            return Hold(cause=Cause.OVER_TIME, message="another worker leads")
        except TallyError as error:
            return uncounted(over_time, str(error))

    def _hold_counted(self, eviction: Eviction, counted_by: OverTime | None) -> Hold | None:
        """The same rules once more: counting took a while, in which somebody may have paused."""
        if self._facts.policies.over_time != counted_by:
            return Hold(cause=Cause.OVER_TIME, message="the policies have just changed")
        return self._facts.hold_whole(eviction, counted=True)

    async def _learn_gang(self, eviction: Eviction, deadline: float) -> None:
        """Whether the pod's PodGroup goes whole."""
        group = group_of(eviction.pod)
        if self._facts.policies.gangs is None or not group:
            return
        if self._shared is None:
            raise _HeldError(Hold(cause=Cause.GANG, message=f"PodGroup {group} cannot be read"))
        async with _step(f"PodGroup {group}", Cause.GANG, deadline):
            whole = await self._shared.pod_groups.goes_whole(*group.split("/", 1))
        self._facts.gangs.learn(group, whole=whole)


@asynccontextmanager
async def _step(what: str, asks: Cause, deadline: float) -> AsyncIterator[None]:
    """Read something.

    Args:
        what: for people.
        asks: the policy that has it read.
        deadline: of the event loop's clock.

    Raises:
        _HeldError: it cannot be read, or was not by then.
    """
    try:
        async with asyncio.timeout_at(deadline):
            yield
    except LookUpError as error:
        raise _HeldError(Hold(cause=asks, message=str(error))) from error
    except TimeoutError as error:
        message = f"{what} was not known within {_PATIENCE:g} s"
        raise _HeldError(Hold(cause=asks, message=message)) from error


def _known(tally: Tally, store: Store) -> Book:
    """What was counted when it was read last; before that, nothing that holds anybody."""
    seen = tally.seen(store)
    return EMPTY_BOOK if seen is UNKNOWN else seen
