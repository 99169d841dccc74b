"""The system of lost nodes: what it decides from, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import FactsError
from bailiff.decisions.node_loss.facts import NodeLossFacts
from bailiff.decisions.node_loss.findings import SYSTEM, LostNodeSubject
from bailiff.decisions.node_loss.judging import NodeLossRound
from bailiff.decisions.node_loss.looking import look_up
from bailiff.decisions.node_loss.report import NodeLossReport
from bailiff.decisions.node_loss.weighing import weigh
from bailiff.decisions.system import Round, System
from bailiff.kinds.daemon_set import DaemonSet
from bailiff.kinds.lease import Lease
from bailiff.kinds.volume_claim import PersistentVolumeClaim

if TYPE_CHECKING:
    from bailiff.decisions.cost import Cost
    from bailiff.decisions.decision import Finding
    from bailiff.decisions.options import Options
    from bailiff.decisions.system import LookUp, Scene
    from bailiff.kinds import Pod

_NOTHING = NodeLossFacts()


class NodeLossSystem(System[NodeLossFacts]):
    """Should this pod go because its node does not come back?

    Nobody is judged by it unasked: a question has to bring a section, if only one with settings.
    """

    name = SYSTEM
    needs = "node"
    judges_arrivals = False
    wants = (Lease, DaemonSet, PersistentVolumeClaim)
    facts = NodeLossFacts
    report = NodeLossReport
    subjects = (LostNodeSubject,)

    def is_reached(self, scene: Scene, facts: NodeLossFacts) -> bool:
        """Where the question brings a node, and anything of this system."""
        return scene.node is not None and facts != _NOTHING

    def check(self, scene: Scene, facts: NodeLossFacts) -> None:
        """See System.

        Raises:
            FactsError: there is no node, or the Lease is another node's.
        """
        if scene.node is None:
            raise FactsError("$.node", "required")
        lease = "" if facts.lease is None else facts.lease.metadata.name
        if lease and lease != scene.node_name:
            why = f"must be the Lease of node {scene.node_name}"
            raise FactsError("$.nodeLoss.lease.metadata.name", why)

    def cost(self, scene: Scene, facts: NodeLossFacts, options: Options) -> Cost:
        """Each pod is looked at in the round and for the report."""
        return weigh(scene, facts, explain=options.explain)

    def look_up(self, scene: Scene, options: Options) -> LookUp[NodeLossFacts]:
        """What a look at a live cluster tells, where the options ask for it."""
        if not options.node_loss:
            yield from ()
            return NodeLossFacts()
        return (yield from look_up(scene))

    def prepare(self, scene: Scene, facts: NodeLossFacts, options: Options) -> Round:
        """See System."""
        if scene.node is None:
            return _NoNode()
        pods = (*scene.pods, *(scene.neighbours or ()))
        return NodeLossRound(scene.node, pods, facts, scene.now, options)


class _NoNode(Round):
    """Without a node nothing is said of anybody."""

    def of(self, pod: Pod) -> Finding | None:  # noqa: ARG002 - as of Round
        return None


NODE_LOSS = NodeLossSystem()
