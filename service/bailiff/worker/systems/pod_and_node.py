"""The worker's half of a system that reads a pod and its node, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from bailiff.decisions import Scene
from bailiff.worker.systems.system import SystemInWorker

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions import Finding, System
    from bailiff.kinds import Node, Pod
    from bailiff.worker.systems.system import Ask, Parts


class PodAndNodeSystem(SystemInWorker):
    """Asks the pure half, which has no facts of its own; there is nothing else to do."""

    def __init__(self, system: System[Any], parts: Parts) -> None:
        """Take over a system; what it has to follow is followed for all of them."""
        self.name = system.name
        self.by_node = system.needs == "node"
        self._system = system
        self._options = parts.settings.options
        self._explaining = replace(self._options, explain=True)

    def prepare(self, node: Node | None, now: datetime, *, explain: bool) -> Ask | None:
        """See SystemInWorker. A node that is not known is never said to be gone: it may be new."""
        system, facts = self._system, self._system.facts()
        options = self._explaining if explain else self._options

        def ask(pod: Pod) -> Finding | None:
            scene = Scene((pod,), now, node)
            if not system.is_reached(scene, facts):
                return None
            return system.prepare(scene, facts, options).of(pod)

        return ask
