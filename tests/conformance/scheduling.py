"""The cases of scheduling: what the plugins of kube-scheduler say of nodes for one pod."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.scheduling import Judging, NodePool, NodesVerdict
from bailiff.decisions.scheduling.filters import (
    NODE_UNSCHEDULABLE,
    TAINT_TOLERATION,
    normalized,
)
from bailiff.kinds import Node, Pod

Json = dict[str, Any]

# Any instant will do: nothing that is compared rests on it.
_NOW = datetime(2025, 1, 1, tzinfo=UTC)
_SUCCESS = {"code": "Success", "reasons": []}


def answer_scheduling(case: Json) -> Json:
    nodes = msgspec.convert(case["nodes"], list[Node])
    options = Options(comparison_operators=case["comparisonOperators"])
    judging = NodePool(SYSTEMS.all, nodes).at(_NOW, options)
    told = _by_node(judging, msgspec.convert(case["pod"], Pod))
    highest = max((one.raw_score for one in told.values()), default=0)
    return {"nodes": [_answer(one, told[one.metadata.name], highest) for one in nodes]}


def _by_node(judging: Judging, pod: Pod) -> dict[str, NodesVerdict]:
    return {name: one for one in judging.of(pod) for name in one.nodes}


def _answer(node: Node, told: NodesVerdict, highest: int) -> Json:
    return {
        "name": node.metadata.name,
        "taintToleration": _status(told, TAINT_TOLERATION),
        "nodeUnschedulable": _status(told, NODE_UNSCHEDULABLE),
        "feasible": told.feasible,
        "rawScore": told.raw_score,
        # The file has it over all nodes, too, which kube-scheduler never asks for.
        "normalizedScore": normalized(told.raw_score, highest),
        "feasibleNormalizedScore": told.normalized_score,
    }


def _status(told: NodesVerdict, rule: str) -> Json:
    """Upstream tells one reason, however many taints are not tolerated."""
    reasons = list(dict.fromkeys(one.message for one in told.objections if one.rule == rule))
    return {"code": "UnschedulableAndUnresolvable", "reasons": reasons} if reasons else _SUCCESS
