"""What kube-scheduler's plugins have said of kinds of nodes for lists of tolerations.

It rests on no instant, and pods of one cluster share a handful of lists, so it is remembered.
"""

from __future__ import annotations

import itertools
from types import MappingProxyType
from typing import TYPE_CHECKING

from bailiff.decisions.scheduling.filters import Filtered, Tolerating, filter_node

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.decisions.scheduling.groups import Group
    from bailiff.kinds import Toleration

# Answers that are remembered of a pool without nodes, and more for each kind of nodes: some 200
# bytes each. An objection counts as one, and a toleration of a list as several.
_MOST, _MORE, _TOLERATION = 1000, 20, 3
# The longest list of tolerations of which any is remembered.
_LONGEST = 20
_NOTHING: Mapping[int, Filtered] = MappingProxyType({})


class Remembered:
    """The plugins' answers, bounded: what is one too many has all of them forgotten.

    Threads may share it: what is remembered for others at that moment may be lost, and is then
    found anew.
    """

    def __init__(self) -> None:
        """Nothing is remembered yet."""
        self._most = _MOST
        self._count = 0
        self._lists: dict[tuple[tuple[Toleration, ...], bool], int] = {}
        # By group, so that they go with it; a list's number is never another one's.
        self._answers: dict[Group, dict[int, Filtered]] = {}
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return self._count

    def make_room(self, kinds: int) -> None:
        """So many kinds of nodes there are by now."""
        self._most = _MOST + _MORE * kinds
        self._count_more(0)

    def forget(self, group: Group) -> None:
        """The group is gone, and with it what was said of it."""
        self._count -= sum(map(_size, self._answers.pop(group, {}).values()))

    def of(
        self, tolerations: tuple[Toleration, ...], *, comparison_operators: bool
    ) -> ForTolerations:
        """The answers for one list."""
        number = None
        if len(tolerations) <= _LONGEST:
            number = self._number_of((tolerations, comparison_operators))
        return ForTolerations(self, number, tolerations, comparison_operators)

    def find(self, number: int, group: Group) -> Filtered | None:
        """What was said of a group for the list of this number."""
        return self._answers.get(group, _NOTHING).get(number)

    def add(self, number: int, group: Group, found: Filtered) -> None:
        """Remember what is said of a group for the list of this number."""
        self._count_more(_size(found))
        self._answers.setdefault(group, {})[number] = found

    def _number_of(self, key: tuple[tuple[Toleration, ...], bool]) -> int:
        number = self._lists.get(key)
        if number is None:
            self._count_more(1 + _TOLERATION * len(key[0]))
            number = self._lists[key] = next(self._numbers)
        return number

    def _count_more(self, answers: int) -> None:
        if self._count + answers > self._most:
            self._lists.clear()
            self._answers.clear()
            self._count = 0
        self._count += answers


class ForTolerations:
    """The plugins' answers for one list of tolerations."""

    __slots__ = ("_by", "_number", "_remembered")

    def __init__(
        self,
        remembered: Remembered,
        number: int | None,
        tolerations: tuple[Toleration, ...],
        comparing: bool,
    ) -> None:
        """Prepare; `Remembered.of` is what callers use.

        Args:
            remembered: where answers are kept.
            number: the list's there; None: it is too long to be remembered.
            tolerations: the list.
            comparing: whether `Lt` and `Gt` count.
        """
        self._remembered = remembered
        self._number = number
        self._by = Tolerating(tolerations, comparison_operators=comparing)

    def of(self, group: Group) -> Filtered:
        """For the nodes of one group."""
        if self._number is None:
            return self._ask(group)
        found = self._remembered.find(self._number, group)
        if found is None:
            found = self._ask(group)
            self._remembered.add(self._number, group, found)
        return found

    def _ask(self, group: Group) -> Filtered:
        spec = group.node.spec
        return filter_node(spec.taints, self._by, unschedulable=spec.unschedulable)


def _size(found: Filtered) -> int:
    return 1 + len(found.objections)
