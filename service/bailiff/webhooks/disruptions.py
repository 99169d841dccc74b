"""PodDisruptionBudgets at the gate, where a refusal of theirs would come too late.

kube-apiserver asks them after the webhooks. What is counted by then stays counted, and of a gang
the first would be gone. Who drains a node evicts all of its pods at once: so those that this
process has let through count, until the budget's status can tell of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.decisions.budgets import refusal
from bailiff.decisions.policies import Cause, Hold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bailiff.clock import Clock
    from bailiff.decisions.budgets import Guarded
    from bailiff.kinds import PodDisruptionBudget

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

    def __init__(self, clock: Clock) -> None:
        """Nobody yet."""
        self._clock = clock
        # The earliest first.
        self._lately: dict[_Key, dict[Note, None]] = {}

    def look(self, guarded: Iterable[Guarded]) -> Hold | None:
        """Why not all of these may go; None: they may."""
        why = refusal(guarded, self._of)
        return Hold(cause=Cause.BUDGET, message=why) if why else None

    def note(self, guarded: Iterable[Guarded]) -> Sequence[Note]:
        """These are let through, and count from now on."""
        notes = [
            Note(_key(one.budget), pod.metadata.uid, pod.metadata.name, self._clock.monotonic())
            for one in guarded
            for pod in one.pods
        ]
        for note in notes:
            self._lately.setdefault(note.budget, {})[note] = None
        return notes

    def give_back(self, notes: Iterable[Note]) -> None:
        """They do not go after all by the review that has noted this."""
        for note in notes:
            self._lately.get(note.budget, {}).pop(note, None)

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
