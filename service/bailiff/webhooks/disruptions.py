"""PodDisruptionBudgets at the gate, where a refusal of theirs would come too late.

kube-apiserver asks them after the webhooks. What is counted by then stays counted, and of a gang
the first would be gone. Who drains a node evicts all of its pods at once: so those that this
process has let through count, until the budget's status can tell of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.decisions.budgets import (
    BudgetsError,
    SeveralBudgetsError,
    guarded_by,
    refusal,
    steps_of,
)
from bailiff.decisions.cost import QUICK_STEPS
from bailiff.decisions.policies import Cause, Hold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bailiff.clock import Clock
    from bailiff.decisions.budgets import Guarded
    from bailiff.kinds import Pod, PodDisruptionBudget
    from bailiff.serving import Threads

# Seconds. As a rule kube-apiserver has asked the budget by then, and `kubectl drain`, which tries
# again after 5 s, goes by its status.
_LATELY = 4.0

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Note:
    """One review has let a pod through to a budget; another of the same pod has its own note."""

    budget: _Key
    uid: str
    name: str
    at: float


class Disruptions:
    """Who was let through to which budget of late. One event loop owns it."""

    def __init__(self, clock: Clock, threads: Threads) -> None:
        """Nobody yet.

        Args:
            clock: for how long ago somebody was let through.
            threads: where pods and budgets are gone through that are many.
        """
        self._clock = clock
        self._threads = threads
        # The earliest first.
        self._lately: dict[_Key, dict[Note, None]] = {}

    async def judge(
        self, pods: Sequence[Pod], budgets: Sequence[PodDisruptionBudget], *, dry_run: bool
    ) -> Hold | Sequence[Note]:
        """Why not all of these may go; or what is noted of them, since they may.

        Args:
            pods: the one that is to be evicted, and the others of its gang.
            budgets: of their namespace, as they are now.
            dry_run: nobody counts from now on: nothing is noted.
        """
        try:
            guarded = await self._guarded(pods, budgets)
        except BudgetsError as error:
            # kube-apiserver answers 500 to a pod of several, which nobody tries again. Those of its
            # gang are not asked for yet, and may have others by then.
            for_good = isinstance(error, SeveralBudgetsError) and error.pod is pods[0]
            return Hold(cause=Cause.BUDGET, message=str(error), for_good=for_good)
        # From here on nobody else comes between.
        why = refusal(guarded, self._of)
        if why:
            return Hold(cause=Cause.BUDGET, message=why)
        return () if dry_run else self._note(guarded)

    def give_back(self, notes: Iterable[Note]) -> None:
        """They do not go after all by the review that has noted this."""
        for note in notes:
            self._lately.get(note.budget, {}).pop(note, None)

    async def _guarded(
        self, pods: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]
    ) -> list[Guarded]:
        if steps_of(pods, budgets) <= QUICK_STEPS:
            return guarded_by(pods[0], budgets, pods[1:])
        # Where nobody waits behind it.
        return await self._threads.run(guarded_by, pods[0], budgets, pods[1:])

    def _note(self, guarded: Iterable[Guarded]) -> Sequence[Note]:
        now = self._clock.monotonic()
        notes = [
            Note(_key(one.budget), pod.metadata.uid, pod.metadata.name, now)
            for one in guarded
            for pod in one.pods
        ]
        for note in notes:
            self._lately.setdefault(note.budget, {})[note] = None
        return notes

    def _of(self, budget: PodDisruptionBudget) -> Mapping[str, str]:
        """Names by UID."""
        self._forget()
        return {note.uid: note.name for note in self._lately.get(_key(budget), ())}

    def _forget(self) -> None:
        since = self._clock.monotonic() - _LATELY
        for key, lately in list(self._lately.items()):
            while lately and next(iter(lately)).at <= since:
                del lately[next(iter(lately))]
            if not lately:
                del self._lately[key]


def _key(budget: PodDisruptionBudget) -> _Key:
    return budget.metadata.namespace, budget.metadata.name
