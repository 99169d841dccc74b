"""What it costs to judge nodes for pods: counted from lengths, before anything is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from bailiff.decisions.cost import Cost, check_cost
from bailiff.decisions.lengths import CHARACTER, length, words_of_toleration
from bailiff.decisions.system import Scene
from bailiff.kinds.names import MAX_LABEL, MAX_SUBDOMAIN

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from bailiff.decisions.scheduling.groups import Part
    from bailiff.decisions.scheduling.judging import Judging
    from bailiff.decisions.scheduling.pool import NodePool
    from bailiff.kinds import Pod

# Bytes of an answer besides its verdicts, of a verdict besides what it names, and of an objection.
_ANSWER, _VERDICT, _OBJECTION = 1000, 700, 200
# A taint is named by an objection and by the residency.
_NAMED = 2
# The longest toleration: a key (PREFIX/NAME) and three words.
_TOLERATION = CHARACTER * (MAX_SUBDOMAIN + 1 + 4 * MAX_LABEL) + 20
# Kinds of nodes are asked about, and put together, besides what is compared: as long as so many
# comparisons; and as many names are written in the time of one.
_KIND, _NAMES = 30, 20
# Each taint is held against each toleration by the filter, the score or the system of node taints.
_COMPARED = 2


class _Kinds(Struct, frozen=True, gc=False):
    """All kinds of nodes of a question.

    Attributes:
        number: how many.
        taints: how many taints they have.
        periods: how many maintenances.
        words: bytes that an answer takes to tell of them.
        names: bytes of the names of all nodes.
        nodes: how many nodes.
    """

    number: int
    taints: int
    periods: int
    words: int
    names: int
    nodes: int


def weigh(pool: NodePool, judging: Judging, pods: Sequence[Pod], path: str) -> Cost:
    """The cost of judging these nodes for some pods; those that are alike are judged once.

    Raises:
        FactsError: it is too much.
    """
    kinds = _kinds_of(pool, judging)
    seen: set[Hashable] = set()
    steps, told = 0, 0
    for pod in pods:
        tolerations = pod.spec.tolerations
        likeness = judging.likeness(pod)
        if likeness is None or likeness not in seen:
            steps += _steps(kinds, len(tolerations))
            seen.add(likeness)
        steps += 1 + kinds.nodes // _NAMES
        longest = max(map(words_of_toleration, tolerations), default=0)
        told += _told(kinds, min(longest, _TOLERATION))
    return check_cost((Cost(steps, told, path), *_shared(judging, pool, pods)))


def _shared(judging: Judging, pool: NodePool, pods: Sequence[Pod]) -> Iterable[Cost]:
    """Of systems for which the node plays no part; each pod is asked about once."""
    scene = Scene(tuple(pods), judging.now)
    for one in pool.shared:
        cost: Any = one.system.cost(scene, one.facts, judging.options)
        # What it finds is told with every kind of nodes.
        yield Cost(cost.steps, cost.told * max(1, len(judging.parts)), cost.path)


def _kinds_of(pool: NodePool, judging: Judging) -> _Kinds:
    parts = judging.parts
    nodes = sum([len(one.names) for one in parts])
    return _Kinds(
        number=len(parts),
        taints=sum([len(one.node.spec.taints) for one in parts]),
        periods=sum([len(one.group.periods) for one in parts]),
        words=sum([one.group.words for one in parts]),
        names=pool.names_length if nodes == len(pool) else _named(parts),
        nodes=nodes,
    )


def _named(parts: Iterable[Part]) -> int:
    return sum([length(*one.names) for one in parts])


def _steps(kinds: _Kinds, tolerations: int) -> int:
    # Where nodes have no taints a list is looked up all the same, by all that is in it.
    of_kinds = kinds.number * (_KIND + tolerations)
    return of_kinds + _COMPARED * kinds.taints * (tolerations + 1) + kinds.periods


def _told(kinds: _Kinds, toleration: int) -> int:
    of_kinds = kinds.number * (_VERDICT + toleration) + kinds.taints * _OBJECTION
    return _ANSWER + of_kinds + _NAMED * kinds.words + kinds.names + kinds.nodes
