"""Whether PodDisruptionBudgets let all pods of a PodGroup go at once: both are read live."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions import Wanted
from bailiff.decisions.budgets import refusal
from bailiff.decisions.policies import group_of
from bailiff.kinds import Pod, PodDisruptionBudget
from bailiff.lookup.kept import Age, Kept

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.lookup.live import Source

# Seconds for which a namespace is believed, while those of a gang go one after the other; or as
# long as it took to list it.
_AGE = Age(1.0, times_as_long=1.0)
_MOST = 100


class _Namespace(NamedTuple):
    pods: tuple[Pod, ...]
    budgets: tuple[PodDisruptionBudget, ...]


class GangBudgets:
    """What the Eviction API would say to a whole gang. Mirrors keep too little of pods for that."""

    def __init__(self, source: Source, clock: Clock) -> None:
        """Read nothing yet.

        Args:
            source: of pods and budgets.
            clock: for the age of what was read.
        """
        self._source = source
        self._kept: Kept[_Namespace] = Kept(clock, most=_MOST)

    async def refusal(self, pod: Pod) -> str:
        """Which budgets let the pods of its PodGroup not go together, in words; empty: none.

        Raises:
            LookUpError: pods or budgets cannot be read.
        """
        namespace, group = pod.metadata.namespace, group_of(pod)
        found = await self._kept.get(namespace, lambda: self._read(namespace), _AGE)
        going = [one for one in found.pods if group_of(one) == group and not one.has_ended]
        return refusal(going, found.budgets)

    async def _read(self, namespace: str) -> _Namespace:
        pods = await self._source.see(Wanted(Pod, namespace))
        budgets = await self._source.see(Wanted(PodDisruptionBudget, namespace))
        return _Namespace(
            tuple(one for one in pods if isinstance(one, Pod) and group_of(one)),
            tuple(one for one in budgets if isinstance(one, PodDisruptionBudget)),
        )
