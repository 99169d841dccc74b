"""The worker's half of a system that reads a pod and its node, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from bailiff.decisions import Scene
from bailiff.worker.systems.system import SystemInWorker

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions import System
    from bailiff.kinds import Node
    from bailiff.worker.systems.system import Ask, Parts


class PodAndNodeSystem(SystemInWorker):
    """Asks the pure half, which has no facts of its own; there is nothing else to do."""

    by_node = True

    def __init__(self, system: System[Any], parts: Parts) -> None:
        """Take over a system; what it has to follow is followed for all of them."""
        self.name = system.name
        self._system = system
        self._mirror = parts.mirror
        self._options = parts.settings.options
        self._explaining = replace(self._options, explain=True)

    def prepare(self, node: Node | None, now: datetime, *, explain: bool) -> Ask | None:
        """See SystemInWorker. It sees all pods of the node."""
        pods = () if node is None else tuple(self._mirror.pods_on(node.metadata.name))
        scene, facts = Scene(pods, now, node, node_is_gone=node is None), self._system.facts()
        if not self._system.is_reached(scene, facts):
            return None
        options = self._explaining if explain else self._options
        return self._system.prepare(scene, facts, options).of
