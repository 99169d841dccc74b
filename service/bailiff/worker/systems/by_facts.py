"""The worker's half of a system that asks its pure half, by the facts that it has of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec.structs import replace

from bailiff.kinds.meta import Value
from bailiff.worker.systems.system import SystemInWorker

if TYPE_CHECKING:
    from bailiff.decisions import Round, Scene, System
    from bailiff.kinds import Node
    from bailiff.worker.systems.system import Parts

F = TypeVar("F", bound=Value)


class SystemByFacts(SystemInWorker, Generic[F]):
    """Enough as it stands for a system without facts of its own; others say what they know."""

    def __init__(self, system: System[F], parts: Parts) -> None:
        """Take over a system; nodes and pods are followed for all of them."""
        self.name = system.name
        self.by_node = system.by_node
        self.ranks = system.ranks
        self._system = system
        self._options = parts.settings.options
        self._explaining = replace(self._options, explain=True)

    def ranks_on(self, node: Node | None) -> bool:
        """See SystemInWorker."""
        return self._system.ranks_on(node)

    def facts(self, node: Node | None) -> F:  # noqa: ARG002 - for those who know more
        """Its section of a question about this node, the state that a round has left included.

        The same facts are asked about again and again, within milliseconds where the system's own
        writes have the node looked at. So a choice that a round has made is handed in from then on
        (`evaluated`), with the pod's UID and what it was made by, and nobody else is chosen by the
        same observation, nor between `began` and `failed` or `ended`. What counts rounds or time
        moves only together with newer observations. See docs/architecture/system-in-worker.md.

        Args:
            node: None where it is gone, or cannot be read.
        """
        return self._system.facts()

    def prepare(self, scene: Scene, *, explain: bool) -> Round | None:
        """See SystemInWorker. A node that is not known is never said to be gone: it may be new."""
        facts = self.facts(scene.node)
        if not self._system.is_reached(scene, facts):
            return None
        options = self._explaining if explain else self._options
        return self._system.prepare(scene, facts, options)
