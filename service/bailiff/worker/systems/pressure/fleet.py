"""All nodes that are watched: how many are known, and what people are told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.decisions.pressure.memory import memory_of
from bailiff.worker.systems.pressure.watched_node import WatchedNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.kinds import Node, Pod

# Nodes that are named in /v1/queue, at most.
_NAMED = 100
STATES = ("known", "unknown", "pressed")


class Fleet:
    """Watched nodes by name."""

    def __init__(self, longest_break: float) -> None:
        """Watch no node yet; `longest_break` as of WatchedNode."""
        self._nodes: dict[str, WatchedNode] = {}
        self._longest_break = longest_break

    @property
    def names(self) -> list[str]:
        """Of all."""
        return list(self._nodes)

    def get(self, name: str) -> WatchedNode | None:
        """One, if it is watched."""
        return self._nodes.get(name)

    def of(self, pod: Pod) -> WatchedNode | None:
        """That of a pod."""
        return self._nodes.get(pod.spec.node_name)

    def watch(self, node: Node) -> WatchedNode:
        """The same as before, or one that goes on by what the node's annotation says."""
        name, uid = node.metadata.name, node.metadata.uid
        watched = self._nodes.get(name)
        if watched is None or watched.uid != uid:
            watched = self._nodes[name] = WatchedNode(name, uid, self._longest_break)
            found = memory_of(node.metadata.annotations.pressure_state)
            if found is not None:
                watched.recall(found)
        return watched

    def drop(self, name: str) -> None:
        """It is watched no more."""
        self._nodes.pop(name, None)

    def count(self, state: str) -> int:
        """How many are in one of STATES; those that are pressed are known, too."""
        nodes = self._nodes.values()
        match state:
            case "unknown":
                return sum(bool(one.unknown) for one in nodes)
            case "pressed":
                return sum(bool(one.pressed) for one in nodes)
            case _:
                return sum(not one.unknown for one in nodes)

    def complaints(self) -> list[str]:
        """See SystemInWorker. One node, which may be hostile, makes no worker unready; all do."""
        nodes = list(self._nodes.values())
        if not nodes or not all(one.unknown for one in nodes):
            return []
        why = f"as of {nodes[0].name}: {nodes[0].unknown}"
        return [f"pressure is unknown of all {len(nodes)} nodes that are watched, {why}"]

    def describe(self) -> dict[str, Any]:
        """See SystemInWorker."""
        nodes = self._nodes.values()
        unknown = {one.name: one.unknown for one in nodes if one.unknown}
        pressed = {one.name: one.pressed for one in nodes if one.pressed}
        why = {one.name: _why(one) for one in nodes if one.pressed and _why(one)}
        return {
            "nodes": len(nodes),
            "unknown": {"count": len(unknown), "nodes": _first(unknown)},
            "pressed": {"count": len(pressed), "nodes": _first(pressed), "why": _first(why)},
        }


def _why(watched: WatchedNode) -> str:
    """Why nobody goes there, in words of ours, which are short; empty: somebody does."""
    report = watched.report
    if watched.waits:
        return watched.waits
    return "" if report is None or not report.reason else f"{report.reason}: {report.message}"


def _first(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in sorted(found)[:_NAMED]}
