"""What an operator may set of the worker's node-loss mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bailiff.decisions.node_loss.settings import DEFAULTS

if TYPE_CHECKING:
    from bailiff.decisions.node_loss.facts import OffProof
    from bailiff.decisions.node_loss.settings import NodeLossSettings


class Fence(Protocol):
    """Whoever knows whether a machine is off."""

    async def ask(self, node: str) -> OffProof:
        """Ask about the machine of this node, bounded in time; no failure is proof."""
        ...


@dataclass(frozen=True, kw_only=True)
class NodeLossMode:
    """How lost nodes are treated.

    Attributes:
        settings: how their loss is judged.
        fence: is asked whether the machine is off; None: nobody is.
        taints_fenced: put the taint out-of-service on nodes whose machine the fence says is off,
            and take it away when they are back.
        marks_not_ready: set the condition Ready of pods on lost nodes to False.
    """

    settings: NodeLossSettings = DEFAULTS
    fence: Fence | None = None
    taints_fenced: bool = False
    marks_not_ready: bool = True
