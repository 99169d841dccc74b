"""PodDisruptionBudgets at the gate, where a refusal of theirs would come too late.

kube-apiserver asks them after the webhooks. What is counted by then stays counted, and of a gang
the first would be gone. Who drains a node evicts all of its pods at once: so those that this
process has let through count, until the budget's status can tell of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.budgets import guarded_by, refusal
from bailiff.decisions.policies import Cause, Hold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bailiff.clock import Clock
    from bailiff.decisions.budgets import Guarded
    from bailiff.kinds import Pod, PodDisruptionBudget

# Seconds. As a rule kube-apiserver has asked the budget by then, and `kubectl drain`, which tries
# again after 5 s, goes by its status.
_LATELY = 4.0

_Key = tuple[str, str]


class Disruptions:
    """Who was let through to which budget of late. One event loop owns it."""

    def __init__(self, clock: Clock) -> None:
        """Nobody yet."""
        self._clock = clock
        # By budget and UID, the earliest first: when, and the name of the pod.
        self._lately: dict[_Key, dict[str, tuple[float, str]]] = {}

    def take(self, pods: Iterable[Pod], budgets: Sequence[PodDisruptionBudget]) -> Hold | None:
        """Why not all of these may go; None: they may, and count from now on.

        Args:
            pods: of one namespace.
            budgets: of the same, as they are now.
        """
        held = self.look(pods, budgets)
        if held is None:
            for guarded in guarded_by(pods, budgets):
                self._note(guarded)
        return held

    def look(self, pods: Iterable[Pod], budgets: Sequence[PodDisruptionBudget]) -> Hold | None:
        """As `take`, but nobody counts for it."""
        why = refusal(pods, budgets, self._of)
        return Hold(cause=Cause.BUDGET, message=f"PodDisruptionBudget {why}") if why else None

    def give_back(self, pods: Iterable[Pod]) -> None:
        """These do not go after all."""
        for lately in self._lately.values():
            for pod in pods:
                lately.pop(pod.metadata.uid, None)

    def _note(self, guarded: Guarded) -> None:
        lately = self._lately.setdefault(_key(guarded.budget), {})
        for pod in guarded.pods:
            lately.pop(pod.metadata.uid, None)
            lately[pod.metadata.uid] = self._clock.monotonic(), pod.metadata.name

    def _of(self, budget: PodDisruptionBudget) -> Mapping[str, str]:
        self._forget()
        lately = self._lately.get(_key(budget), {})
        return {uid: name for uid, (_, name) in lately.items()}

    def _forget(self) -> None:
        since = self._clock.monotonic() - _LATELY
        for key, lately in list(self._lately.items()):
            while lately and next(iter(lately.values()))[0] <= since:
                del lately[next(iter(lately))]
            if not lately:
                del self._lately[key]


def _key(budget: PodDisruptionBudget) -> _Key:
    return budget.metadata.namespace, budget.metadata.name
