"""Eviction by the taints of nodes (pkg/controller/tainteviction, with named repairs)."""

from bailiff.decisions.node_taints.built_in import (
    BUILT_IN_TAINTS,
    BuiltInTaint,
    built_in_taint,
)
from bailiff.decisions.node_taints.facts import NodeTaintFacts, TaintObservation
from bailiff.decisions.node_taints.findings import SYSTEM, TERMS, NodeTaintSubject
from bailiff.decisions.node_taints.system import NODE_TAINTS, NodeTaintSystem
from bailiff.decisions.node_taints.taints import NodeTaints

__all__ = [
    "BUILT_IN_TAINTS",
    "NODE_TAINTS",
    "SYSTEM",
    "TERMS",
    "BuiltInTaint",
    "NodeTaintFacts",
    "NodeTaintSubject",
    "NodeTaintSystem",
    "NodeTaints",
    "TaintObservation",
    "built_in_taint",
]
