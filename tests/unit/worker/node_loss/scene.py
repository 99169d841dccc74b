"""A node with pods that hang when they are deleted, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bailiff.kinds import Taint
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.worlds.node_loss_world import NodeLossWorld

if TYPE_CHECKING:
    from bailiff.worker import Election
    from tests.harness.worlds.node_loss_world import SaidOff

# Seconds from when a node falls silent until its pods go: silent for 50, lost for 300. A Lease is
# renewed every 10 s, and a look at all nodes comes every 5 s.
EARLIEST, LATEST = 340, 360
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


def three_nodes(mode: NodeLossMode | None = None, **settings) -> NodeLossWorld:
    world = NodeLossWorld(mode, **settings)
    world.add_nodes(3)
    world.add("web", "a0")
    return world


def with_database(mode: NodeLossMode | None = None, **settings) -> NodeLossWorld:
    """A node with a pod that must not run twice, and one that may; both hang when deleted."""
    world = three_nodes(mode, **settings)
    world.lingering = True
    world.add("db-0", "a0", owner="StatefulSet")
    return world


def world_with(
    fence: SaidOff | None = None, election: Election | None = None, **mode
) -> NodeLossWorld:
    """The same, with this fence."""
    return with_database(NodeLossMode(fence=fence, **mode), election=election)


def graces(world: NodeLossWorld, name: str) -> list[int | None]:
    deletes = [one for one in world.calls if one.verb == "delete" and one.name == name]
    return [one.body.get("gracePeriodSeconds") for one in deletes]


def taint_by_hand(world: NodeLossWorld, name: str) -> None:
    world.taint_node(name, Taint(key=OUT_OF_SERVICE, value="nodeshutdown", effect="NoSchedule"))


def forced(world: NodeLossWorld) -> set[str]:
    return {
        one.name
        for one in world.calls
        if one.verb == "delete" and one.body.get("gracePeriodSeconds") == 0
    }


def all_not_ready(world: NodeLossWorld) -> None:
    """No kubelet is ready, and all renew their Leases, so that the watch of those is not deaf."""
    for name in ("a0", "a1", "a2"):
        world.set_ready(name, "False")


def note_since(world: NodeLossWorld, seconds: float, released: float | None = None) -> str:
    """What a leader has noted on a0, which was lost, and had its turn, so many seconds ago."""
    told: dict[str, Any] = {
        "uid": "uid-a0",
        "since": world.at(world.clock.monotonic() - seconds).isoformat(),
        "renewed": msgspec.to_builtins(world.leases["a0"].spec.renew_time),
        "transition": world.nodes["a0"].status.conditions[0].last_transition_time,
    }
    if released is not None:
        told["released"] = world.at(world.clock.monotonic() - released).isoformat()
    return msgspec.json.encode(told).decode()
