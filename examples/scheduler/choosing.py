"""Which node a pod is to have."""

from __future__ import annotations

import math
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


def best(answer: JudgeNodesResponse, load: Mapping[str, int]) -> str | None:
    """The node where the pod may stay longest; of several the best liked, then the emptiest.

    Args:
        answer: what Bailiff says of the nodes.
        load: how many pods each node has got from this scheduler.
    """
    feasible = [(one, node) for one in answer.verdicts if one.feasible for node in one.nodes]
    if not feasible:
        return None
    _, node = max(
        feasible,
        key=lambda found: (stay(found[0]), found[0].normalized_score, -load.get(found[1], 0)),
    )
    return node


def stay(verdict: NodesVerdict) -> float:
    """Until when the pod may stay, in seconds since 1970."""
    if verdict.residency.for_ever:
        return math.inf
    return verdict.residency.until.ToMilliseconds() / 1000


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
