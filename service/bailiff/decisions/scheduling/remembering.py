"""What kube-scheduler's plugins have said of kinds of nodes for lists of tolerations.

It rests on no instant, and pods of one cluster share a handful of lists, so it is remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.scheduling.filters import Filtered, Tolerating, filter_node

if TYPE_CHECKING:
    from bailiff.decisions.scheduling.groups import Group
    from bailiff.kinds import Toleration

# Answers that are remembered of a pool without nodes, and more for each kind of nodes: some 200
# bytes each. An objection counts as one, and a toleration of a list as several.
_MOST, _MORE, _TOLERATION = 1000, 20, 3
# The longest list of tolerations of which any is remembered.
_LONGEST = 20


class Remembered:
    """The plugins' answers, bounded: what is one too many has all of them forgotten."""

    def __init__(self) -> None:
        """Nothing is remembered yet."""
        self._most = _MOST
        self._count = 0
        self._lists: dict[tuple[tuple[Toleration, ...], bool], dict[Group, Filtered]] = {}

    def __len__(self) -> int:
        return self._count

    def make_room(self, kinds: int) -> None:
        """So many kinds of nodes there are by now."""
        self._most = _MOST + _MORE * kinds

    def of(
        self, tolerations: tuple[Toleration, ...], *, comparison_operators: bool
    ) -> ForTolerations:
        """The answers for one list."""
        if len(tolerations) > _LONGEST:
            return ForTolerations(self, {}, tolerations, comparison_operators)
        key = tolerations, comparison_operators
        known = self._lists.get(key)
        if known is None:
            self.count(1 + _TOLERATION * len(tolerations))
            known = self._lists[key] = {}
        return ForTolerations(self, known, *key)

    def count(self, answers: int) -> None:
        """So many more are about to be remembered."""
        if self._count + answers > self._most:
            self._lists.clear()
            self._count = 0
        self._count += answers


class ForTolerations:
    """The plugins' answers for one list of tolerations."""

    __slots__ = ("_by", "_known", "_remembered")

    def __init__(
        self,
        remembered: Remembered,
        known: dict[Group, Filtered],
        tolerations: tuple[Toleration, ...],
        comparing: bool,
    ) -> None:
        """Prepare; `Remembered.of` is what callers use."""
        self._remembered = remembered
        self._known = known
        self._by = Tolerating(tolerations, comparison_operators=comparing)

    def of(self, group: Group) -> Filtered:
        """For the nodes of one group."""
        found = self._known.get(group)
        if found is None:
            spec = group.node.spec
            found = filter_node(spec.taints, self._by, unschedulable=spec.unschedulable)
            self._remembered.count(1 + len(found.objections))
            self._known[group] = found
        return found
