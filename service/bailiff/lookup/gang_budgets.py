"""Whether PodDisruptionBudgets let all pods of a PodGroup go at once: both are read live."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions import Wanted
from bailiff.decisions.budgets import BudgetsError, guarded_by, refusal, steps_of
from bailiff.decisions.cost import QUICK_STEPS
from bailiff.decisions.policies import group_of
from bailiff.kinds import Pod, PodDisruptionBudget
from bailiff.lookup.kept import FOR_EVER, Age, Kept
from bailiff.turns import in_thread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bailiff.clock import Clock
    from bailiff.lookup.live import Source

# Seconds for which a namespace is believed, while those of a gang go one after the other; or as
# long as it took to list it.
_AGE = Age(1.0, times_as_long=1.0)
_MOST = 100


class _Namespace(NamedTuple):
    """Its pods that are of a PodGroup and have not ended, by that; and its budgets."""

    gangs: Mapping[str, Sequence[Pod]]
    budgets: Sequence[PodDisruptionBudget]


class GangBudgets:
    """What the Eviction API would say to a whole gang. Mirrors keep too little of pods for that."""

    def __init__(self, source: Source, clock: Clock) -> None:
        """Read nothing yet.

        Args:
            source: of pods and budgets.
            clock: for the age of what was read.
        """
        self._source = source
        self._namespaces: Kept[_Namespace] = Kept(clock, most=_MOST)
        # By gang and list: what is told to one of it holds for all that go at the same time.
        self._told: Kept[str] = Kept(clock, most=_MOST)

    async def refusal(self, pod: Pod) -> str:
        """Which budgets let the pods of its PodGroup not go together, in words; empty: none.

        Raises:
            LookUpError: pods or budgets cannot be read.
        """
        namespace, group = pod.metadata.namespace, group_of(pod)
        found = await self._namespaces.answer(namespace, lambda: self._read(namespace), _AGE)
        gang, budgets = found.value.gangs.get(group, ()), found.value.budgets
        asked = next((one for one in gang if one.metadata.uid == pod.metadata.uid), None)
        if asked is None:
            # It has gone meanwhile, as whoever evicts it is told.
            return ""
        others = [one for one in gang if one is not asked]
        key = group, found.began
        return await self._told.get(key, lambda: _refusal(asked, others, budgets), FOR_EVER)

    async def _read(self, namespace: str) -> _Namespace:
        gangs: defaultdict[str, list[Pod]] = defaultdict(list)
        for one in await self._source.see(Wanted(Pod, namespace)):
            if isinstance(one, Pod) and group_of(one) and not one.has_ended:
                gangs[group_of(one)].append(one)
        budgets = await self._source.see(Wanted(PodDisruptionBudget, namespace))
        return _Namespace(
            gangs, tuple(one for one in budgets if isinstance(one, PodDisruptionBudget))
        )


async def _refusal(pod: Pod, others: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]) -> str:
    try:
        if steps_of((pod, *others), budgets) <= QUICK_STEPS:
            return refusal(guarded_by(pod, budgets, others))
        # Where nobody waits behind it.
        return refusal(await in_thread(guarded_by, pod, budgets, others))
    except BudgetsError as error:
        return str(error)
