"""Scheduling verdicts: one pod against many nodes, for schedulers that are not kube-scheduler.

A `NodePool` holds nodes, those that are alike together; `NodePool.at` an instant it is a `Judging`,
whose `of` says of all nodes what they are for a pod.
"""

from bailiff.decisions.scheduling.judging import Judging
from bailiff.decisions.scheduling.maintenance import Maintenance
from bailiff.decisions.scheduling.pool import NodePool
from bailiff.decisions.scheduling.question import JudgeNodesResponse
from bailiff.decisions.scheduling.registering import (
    NodeChanges,
    NodeSet,
    NodesRegistered,
    PodsJudged,
    PodsToJudge,
    RegisteredNodes,
)
from bailiff.decisions.scheduling.table import JudgeNodes
from bailiff.decisions.scheduling.verdicts import NodesVerdict, Objection, Residency

__all__ = [
    "JudgeNodes",
    "JudgeNodesResponse",
    "Judging",
    "Maintenance",
    "NodeChanges",
    "NodePool",
    "NodeSet",
    "NodesRegistered",
    "NodesVerdict",
    "Objection",
    "PodsJudged",
    "PodsToJudge",
    "RegisteredNodes",
    "Residency",
]
