"""One gate for every evictor: whoever evicts a pod meets the rules that the worker keeps.

Fail closed, as the worker: what a rule needs and nobody can read holds the eviction back, with 429,
so that whoever asked tries again. Of counts that cannot be read or written a setting decides.
"""

from __future__ import annotations

import asyncio
import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.budgets import refusal
from bailiff.decisions.criticality import is_mirror
from bailiff.decisions.policies import (
    NO_POLICIES,
    Cause,
    Hold,
    digest_of,
    gang_of,
    hold,
    uncounted,
    wishes_of,
)
from bailiff.decisions.text import describe_time
from bailiff.lookup import LookUpError
from bailiff.tally import TallyError
from bailiff.webhooks.gate_facts import GateFacts
from bailiff.webhooks.hook import ALLOWED, Outcome, refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from bailiff.decisions.policies import Circumstances, OverTime, Policies, Wish
    from bailiff.kinds import Pod
    from bailiff.tally import Tally
    from bailiff.webhooks.parts import HookParts

    _Count = Callable[[list[Wish]], Awaitable[Outcome]]


class Wanted(NamedTuple):
    """What somebody asks for.

    Attributes:
        pod: that would go; None: there is none that may be held.
        once: the UID of a request that names the pod alone, where another of the same name may come
            before it is carried out: it is counted by that, each time that it is made.
        by_eviction: by the Eviction API, which asks PodDisruptionBudgets.
    """

    pod: Pod | None
    once: str = ""
    by_eviction: bool = True


# Seconds that it may take: counts that stand in the cluster already are of use only to whoever is
# told so, and a busy API server needs its time to write them.
COUNTING = 10.0
# Seconds before the deadline by which the gate has counted, and by which it has its own answer.
_COUNTED, _ANSWERED = 0.1, 0.05
# What is told to wait longer asks again all the same: a pause may be ended, a node come back. And
# Go's client (client-go, rest/with_retry.go) waits as long as it is told up to ten times before it
# says anything: so does `kubectl drain`, whose --timeout does not count meanwhile.
_LONGEST_RETRY, _SHORTEST_RETRY = 2, 1
# Whom nothing but a change of labels or policies lets go: asking again is of no use.
_FOR_GOOD = frozenset({Cause.EXCLUDED})
# Of what cannot be read no policy says that it holds.
_UNREAD = "unknown"


class Gate:
    """May this pod be evicted now, whoever asks?"""

    def __init__(self, parts: HookParts) -> None:
        """Read nothing yet."""
        self._policies = parts.policies
        # All replicas and the worker open a window at the same instant.
        self._clock = parts.cluster_clock or parts.clock
        self._tally = parts.tally
        self._facts = None
        if parts.source is not None and parts.pod_groups is not None:
            self._facts = GateFacts(parts.source, parts.pod_groups, parts.clock)

    async def judge(
        self,
        find: Callable[[GateFacts], Awaitable[Wanted | Outcome]],
        deadline: float,
        *,
        dry_run: bool,
    ) -> Outcome:
        """What becomes of an eviction.

        Args:
            find: what is wanted, or what comes of it whatever the policies say.
            deadline: see Hook.review.
            dry_run: nothing is counted.
        """
        policies, facts = self._policies(), self._facts
        if policies == NO_POLICIES:
            return _unheld("no policies")
        if facts is None or self._tally is None:
            return _unheld("no cluster to read")
        count = partial(self._count, self._tally, policies.over_time, deadline, dry_run=dry_run)
        try:
            async with self._within(deadline - _ANSWERED):
                wanted = await find(facts)
                if isinstance(wanted, Outcome):
                    return wanted
                return await self._judge(facts, wanted, policies, count)
        except LookUpError as error:
            return self._refusal(_UNREAD, str(error))
        except TimeoutError:
            return self._refusal(_UNREAD, "what decides could not be read in time")

    async def _judge(
        self, facts: GateFacts, wanted: Wanted, policies: Policies, count: _Count
    ) -> Outcome:
        pod = wanted.pod
        if pod is None or is_mirror(pod) or (pod.has_ended and not wanted.once):
            return ALLOWED
        around = await facts.around(pod, policies)
        held = None if pod.has_ended else hold(around, policies, self._clock.now())
        wishes = [] if policies.over_time is None else wishes_of(around, policies.over_time) or []
        if not pod.spec.node_name and not wanted.once:
            # It runs nowhere: nothing is disrupted.
            wishes = []
        # The pods of a gang were counted with its first, by their UIDs.
        if len(wishes) == 1 and wanted.once:
            wishes[0] = wishes[0]._replace(pod=digest_of(wanted.once))
        counts = any(wish.places for wish in wishes)
        if held is None and wanted.by_eviction and (counts or gang_of(around)):
            held = await self._held_by_budget(facts, around)
        if held is not None:
            return self._held(held)
        return await count(wishes) if counts else ALLOWED

    async def _held_by_budget(self, facts: GateFacts, around: Circumstances) -> Hold | None:
        """The PodDisruptionBudgets, where a refusal of theirs would come too late.

        kube-apiserver asks them after the webhooks. What is counted by then stays counted, and of a
        gang the first would be gone.
        """
        pods = [one.pod for one in (around, *gang_of(around)) if not one.pod.has_ended]
        why = refusal(pods, await facts.budgets(around.pod.metadata.namespace)) if pods else ""
        return Hold(cause=Cause.BUDGET, message=f"PodDisruptionBudget {why}") if why else None

    async def _count(
        self,
        tally: Tally,
        settings: OverTime | None,
        deadline: float,
        wishes: list[Wish],
        *,
        dry_run: bool,
    ) -> Outcome:
        if settings is None:
            return ALLOWED
        try:
            async with self._within(deadline - _COUNTED):
                held = await (tally.look if dry_run else tally.count)(wishes, settings)
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
        if held.cause in _FOR_GOOD:
            return refused(403, "Forbidden", _words(held.cause.value, held.message, None))
        return self._refusal(held.cause.value, held.message, held.until)

    def _refusal(self, cause: str, message: str, until: datetime | None = None) -> Outcome:
        left = math.inf if until is None else (until - self._clock.now()).total_seconds()
        seconds = max(_SHORTEST_RETRY, math.ceil(min(left, _LONGEST_RETRY)))
        return refused(429, "TooManyRequests", _words(cause, message, until), seconds)


def _unheld(why: str) -> Outcome:
    return Outcome(warnings=(f"bailiff holds no eviction: it has {why}",))


def _words(cause: str, message: str, until: datetime | None) -> str:
    text = f"policy {cause}: {message}"
    if until is None or (instant := describe_time(until)) in text:
        return text
    return f"{text}, until {instant}"
