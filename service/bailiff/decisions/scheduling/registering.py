"""The nodes that one caller has registered, and its questions about them, one after the other.

The caller holds on to it for as long as it asks, and nobody else sees it. What cannot be done
changes nothing.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from bailiff.decisions.cost import FactsError, check_number
from bailiff.decisions.instants import in_utc
from bailiff.decisions.question import Asked, Undecided
from bailiff.decisions.scheduling.maintenance import check_maintenances
from bailiff.decisions.scheduling.planning import PoolTerms, is_quickly_planned, plan
from bailiff.decisions.scheduling.pool import NodePool
from bailiff.decisions.scheduling.question import (
    JudgeNodesResponse,
    Maintenances,
    check_nodes,
    respond,
)
from bailiff.kinds import Pod
from bailiff.kinds.meta import Int32, Value
from bailiff.kinds.node import MAX_NODES, NodeNames, Nodes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bailiff.decisions.options import Options
    from bailiff.decisions.question import Plan
    from bailiff.decisions.scheduling.judging import Judging
    from bailiff.decisions.scheduling.question import SharedFacts
    from bailiff.decisions.scheduling.verdicts import NodesVerdict
    from bailiff.decisions.system import System

MAX_PODS = 1000


class NodeSet(Value, frozen=True, forbid_unknown_fields=True):
    """The nodes of one caller.

    Attributes:
        nodes: each with a name, at most 20,000; of nodes of one name the last counts.
        maintenance: that is known, at most 1,000; also of nodes that are put later.
    """

    nodes: Nodes = ()
    maintenance: Maintenances = ()


class NodeChanges(Value, frozen=True, forbid_unknown_fields=True):
    """What has changed since the last message.

    Attributes:
        put: nodes that are new or changed, whole.
        remove: the names of nodes that are gone, taken away first; one that was not registered is
            no error.
    """

    put: Nodes = ()
    remove: NodeNames = ()


class PodsToJudge(Asked, frozen=True, kw_only=True):
    """Pods to judge the registered nodes for.

    Attributes:
        pods: at most 1,000; each is judged as if asked alone.
        nodes: only these count, for the scores, too; none: all.
    """

    pods: Annotated[tuple[Pod, ...], Meta(max_length=MAX_PODS)] = ()
    nodes: NodeNames = ()


class NodesRegistered(Value, frozen=True):
    """What is registered by now.

    Attributes:
        nodes: how many nodes.
    """

    nodes: Int32


class PodsJudged(Undecided, frozen=True):
    """The answers for the pods.

    Attributes:
        answers: one for each pod, in the order of the pods asked about. Pods that are alike share
            one.
    """

    answers: tuple[JudgeNodesResponse, ...]


class RegisteredNodes:
    """The nodes of one caller; none, and none told of, at first."""

    def __init__(self, systems: Sequence[System[Any]], shared: SharedFacts) -> None:
        """Prepare; `JudgeNodes.register` is what callers use."""
        self._systems = tuple(systems)
        self._shared = shared
        self._pool: NodePool | None = None

    @property
    def held(self) -> int:
        """Bytes that it holds, about."""
        return 0 if self._pool is None else self._pool.held

    def replace(self, told: NodeSet) -> NodesRegistered:
        """Register nodes in place of all that were.

        Raises:
            FactsError: a node without a name, or too many of anything.
        """
        check_nodes(told.nodes, "$.nodes")
        check_maintenances(told.maintenance, "$.maintenance")
        facts = self._shared.of(told)
        pool = self._pool = NodePool(self._systems, told.nodes, told.maintenance, facts)
        return NodesRegistered(nodes=len(pool))

    def change(self, told: NodeChanges) -> NodesRegistered:
        """Take in what has changed.

        Raises:
            FactsError: nothing was registered, a node without a name, or too many of anything.
        """
        pool = self._registered()
        check_nodes(told.put, "$.put")
        gone = set(told.remove)
        put = {one.metadata.name for one in told.put}
        left = len(pool) - sum(name in pool for name in gone | put) + len(put)
        check_number("$.put", left, MAX_NODES)
        facts = self._shared.of(told)
        if facts:
            pool.tell(facts)
        for name in gone:
            pool.remove(name)
        for node in told.put:
            pool.put(node)
        return NodesRegistered(nodes=len(pool))

    def plan(self, told: PodsToJudge, now: datetime, defaults: Options) -> Plan[PodsJudged]:
        """Count what it costs to judge for pods; carried out before the next change.

        Args:
            told: the pods.
            now: the clock's instant, used where `told` names none.
            defaults: the server's options.

        Raises:
            FactsError: nothing was registered, a node is not, or it would be too much.
        """
        pool = self._registered()
        check_number("$.pods", len(told.pods), MAX_PODS)
        terms = PoolTerms(
            in_utc(told.now or now), told.options.over(defaults), "$.pods", told.nodes
        )
        return plan(pool, told.pods, terms, partial(self._judge, told.pods))

    def is_quickly_planned(self, told: PodsToJudge, now: datetime) -> bool:
        """Whether `plan` may be called where others wait behind it."""
        return self._pool is None or is_quickly_planned(self._pool, in_utc(told.now or now))

    def _registered(self) -> NodePool:
        if self._pool is None:
            raise FactsError("$", "no nodes have been registered in this stream")
        return self._pool

    def _judge(self, pods: tuple[Pod, ...], judging: Judging) -> PodsJudged:
        systems = self._registered().systems
        # By id(verdicts), which the answers keep, so that no others can take it.
        known: dict[int, JudgeNodesResponse] = {}
        answers = []
        for pod in pods:
            verdicts: tuple[NodesVerdict, ...] = judging.of(pod)
            answer = known.get(id(verdicts))
            if answer is None:
                answer = known[id(verdicts)] = respond(judging, pod, systems)
            answers.append(answer)
        return PodsJudged(answers=tuple(answers))
