"""Scheduling verdicts: one pod against many nodes, for schedulers that are not kube-scheduler.

A `NodePool` holds nodes, those that are alike together; `NodePool.at` an instant it is a `Judging`,
whose `of` says of all nodes what they are for a pod.
"""

from bailiff.decisions.scheduling.judging import Judging
from bailiff.decisions.scheduling.maintenance import Maintenance
from bailiff.decisions.scheduling.pool import NodePool
from bailiff.decisions.scheduling.question import JudgeNodes, JudgeNodesResponse
from bailiff.decisions.scheduling.verdicts import NodesVerdict, Objection, Residency

__all__ = [
    "JudgeNodes",
    "JudgeNodesResponse",
    "Judging",
    "Maintenance",
    "NodePool",
    "NodesVerdict",
    "Objection",
    "Residency",
]
