"""Whether the machine of a node is proven off, and what would prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.node_loss.needs import OUT_OF_SERVICE, is_out_of_service

if TYPE_CHECKING:
    from bailiff.decisions.node_loss.facts import NodeLossFacts
    from bailiff.kinds import Node

RELEASE = (
    f"goes once its machine is proven off: by the taint {OUT_OF_SERVICE} on the node, by a fencing "
    "hook, or once the node is deleted"
)


def proof_of(node: Node, facts: NodeLossFacts) -> str:
    """Who says that the machine is off; empty: nobody."""
    if is_out_of_service(node):
        return f"the taint {OUT_OF_SERVICE} says that its machine is off"
    if facts.proof is not None and facts.proof.off:
        return f"fencing by {facts.proof.by or 'a hook'} says that its machine is off"
    return ""


def is_held_by_distrust(node: Node, *, lives: bool) -> bool:
    """Whether nobody goes since the fence of a node is not believed.

    A person who vouches by the taint is believed all the same, once the node does not live.
    """
    return lives or not is_out_of_service(node)


def contradiction_in(node: Node, facts: NodeLossFacts, *, lives: bool) -> str:
    """Why what is known of a node cannot be; empty: it can.

    Args:
        node: as the API server has it.
        facts: what else is known.
        lives: its kubelet gives signs of life.
    """
    if facts.contradiction:
        return facts.contradiction
    proof = proof_of(node, facts)
    if not proof or not lives:
        return ""
    return f"{proof}, but its kubelet renews its Lease: what is off is another machine"
