"""Evictions that were announced by a condition and did not come: the condition is taken back.

No controller does that for the reason of a kubelet (nonTerminatingPodHasStaleDisruptionCondition in
pkg/controller/disruption), and a Job whose podFailurePolicy ignores DisruptionTarget would count no
failure of such a pod any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.agent.fates import Answer, answer_in
from bailiff.cluster.errors import ClusterError
from bailiff.decisions.pressure.findings import TERMS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from bailiff.actions.ports import PodActions
    from bailiff.agent.log import Log
    from bailiff.clock import Clock
    from bailiff.decisions.decision import EvictionTerms
    from bailiff.kinds import Pod, PodCondition

# Pods that are remembered: more than run on a node.
_MOST_KEPT = 256


class Announced:
    """Which evictions were announced and have not come yet."""

    def __init__(self, actions: PodActions | None, clock: Clock, log: Log) -> None:
        """None was yet.

        Args:
            actions: on the API server; None: there is none.
            clock: for the instants that are written.
            log: hears of what is taken back.
        """
        self._actions = actions
        self._clock = clock
        self._log = log
        # By UID.
        self._announced: dict[str, tuple[Pod, PodCondition]] = {}
        self._over: dict[str, tuple[Pod, PodCondition]] = {}

    def add(self, pod: Pod, terms: EvictionTerms) -> None:
        """The condition stands, and the delete is about to be asked for."""
        self.ended(pod)
        if terms.condition is not None and len(self._announced) < _MOST_KEPT:
            self._announced[pod.metadata.uid] = pod, terms.condition

    def ended(self, pod: Pod) -> None:
        """The pod goes, or is gone."""
        self._announced.pop(pod.metadata.uid, None)
        self._over.pop(pod.metadata.uid, None)

    def recall(self, pods: Iterable[Pod]) -> None:
        """What an agent of before has announced of these, of which nothing has come."""
        for pod in pods:
            is_going = pod.is_terminating or pod.is_finished
            if not is_going and TERMS.condition is not None and pod.has_condition(TERMS.condition):
                self.add(pod, TERMS)

    def only(self, uids: Collection[str]) -> bool:
        """Nobody but these is to go any more; whether there is something to take back."""
        for uid in self._announced.keys() - uids:
            self._over[uid] = self._announced.pop(uid)
        return bool(self._over)

    async def take_back(self) -> None:
        """Set the conditions of those to False; what fails is left to the next time."""
        for uid, noted in list(self._over.items()):
            if self._actions is None or self._over.get(uid) is not noted:
                continue
            pod, condition = noted
            try:
                await self._actions.reset_condition(pod, condition, self._clock.now())
            except ClusterError as error:
                if answer_in(error, pod.metadata.name) in (Answer.AWAY, Answer.BUSY):
                    return
                self._log.info("condition not taken back", pod=pod.key, error=str(error))
                if answer_in(error, pod.metadata.name) is Answer.UNCLEAR:
                    continue
            if self._over.get(uid) is noted:
                # It has not been announced again meanwhile.
                del self._over[uid]
