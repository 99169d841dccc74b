"""The question of where a pod could go, as an entry of the core's table, and its stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.decisions.question import Question, Size
from bailiff.decisions.scheduling.maintenance import check_maintenances
from bailiff.decisions.scheduling.planning import PoolTerms, plan_one
from bailiff.decisions.scheduling.pool import NodePool
from bailiff.decisions.scheduling.question import (
    JudgeNodesRequest,
    JudgeNodesResponse,
    SharedFacts,
    check_nodes,
)
from bailiff.decisions.scheduling.registering import NodeChanges, NodeSet, RegisteredNodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.decisions.question import Plan, QuestionTerms
    from bailiff.decisions.system import System

SERVICE = "SchedulingService"


class JudgeNodes:
    """What some systems can be asked about nodes.

    Attributes:
        question: about one pod, with all nodes in it.
        node_set: the type of what a caller registers, a NodeSet with the systems' sections.
        node_changes: the type of what it tells of changes, a NodeChanges likewise.
    """

    def __init__(self, systems: Sequence[System[Any]]) -> None:
        """Put the types together."""
        self._systems = tuple(systems)
        self._facts = SharedFacts(systems)
        self.node_set = self._facts.type_of(NodeSet)
        self.node_changes = self._facts.type_of(NodeChanges, optional=True)
        self.question: Question[JudgeNodesResponse] = Question(
            name="judgeNodes",
            path="scheduling/nodes",
            summary="Where could this pod go, and until when could it stay there?",
            description=(
                "Up to 20,000 nodes for one pod: whether kube-scheduler's TaintToleration and "
                "NodeUnschedulable let it there, with an objection for each taint that is not "
                "tolerated; how much it is liked there (PreferNoSchedule); and until when it could "
                "stay, were it put there now: by the taints of the node and of its devices, by "
                "whether its kubelet would start it, and by known maintenance. Nodes that are "
                "alike for the pod stand together. Affinity, resources and all else that "
                "`notJudged` names play no part."
            ),
            facts=self._facts.type_of(JudgeNodesRequest),
            answer=JudgeNodesResponse,
            weigh=self._weigh,
            explains=False,
            size=Size.MANY,
            service=SERVICE,
        )

    def register(self) -> RegisteredNodes:
        """For the nodes of one more caller."""
        return RegisteredNodes(self._systems, self._facts)

    def _weigh(self, facts: JudgeNodesRequest, terms: QuestionTerms) -> Plan[JudgeNodesResponse]:
        check_nodes(facts.nodes, "$.nodes")
        check_maintenances(facts.maintenance, "$.maintenance")
        told = self._facts.of(facts)
        pool = NodePool(self._systems, facts.nodes, facts.maintenance, told)
        return plan_one(pool, facts.pod, PoolTerms(terms.now, terms.options, "$.nodes"))
