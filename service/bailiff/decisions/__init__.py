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
from bailiff.decisions.bounds import (
    MAX_CLAIMS,
    MAX_DEVICE_PODS,
    MAX_PODS,
    MAX_RULES,
    MAX_SLICES,
    FactsError,
)
from bailiff.decisions.causes import causing_taint, due_since
from bailiff.decisions.decision import (
    ChangeSummary,
    ClaimDecision,
    Decision,
    DecisionChange,
    DeviceDecisions,
    DeviceTaintRulePreview,
    DeviceTaintSource,
    EventNote,
    Finding,
    ObjectReference,
    TraceStep,
    Verdict,
)
from bailiff.decisions.device_answer import decide_devices, preview_rule
from bailiff.decisions.device_facts import DeviceFacts, DeviceTaintRuleFacts
from bailiff.decisions.device_taints import DeviceTaintIndex
from bailiff.decisions.facts import (
    NO_OVERRIDES,
    Facts,
    NodeFacts,
    NodeTaintBatchFacts,
    NodeTaintFacts,
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
    "MAX_CLAIMS",
    "MAX_DEVICE_PODS",
    "MAX_PODS",
    "MAX_RULES",
    "MAX_SLICES",
    "NO_OVERRIDES",
    "ChangeSummary",
    "ClaimDecision",
    "Decision",
    "DecisionChange",
    "DeviceDecisions",
    "DeviceFacts",
    "DeviceTaintIndex",
    "DeviceTaintRuleFacts",
    "DeviceTaintRulePreview",
    "DeviceTaintSource",
    "EventNote",
    "Facts",
    "FactsError",
    "Finding",
    "NodeFacts",
    "NodeTaintBatchFacts",
    "NodeTaintFacts",
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
    "decide_devices",
    "decide_node",
    "decide_without_node",
    "denial_event",
    "due_since",
    "eviction_event",
    "join",
    "preview_rule",
    "summarize",
    "tolerates",
]
