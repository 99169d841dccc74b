"""Which node a pod is to have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from bailiff.client.messages import JudgeNodesResponse, NodesVerdict

Labels = Mapping[str, str]


def allowed(pod: Mapping[str, Any], nodes: Mapping[str, Labels]) -> list[str]:
    """The nodes that the pod's node selector lets it on.

    Bailiff judges taints, not what a pod asks for: node selector and affinity, resources, ports and
    volumes are the scheduler's own affair. This one knows node selectors alone.
    """
    wanted = (pod["spec"].get("nodeSelector") or {}).items()
    return [name for name, labels in nodes.items() if wanted <= labels.items()]


class Load:
    """How many pods each node has."""

    def __init__(self) -> None:
        """None, at first."""
        self._nodes: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def put(self, uid: str, node: str) -> None:
        """A pod is on a node; told more than once it counts once."""
        self.gone(uid)
        self._nodes[uid] = node
        self._counts[node] += 1

    def gone(self, uid: str) -> None:
        """A pod has ended."""
        if (node := self._nodes.pop(uid, None)) is not None:
            self._counts[node] -= 1

    def clear(self) -> None:
        """Nothing is known any more."""
        self._nodes.clear()
        self._counts.clear()

    def of(self, node: str) -> int:
        """The pods of a node."""
        return self._counts[node]


def best(answer: JudgeNodesResponse, load: Load) -> str | None:
    """The node that Bailiff names first; of those that are alike for the pod the emptiest.

    Bailiff's order is that of kube-scheduler by taints, then by how long the pod may stay; its
    extender and its plugin go by the same.

    Args:
        answer: what Bailiff says of the nodes.
        load: the pods that each has already.
    """
    feasible = next((verdict for verdict in answer.verdicts if verdict.feasible), None)
    return None if feasible is None else min(feasible.nodes, key=load.of)


def why_nowhere(answer: JudgeNodesResponse) -> str:
    """In kube-scheduler's words: `0/3 nodes are available: 2 node(s) had untolerated taint …`."""
    counts: dict[str, int] = {}
    for verdict in answer.verdicts:
        for message in messages_of(verdict):
            counts[message] = counts.get(message, 0) + len(verdict.nodes)
    total = sum(len(verdict.nodes) for verdict in answer.verdicts)
    reasons = ", ".join(f"{count} {message}" for message, count in sorted(counts.items()))
    return f"0/{total} nodes are available: {reasons}."


def messages_of(verdict: NodesVerdict) -> Iterable[str]:
    """The first objection: kube-scheduler tells no more of a node."""
    return [objection.message for objection in verdict.objections[:1]]
