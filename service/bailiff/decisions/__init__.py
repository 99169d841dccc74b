"""The decision core: pure functions over frozen values.

Every face (REST, gRPC, CLI) and the worker ask here, so that they cannot disagree. `now` is an
argument; nothing in this package does I/O, reads a clock, logs, or imports a framework.
"""

from bailiff.decisions.cost import MAX_ANSWER_BYTES, MAX_PODS, FactsError
from bailiff.decisions.decision import (
    Decision,
    EventNote,
    EvictionTerms,
    Finding,
    ObjectReference,
    Subject,
    TraceStep,
    Verdict,
)
from bailiff.decisions.events import cancellation_event, denial_event, eviction_event
from bailiff.decisions.joining import combine, join
from bailiff.decisions.options import NO_OVERRIDES, OptionOverrides, Options
from bailiff.decisions.question import Answer, Asked, LiveQuestion, Plan, Question, Size, tally
from bailiff.decisions.questions import PodAnswer, PodFacts, PodsAnswer, PodsFacts, Reports
from bailiff.decisions.registry import SYSTEMS, Systems
from bailiff.decisions.seen import NotRead, OfKubelet, Wanted, Why
from bailiff.decisions.system import Round, Scene, System, Unread
from bailiff.decisions.tolerations import tolerates

__all__ = [
    "MAX_ANSWER_BYTES",
    "MAX_PODS",
    "NO_OVERRIDES",
    "SYSTEMS",
    "Answer",
    "Asked",
    "Decision",
    "EventNote",
    "EvictionTerms",
    "FactsError",
    "Finding",
    "LiveQuestion",
    "NotRead",
    "ObjectReference",
    "OfKubelet",
    "OptionOverrides",
    "Options",
    "Plan",
    "PodAnswer",
    "PodFacts",
    "PodsAnswer",
    "PodsFacts",
    "Question",
    "Reports",
    "Round",
    "Scene",
    "Size",
    "Subject",
    "System",
    "Systems",
    "TraceStep",
    "Unread",
    "Verdict",
    "Wanted",
    "Why",
    "cancellation_event",
    "combine",
    "denial_event",
    "eviction_event",
    "join",
    "tally",
    "tolerates",
]
