"""How many pods were evicted for each DeviceTaintRule, by whichever worker.

The watch tells: a pod that leaves with the device manager's condition while a rule dooms it was
evicted for that rule. Our own evictions count as soon as the API server has taken them, for those
that ask budgets leave without that condition. What was on its way out before we looked is not
counted, which is what "since starting the controller" in the status means.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bailiff.decisions.device_taints import TERMS

if TYPE_CHECKING:
    from bailiff.decisions import Options
    from bailiff.decisions.device_taints import DeviceTaintIndex
    from bailiff.kinds import Pod

# Pods that are remembered so that none counts twice, once by us and once by the watch. The two lie
# seconds apart.
_REMEMBERED = 10_000


class Evicted:
    """Counts by UID of rule."""

    def __init__(self, index: DeviceTaintIndex, options: Options) -> None:
        """Start at nought.

        Args:
            index: which rules doom a pod.
            options: of the decisions.
        """
        self._index = index
        self._options = options
        self._counts: Counter[str] = Counter()
        self._counted: dict[str, None] = {}

    def of(self, rule_uid: str) -> int:
        """Pods evicted for a rule since we began to look."""
        return self._counts[rule_uid]

    def forget(self, rule_uid: str) -> None:
        """The rule is gone."""
        del self._counts[rule_uid]

    def changed(self, old: Pod, new: Pod) -> None:
        """The watch tells of a pod; the index must still have it as it was."""
        if new.is_terminating and not old.is_terminating and _by_device_manager(new):
            self.ours(old)

    def gone(self, old: Pod) -> None:
        """The watch tells that a pod is gone; the index must still have it."""
        if not old.is_terminating and _by_device_manager(old):
            self.ours(old)

    def ours(self, pod: Pod) -> None:
        """A pod was evicted by its devices; as it was before."""
        uid = pod.metadata.uid
        if uid in self._counted:
            return
        eviction = self._index.eviction(pod, self._options)
        if eviction is None or not eviction.rules:
            return
        self._counted[uid] = None
        if len(self._counted) > _REMEMBERED:
            del self._counted[next(iter(self._counted))]
        self._counts.update(rule.uid for rule in eviction.rules)


def _by_device_manager(pod: Pod) -> bool:
    return TERMS.condition is not None and pod.has_condition(TERMS.condition)
