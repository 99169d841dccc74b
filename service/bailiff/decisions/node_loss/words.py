"""What is written and told of pods and nodes, in upstream's words.

Source: pkg/controller/util/node/controller_utils.go and pkg/util/node/node.go. Programs read these.
"""

from __future__ import annotations

from bailiff.decisions.decision import EventNote

# The source of upstream's Events.
CONTROLLER = "node-controller"
EVICTION_REASON = "NodeControllerEviction"
# `{pod}` and `{node}` are filled in by EvictionTerms.filled.
MARKING = "Marking for deletion Pod {pod} from Node {node}"
UNRESPONSIVE = "Node {node} which was running pod {pod} is unresponsive"
# On each pod that was deleted and does not go: ours. And on each that is marked as not ready.
STUCK_REASON = "NodeLossStuck"
# On a node whose machine is said to be off while it lives: ours.
CONTRADICTION_REASON = "NodeLossContradiction"
NODE_NOT_READY = EventNote(type="Warning", reason="NodeNotReady", message="Node is not ready")


def unresponsive(node: str, pod: str) -> str:
    """For `status.message` of a pod."""
    return UNRESPONSIVE.replace("{node}", node).replace("{pod}", pod)


def deleting_all(node: str) -> EventNote:
    """On the node, before its pods go."""
    message = f"Node {node} event: Deleting all Pods from Node {node}."
    return EventNote(type="Normal", reason="DeletingAllPods", message=message)
