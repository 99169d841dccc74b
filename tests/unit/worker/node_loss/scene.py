"""A node with pods that hang when they are deleted, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds import Taint
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.worlds.node_loss_world import NodeLossWorld

if TYPE_CHECKING:
    from bailiff.worker import Election
    from tests.harness.worlds.node_loss_world import SaidOff

# Seconds from when a node falls silent until its pods have gone: silent for 50, lost for 300.
LATEST = 360
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


def world_with(
    fence: SaidOff | None = None, election: Election | None = None, **mode
) -> NodeLossWorld:
    """A node with a pod that must not run twice, and one that may; both hang when deleted."""
    world = NodeLossWorld(NodeLossMode(fence=fence, **mode), election=election)
    world.lingering = True
    world.add_nodes(3)
    world.add("db-0", "a0", owner="StatefulSet")
    world.add("web", "a0")
    return world


def graces(world: NodeLossWorld, name: str) -> list[int | None]:
    deletes = [one for one in world.calls if one.verb == "delete" and one.name == name]
    return [one.body.get("gracePeriodSeconds") for one in deletes]


def taint_by_hand(world: NodeLossWorld, name: str) -> None:
    world.taint_node(name, Taint(key=OUT_OF_SERVICE, value="nodeshutdown", effect="NoSchedule"))
