"""Many nodes made ready to be asked about many pods: those that are alike are asked about once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.decisions.cost import FactsError, check_cost
from bailiff.decisions.instants import START_OF_TIME
from bailiff.decisions.lengths import length
from bailiff.decisions.options import Options
from bailiff.decisions.scheduling.groups import Group, Key, Part, key_of
from bailiff.decisions.scheduling.judging import Judging, Shared
from bailiff.decisions.scheduling.maintenance import annotated, held_by, periods_by_node
from bailiff.decisions.scheduling.remembering import Remembered
from bailiff.decisions.system import Scene
from bailiff.kinds.decoding import OBJECTS_OF_JSON

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from bailiff.decisions.scheduling.maintenance import Maintenance, Period
    from bailiff.decisions.scheduling.remembering import ForTolerations
    from bailiff.decisions.system import System
    from bailiff.kinds import Node, Toleration
    from bailiff.kinds.meta import Value

_WITHOUT_TRACE = Options(explain=False)
# Bytes that a pool holds by itself, most of them answers that it remembers, and for a node besides
# its name and its group.
_POOL, _NODE = 256 * 1024, 500
# So many names are put together in the time of a step.
_NAMES = 20


class NodePool:
    """Nodes, grouped by what tells them apart for a pod that comes now.

    Told of nodes and of their changes, it is asked `at` an instant. Threads may ask it at the same
    time, as long as nobody tells it of a change.

    Attributes:
        systems: that are asked until when a pod could stay.
        shared: those of them for which the node plays no part, and that are reached.
        names_length: bytes of all names, as JSON.
    """

    def __init__(
        self,
        systems: Sequence[System[Any]],
        nodes: Iterable[Node] = (),
        maintenance: Iterable[Maintenance] = (),
        facts: Mapping[str, Value] | None = None,
    ) -> None:
        """Prepare.

        Args:
            systems: see there; `Systems.all` of the process, of which those count that may say
                something of a pod that comes now.
            nodes: each with a name; of nodes of one name the last counts.
            maintenance: that is known besides what the nodes' annotations tell.
            facts: of systems for which the node plays no part, by the system's name; such a system
                is asked only where it has some that reach it (`System.is_reached`).

        Raises:
            FactsError: the facts are too many.
        """
        self.systems = tuple([one for one in systems if one.judges_arrivals])
        self.shared: tuple[Shared, ...] = ()
        self.names_length = 0
        self._facts_length = 0
        self._by_node = tuple([one for one in self.systems if one.by_node])
        self._periods = periods_by_node(maintenance)
        self._periods_held = held_by(self._periods)
        self._groups: dict[Key, Group] = {}
        self._group_of: dict[str, Group] = {}
        self._remembered = Remembered()
        self.tell(facts or {})
        for node in nodes:
            self.put(node)

    def __len__(self) -> int:
        return len(self._group_of)

    def __contains__(self, name: object) -> bool:
        return name in self._group_of

    @property
    def groups(self) -> Iterable[Group]:
        """All groups, each with at least one node."""
        return self._groups.values()

    @property
    def held(self) -> int:
        """Bytes that it holds, about, with what it may remember of answers."""
        of_groups = sum([one.held for one in self._groups.values()])
        told = OBJECTS_OF_JSON * self._facts_length
        nodes = _NODE * len(self) + 2 * self.names_length
        return _POOL + told + self._periods_held + of_groups + nodes

    def tell(self, facts: Mapping[str, Value]) -> None:
        """Take in facts of systems for which the node plays no part, in place of all before.

        Raises:
            FactsError: they are too many.
        """
        self.shared = tuple(_shared(self.systems, facts))
        self._facts_length = sum([length(one.facts) for one in self.shared])

    def put(self, node: Node) -> None:
        """Take a node in, new or changed; it has a name."""
        name = node.metadata.name
        self.remove(name)
        periods = self._periods_of(node)
        key = key_of(node, periods, self._by_node)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(key, node, periods)
            self._remembered.make_room(len(self._groups))
        group.add(node)
        self._group_of[name] = group
        self.names_length += length(name)

    def remove(self, name: str) -> None:
        """Forget a node; what is not known is no error."""
        group = self._group_of.pop(name, None)
        if group is None:
            return
        self.names_length -= length(name)
        group.remove(name)
        if not len(group):
            del self._groups[group.key]
            self._remembered.forget(group)
            self._remembered.make_room(len(self._groups))

    def at(self, now: datetime, options: Options, only: Sequence[str] = ()) -> Judging:
        """The nodes at an instant, which holds until the pool is told of a change.

        Args:
            now: the instant, in UTC.
            options: see there.
            only: the nodes that count; none: all.

        Raises:
            FactsError: one of `only` is not known; its path is `$.nodes[i]`.
        """
        return Judging(self, tuple(self._parts(now, only)), now, options)

    def steps_at(self, now: datetime) -> int:
        """What `at` costs: as long as so many steps of a question, see Cost."""
        return sum([one.steps_at(now) for one in self._groups.values()]) + len(self) // _NAMES

    def filtered(self, tolerations: tuple[Toleration, ...], options: Options) -> ForTolerations:
        """What kube-scheduler's plugins say of each group for a list of tolerations."""
        comparing = options.comparison_operators
        return self._remembered.of(tolerations, comparison_operators=comparing)

    def _parts(self, now: datetime, only: Sequence[str]) -> Iterator[Part]:
        if not only:
            for group in self._groups.values():
                yield from group.parts(now)
            return
        for group, names in self._grouped(only).items():
            yield from group.parts(now, names)

    def _grouped(self, only: Sequence[str]) -> dict[Group, dict[str, None]]:
        found: dict[Group, dict[str, None]] = {}
        for index, name in enumerate(only):
            group = self._group_of.get(name)
            if group is None:
                raise FactsError(f"$.nodes[{index}]", "no node of this name was told")
            found.setdefault(group, {})[name] = None
        return found

    def _periods_of(self, node: Node) -> tuple[Period, ...]:
        return self._periods.get(node.metadata.name, ()) + annotated(node)


def _shared(systems: Iterable[System[Any]], facts: Mapping[str, Value]) -> Iterator[Shared]:
    for system in systems:
        told = facts.get(system.name)
        if system.by_node or told is None:
            continue
        nobody = Scene((), START_OF_TIME)
        if system.is_reached(nobody, told):
            check_cost((system.cost(nobody, told, _WITHOUT_TRACE),))
            yield Shared(system, told, system.rounds(told))
