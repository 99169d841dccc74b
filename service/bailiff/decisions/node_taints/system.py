"""The system of node taints: what it decides from, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import Cost, FactsError
from bailiff.decisions.node_taints.change import PREVIEW_TAINT_CHANGE
from bailiff.decisions.node_taints.consequences import look_at_change
from bailiff.decisions.node_taints.facts import NodeTaintFacts
from bailiff.decisions.node_taints.findings import SYSTEM, NodeTaintSubject, keep_without_node
from bailiff.decisions.node_taints.taints import NodeTaints
from bailiff.decisions.node_taints.weighing import weigh
from bailiff.decisions.system import Round, System

if TYPE_CHECKING:
    from collections.abc import Hashable
    from datetime import datetime

    from bailiff.decisions.changes import ChangeLookUp, ObjectChange
    from bailiff.decisions.decision import Finding
    from bailiff.decisions.options import Options
    from bailiff.decisions.system import Scene
    from bailiff.kinds import Node, Pod


class NodeTaintSystem(System[NodeTaintFacts]):
    """Should the NoExecute taints of its node evict this pod (pkg/controller/tainteviction)?"""

    name = SYSTEM
    needs = "node"
    facts = NodeTaintFacts
    subjects = (NodeTaintSubject,)
    questions = (PREVIEW_TAINT_CHANGE,)

    def is_reached(self, scene: Scene, facts: NodeTaintFacts) -> bool:  # noqa: ARG002 - System
        """Where there is a node, or where it is known that there is none."""
        return scene.node is not None or scene.without_node

    def check(self, scene: Scene, facts: NodeTaintFacts) -> None:
        """See System.

        Raises:
            FactsError: there is no node, or `boundAt` is told of several pods.
        """
        super().check(scene, facts)
        if facts.bound_at is not None and len(scene.pods) > 1:
            raise FactsError("$.nodeTaints.boundAt", "only of one pod, read from the pods else")

    def cost(self, scene: Scene, facts: NodeTaintFacts, options: Options) -> Cost:  # noqa: ARG002 - System
        """Each taint is held against each toleration, and told with its pod."""
        if scene.node is None:
            return Cost()
        return weigh(scene.node.spec.taints, scene.pods, explain=options.explain)

    def sees_of_node(self, node: Node) -> Hashable:  # noqa: ARG002 - as of System
        """The taints alone."""
        return None

    def sees_of_pod(self, pod: Pod) -> Hashable | None:  # noqa: ARG002 - as of System
        """The tolerations alone: when it was bound plays no part where it comes only now."""
        return ()

    def prepare(self, scene: Scene, facts: NodeTaintFacts, options: Options) -> Round:
        """See System."""
        if scene.node is None:
            return _NodeGone()
        taints = NodeTaints(scene.node, scene.now, facts.first_observed, options)
        return taints if facts.bound_at is None else _BoundAt(taints, facts.bound_at)

    def look_at_change(self, change: ObjectChange, options: Options) -> ChangeLookUp:
        """See System."""
        return look_at_change(change, options)


class _BoundAt(Round):
    def __init__(self, taints: NodeTaints, bound_at: datetime) -> None:
        self._taints = taints
        self._bound_at = bound_at

    def of(self, pod: Pod) -> Finding:
        return self._taints.decide(pod, self._bound_at)


class _NodeGone(Round):
    def of(self, pod: Pod) -> Finding:
        return keep_without_node(pod)


NODE_TAINTS = NodeTaintSystem()
