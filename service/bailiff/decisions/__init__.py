"""The decision core: pure functions over frozen values.

Every face (REST, gRPC, CLI) and the worker ask here, so that they cannot disagree. `now` is an
argument; nothing in this package does I/O, reads a clock, logs, or imports a framework.
"""

from bailiff.decisions.answer import (
    cancellation_event,
    combine,
    condition_of,
    decide,
    decide_change,
    decide_node,
    decide_without_node,
    denial_event,
    eviction_event,
    summarize,
)
from bailiff.decisions.causes import causing_taint
from bailiff.decisions.decision import (
    ChangeSummary,
    Decision,
    DecisionChange,
    DeviceTaintSource,
    EventNote,
    Finding,
    ObjectReference,
    TraceStep,
    Verdict,
)
from bailiff.decisions.device_taints import DeviceTaintIndex
from bailiff.decisions.facts import (
    MAX_PODS,
    NO_OVERRIDES,
    Facts,
    FactsError,
    NodeFacts,
    OptionOverrides,
    Options,
    TaintChangeFacts,
    TaintObservation,
    TaintSelector,
)
from bailiff.decisions.joining import join
from bailiff.decisions.node_taints import NodeTaints
from bailiff.decisions.tolerations import tolerates

__all__ = [
    "MAX_PODS",
    "NO_OVERRIDES",
    "ChangeSummary",
    "Decision",
    "DecisionChange",
    "DeviceTaintIndex",
    "DeviceTaintSource",
    "EventNote",
    "Facts",
    "FactsError",
    "Finding",
    "NodeFacts",
    "NodeTaints",
    "ObjectReference",
    "OptionOverrides",
    "Options",
    "TaintChangeFacts",
    "TaintObservation",
    "TaintSelector",
    "TraceStep",
    "Verdict",
    "cancellation_event",
    "causing_taint",
    "combine",
    "condition_of",
    "decide",
    "decide_change",
    "decide_node",
    "decide_without_node",
    "denial_event",
    "eviction_event",
    "join",
    "summarize",
    "tolerates",
]
