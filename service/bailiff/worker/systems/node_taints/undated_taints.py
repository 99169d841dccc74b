"""Taints of which nobody can say since when they are there.

They carry no `timeAdded`, no worker has noted when they came, and they were there before we
looked: kube-controller-manager may have seen them long before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.node_taints import observations

if TYPE_CHECKING:
    from bailiff.kinds import Node
    from bailiff.worker.mirror.mirror import Mirror


class UndatedTaints:
    """Those of all nodes, as of one moment; taints that come later are known."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        nodes = (mirror.node(name) for name in mirror.node_names())
        self._taints = {
            node.metadata.name: taints
            for node in nodes
            if node is not None and (taints := _undated(node))
        }

    def on(self, node: str) -> bool:
        """Whether the node has one still."""
        seen = self._mirror.node(node)
        return seen is not None and not self._taints.get(node, set()).isdisjoint(_undated(seen))

    def forget_gone(self) -> None:
        """A taint that has gone and comes back is a new one."""
        for name in list(self._taints):
            node = self._mirror.node(name)
            left = self._taints[name] & (_undated(node) if node is not None else set())
            if left:
                self._taints[name] = left
            else:
                del self._taints[name]


def _undated(node: Node) -> set[tuple[str, str, str]]:
    served = observations.as_served(node)
    return observations.untimed(node).keys() - observations.vouched(served).keys()
