"""Nodes that are alike for every pod that comes now, so that one answer is enough for all of them.

When a taint was added plays no part for a pod that is not there yet, since its time runs from when
it comes; unless that is still to be. So each group remembers the times of its nodes, and falls
apart only where one of them is in the future.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from bailiff.decisions.instants import in_utc
from bailiff.decisions.lengths import length, words_of_taint
from bailiff.kinds import NO_EXECUTE, Node, Taint
from bailiff.kinds.decoding import OBJECTS_OF_JSON

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from bailiff.decisions.scheduling.maintenance import Period
    from bailiff.decisions.system import System

# When each taint of a node was added, where it evicts and that is told.
Times: TypeAlias = "tuple[datetime | None, ...]"

# Bytes that a group holds, most of them answers that are remembered for it.
_GROUP = 4000
# Bytes of a time, and of the place of a taint that may have one, both for each node.
_TIME, _PLACE = 64, 8
# Bytes of a taint, which is kept without its time, too, and of another object, were they empty.
_TAINT, _OBJECT = 150, 100


# What it takes to make a part, and what to look at a time, in steps of a question.
_PART, _LOOKS = 4, 1


class Key(NamedTuple):
    """What tells nodes apart for a pod that comes now.

    Attributes:
        taints: without their times.
        unschedulable: see NodeSpec.
        periods: when they are to be worked on.
        seen: what each system sees of them.
    """

    taints: tuple[Taint, ...]
    unschedulable: bool
    periods: tuple[Period, ...]
    seen: tuple[Hashable, ...]


class Part(Struct, frozen=True, gc=False):
    """Some nodes of a group, to be asked about at one instant.

    Attributes:
        group: theirs.
        node: stands for all of them.
        names: all of them, in alphabetical order; at least one.
        stay: what a pod's residency there rests on; the same where it is the same.
    """

    group: Group
    node: Node
    names: tuple[str, ...]
    stay: Hashable


class Group:
    """Nodes that are alike.

    Attributes:
        key: what they have alike.
        node: one of them.
        periods: when they are to be worked on.
        stay: what a pod's residency there rests on, but for times that are yet to come.
        words: bytes that an answer takes to name their taints and maintenances, as JSON.
        held: bytes that it holds besides its nodes' names, about.
    """

    __slots__ = (
        "_latest",
        "_names",
        "_places",
        "_sorted",
        "_times",
        "held",
        "key",
        "node",
        "periods",
        "stay",
        "words",
    )

    def __init__(self, key: Key, node: Node, periods: tuple[Period, ...]) -> None:
        """Without any nodes; `node` is the first to come."""
        self.key = key
        self.stay = evicting(key.taints), periods, key.seen
        self.node = node
        self.periods = periods
        reasons = length(*(one.reason for one in periods))
        self.words = reasons + sum(map(words_of_taint, node.spec.taints))
        self.held = _GROUP + OBJECTS_OF_JSON * length(node) + _objects(node)
        self._names: set[str] = set()
        self._sorted: tuple[str, ...] | None = None
        self._times: dict[str, Times] = {}
        self._latest: datetime | None = None
        self._places = 0

    def __len__(self) -> int:
        return len(self._names)

    def add(self, node: Node) -> None:
        """Take in a node, which is like the others."""
        name = node.metadata.name
        self._names.add(name)
        self._sorted = None
        times = _times_of(node.spec.taints)
        told = [one for one in times if one is not None]
        if told:
            self._times[name] = times
            self.held += _size(times)
            self._places += len(times)
            self._latest = max(told) if self._latest is None else max(self._latest, *told)

    def remove(self, name: str) -> None:
        """Forget a node, which is there."""
        self._names.remove(name)
        self._sorted = None
        times = self._times.pop(name, ())
        self.held -= _size(times)
        self._places -= len(times)

    def parts(self, now: datetime, only: Iterable[str] | None = None) -> Iterator[Part]:
        """The nodes that are alike at an instant.

        Args:
            now: the instant.
            only: some of the group's nodes; None: all.
        """
        names = self.names if only is None else tuple(sorted(only))
        if not self._falls_apart(now):
            yield Part(self, self.node, names, self.stay)
            return
        by_times: dict[Times, list[str]] = {}
        for name in names:
            by_times.setdefault(_to_come(self._times.get(name, ()), now), []).append(name)
        for times, alike in by_times.items():
            node = self._with_times(times, now)
            yield Part(self, node, tuple(alike), (self.stay, evicting(node.spec.taints)))

    def steps_at(self, now: datetime) -> int:
        """What `parts` costs: as long as so many steps of a question, see Cost."""
        if not self._falls_apart(now):
            return _PART
        # Each node may be a part by itself, with taints of its own.
        return _PART * len(self) + _LOOKS * self._places

    def _falls_apart(self, now: datetime) -> bool:
        return self._latest is not None and self._latest > now

    @property
    def names(self) -> tuple[str, ...]:
        """Of all its nodes, in alphabetical order."""
        if self._sorted is None:
            self._sorted = tuple(sorted(self._names))
        return self._sorted

    def _with_times(self, times: Times, now: datetime) -> Node:
        """As one of those whose times to come are these; what has been is the same to all."""
        spec = self.node.spec
        own = _to_come(_times_of(spec.taints), now)
        if own == times:
            return self.node
        pairs = zip(spec.taints, times or (None,) * len(spec.taints), strict=True)
        taints = tuple([_at(taint, time) for taint, time in pairs])
        return replace(self.node, spec=replace(spec, taints=taints))


def key_of(node: Node, periods: tuple[Period, ...], systems: Iterable[System[Any]]) -> Key:
    """What tells a node from others for a pod that comes now."""
    spec = node.spec
    seen = tuple([one.sees_of_node(node) for one in systems])
    return Key(timeless(spec.taints), spec.unschedulable, periods, seen)


def evicting(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    """Those that evict."""
    return tuple([one for one in taints if one.effect == NO_EXECUTE])


def timeless(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """Taints without the time of when they were added."""
    return tuple([_at(taint, None) for taint in taints])


def _at(taint: Taint, time: datetime | None) -> Taint:
    return taint if taint.time_added == time else replace(taint, time_added=time)


def _times_of(taints: Iterable[Taint]) -> Times:
    return tuple(
        [
            in_utc(one.time_added)
            if one.time_added is not None and one.effect == NO_EXECUTE
            else None
            for one in taints
        ]
    )


def _objects(node: Node) -> int:
    """Bytes of what it lists, however little that says."""
    others = len(node.status.conditions) + len(node.metadata.managed_fields)
    return _TAINT * len(node.spec.taints) + _OBJECT * others


def _size(times: Times) -> int:
    """Bytes that they hold, about."""
    return _PLACE * len(times) + _TIME * sum([one is not None for one in times])


def _to_come(times: Times, now: datetime) -> Times:
    """Those that are still to be; nothing at all where none is."""
    found = tuple([one if one is not None and one > now else None for one in times])
    return found if any(found) else ()
