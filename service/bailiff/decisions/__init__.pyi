from .cost import MAX_ANSWER_BYTES, MAX_PODS, FactsError
from .decision import (
    Decision,
    EventNote,
    EvictionTerms,
    Finding,
    ObjectReference,
    Subject,
    TraceStep,
    Verdict,
)
from .events import cancellation_event, denial_event, eviction_event
from .joining import combine, join
from .options import NO_OVERRIDES, OptionOverrides, Options
from .question import Answer, Asked, LiveQuestion, Plan, Question, Size, tally
from .questions import PodAnswer, PodFacts, PodsAnswer, PodsFacts, Reports
from .registry import SYSTEMS, Systems
from .seen import NotRead, OfKubelet, Wanted, Why
from .system import Round, Scene, System, Unread
from .tolerations import tolerates

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
