"""One gate for every evictor: whoever evicts a pod meets the rules that the worker keeps.

Fail closed, as the worker: what a rule needs and nobody can read holds the eviction back, with 429,
so that whoever asked tries again. Of counts that cannot be read or written a setting decides.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.criticality import is_mirror
from bailiff.decisions.policies import (
    NO_POLICIES,
    UNKNOWN,
    Hold,
    Policies,
    Way,
    gang_of,
    gang_stays,
    group_of,
    hold,
    is_counted,
    uncounted,
    wishes_of,
)
from bailiff.decisions.text import describe_time
from bailiff.lookup import Age, Kept, LookUpError
from bailiff.tally import TallyError
from bailiff.webhooks.disruptions import Disruptions
from bailiff.webhooks.gate_facts import GateFacts
from bailiff.webhooks.hook import ALLOWED, COUNTED, DECIDED, RETRY_SECONDS, Outcome, refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from bailiff.decisions.policies import OverTime, Wish
    from bailiff.kinds import Pod
    from bailiff.tally import Tally
    from bailiff.webhooks.disruptions import Note
    from bailiff.webhooks.parts import HookParts


class Departure(NamedTuple):
    """Who would go, and how.

    Attributes:
        pod: that would go; None: there is none that may be held.
        by_name: where another pod may come under the name before this is carried out.
        by_eviction: by the Eviction API, which asks PodDisruptionBudgets.
    """

    pod: Pod | None
    by_name: bool = False
    by_eviction: bool = True

    @property
    def way(self) -> Way:
        """As budgets over time count it."""
        return Way.BY_NAME if self.by_name else Way.BY_UID


# Seconds that an answer may take, where other hooks have one: it may have to wait for a write, and
# a count that stands is of use only to whoever is still told so. Where the webhook is registered
# with less, as the chart's 5 s, it has nine tenths of that.
COUNTING = 10.0
# Seconds for which holds for a gang what one of it was told.
_GANG_AGE = Age(0.5)
# Seconds that counting has to be given before it is said that it takes too long.
_FAIR = 0.5
# Of what cannot be read no policy says that it holds.
_UNREAD = "unknown"


class _Asked(NamedTuple):
    """What is the same for all steps of an answer."""

    facts: GateFacts
    tally: Tally
    policies: Policies
    deadline: float
    dry_run: bool


class Gate:
    """May this pod be evicted now, whoever asks?"""

    def __init__(self, parts: HookParts) -> None:
        """Read nothing yet."""
        self._policies = parts.policies
        # All replicas and the worker open a window at the same instant.
        self._clock = parts.cluster_clock or parts.clock
        self._tally = parts.tally
        self._disruptions = Disruptions(parts.clock, parts.threads)
        # One judgement for all of a gang that are evicted at the same time.
        self._gangs: Kept[Outcome] = Kept(parts.clock)
        self._facts = None
        source, nodes, pod_groups = parts.source, parts.nodes, parts.pod_groups
        if source is not None and nodes is not None and pod_groups is not None:
            self._facts = GateFacts(source, nodes, pod_groups, parts.clock)

    async def judge(
        self,
        find: Callable[[GateFacts], Awaitable[Departure | Outcome]],
        deadline: float,
        *,
        dry_run: bool,
    ) -> Outcome:
        """What becomes of an eviction.

        Args:
            find: who would go, or what comes of it whatever the policies say.
            deadline: see Hook.review.
            dry_run: nothing is counted.
        """
        policies = self._policies()
        if policies == NO_POLICIES:
            return _unheld("no policies")
        if self._facts is None or self._tally is None:
            return _unheld("no cluster to read")
        asked = _Asked(self._facts, self._tally, policies, deadline, dry_run)
        try:
            async with self._within(deadline - DECIDED):
                departure = await find(asked.facts)
                if isinstance(departure, Outcome):
                    return departure
                return await self._judge(asked, departure)
        except LookUpError as error:
            return self._refusal(_UNREAD, str(error))
        except TimeoutError:
            return self._refusal(_UNREAD, "what decides could not be read in time")

    async def _judge(self, asked: _Asked, departure: Departure) -> Outcome:
        """By what the pod is.

        - There is none, or it is a mirror: it goes.
        - It has ended: it goes, see `_judge_name`.
        - Else it is held against the rules, and where it goes with its gang so are the others;
          then against the PodDisruptionBudgets; and is counted.
        """
        pod, policies = departure.pod, asked.policies
        if pod is None or is_mirror(pod):
            return ALLOWED
        if pod.has_ended:
            return await self._judge_name(asked, departure, pod)
        around = await asked.facts.around(pod, policies)
        held = hold(around, policies, self._clock.now())
        wishes = held or wishes_of(around, policies.over_time, departure.way)
        if isinstance(wishes, Hold):
            return self._held(wishes)
        if await asked.facts.goes_whole(pod, policies):
            return await self._with_gang(asked, departure, pod, wishes)
        return await self._let_go(asked, [pod], wishes, asks_budgets=departure.by_eviction)

    async def _judge_name(self, asked: _Asked, departure: Departure, pod: Pod) -> Outcome:
        """The pod itself is gone, or ends without anybody: what comes under its name is counted."""
        if not departure.by_name:
            return ALLOWED
        over_time = asked.policies.over_time
        around = await asked.facts.around(pod, Policies(over_time=over_time))
        wishes = wishes_of(around, over_time, Way.SUCCESSOR)
        return self._held(wishes) if isinstance(wishes, Hold) else await self._count(asked, wishes)

    async def _with_gang(
        self, asked: _Asked, departure: Departure, pod: Pod, wishes: list[Wish]
    ) -> Outcome:
        stands = self._stands(asked, wishes)
        key = (group_of(pod), departure.by_eviction, asked.dry_run, stands)
        # For all who wait for it, whatever time is left to the first of them.
        shared = asked._replace(deadline=self._clock.monotonic() + COUNTING)
        outcome = await self._gangs.get(
            key, lambda: self._judge_gang(shared, departure, pod), _GANG_AGE
        )
        if not outcome.allowed or outcome.warnings:
            return outcome
        # Its place was kept with the others', unless it has come since, or goes once more.
        return await self._count(asked, wishes)

    def _stands(self, asked: _Asked, wishes: list[Wish]) -> bool:
        """Whether its gang has begun, as far as is known: who came since does not matter then."""
        settings = asked.policies.over_time
        book = UNKNOWN if settings is None else asked.tally.seen(settings.store)
        later = [one._replace(way=Way.LATER) for one in wishes]
        return book is not UNKNOWN and is_counted(book, later, self._clock.now())

    async def _judge_gang(self, asked: _Asked, departure: Departure, pod: Pod) -> Outcome:
        around = await asked.facts.around(pod, asked.policies, with_gang=True)
        held = gang_stays(around, asked.policies, self._clock.now())
        # By its name it is counted for each try, when this is shared by several.
        way = Way.LATER if departure.by_name else Way.BY_UID
        wishes = held or wishes_of(around, asked.policies.over_time, way)
        if isinstance(wishes, Hold):
            return self._held(wishes)
        pods = [pod, *(one.pod for one in gang_of(around))]
        return await self._let_go(asked, pods, wishes, asks_budgets=departure.by_eviction)

    async def _let_go(
        self, asked: _Asked, pods: Sequence[Pod], wishes: list[Wish], *, asks_budgets: bool
    ) -> Outcome:
        """Where the PodDisruptionBudgets allow it, and those over time have room: it is counted.

        Args:
            asked: see there.
            pods: the one that is to be evicted, and the others of its gang.
            wishes: of these.
            asks_budgets: the PodDisruptionBudgets, where a refusal of theirs would come too late.
        """
        notes: Sequence[Note] = ()
        if asks_budgets and (_counts(wishes) or len(pods) > 1):
            budgets = await asked.facts.budgets(pods[0].metadata.namespace)
            found = await self._disruptions.judge(pods, budgets, dry_run=asked.dry_run)
            if isinstance(found, Hold):
                return self._held(found)
            notes = found
        outcome = await self._count(asked, wishes)
        if not outcome.allowed:
            self._disruptions.give_back(notes)
        return outcome

    async def _count(self, asked: _Asked, wishes: list[Wish]) -> Outcome:
        settings = asked.policies.over_time
        if settings is None or not _counts(wishes):
            return ALLOWED
        count = asked.tally.look if asked.dry_run else asked.tally.count
        if asked.deadline - self._clock.monotonic() < _FAIR:
            # Of what had no time it is not known that it cannot be read.
            raise TimeoutError
        try:
            async with self._within(asked.deadline - COUNTED):
                held = await count(wishes, settings)
        except TallyError as error:
            return self._uncounted(settings, str(error))
        except TimeoutError:
            return self._uncounted(settings, "could not be read or written in time")
        return ALLOWED if held is None else self._held(held)

    def _uncounted(self, settings: OverTime, why: str) -> Outcome:
        held = uncounted(settings, why)
        if held is not None:
            return self._held(held)
        return Outcome(warnings=(f"bailiff has not counted this eviction: its ConfigMap {why}",))

    def _within(self, instant: float) -> asyncio.Timeout:
        """Until an instant of the clock's monotonic time."""
        return asyncio.timeout(max(0.0, instant - self._clock.monotonic()))

    def _held(self, held: Hold) -> Outcome:
        if held.for_good:
            # Asking again is of no use, and who is told 429 does so without end.
            return refused(403, "Forbidden", _words(held.cause.value, held.message, None))
        return self._refusal(held.cause.value, held.message, held.until)

    def _refusal(self, cause: str, message: str, until: datetime | None = None) -> Outcome:
        left = math.inf if until is None else (until - self._clock.now()).total_seconds()
        seconds = max(1, math.ceil(min(left, RETRY_SECONDS)))
        return refused(429, "TooManyRequests", _words(cause, message, until), seconds)


def _counts(wishes: list[Wish]) -> bool:
    """Whether any budget over time counts one of them."""
    return any(wish.places for wish in wishes)


def _unheld(why: str) -> Outcome:
    return Outcome(warnings=(f"bailiff holds no eviction: it has {why}",))


def _words(cause: str, message: str, until: datetime | None) -> str:
    text = f"policy {cause}: {message}"
    if until is None or (instant := describe_time(until)) in text:
        return text
    return f"{text}, until {instant}"
