"""Decisions to protobuf.

The answers of a batch are mostly alike: pods with the same tolerations share one `Finding`. So a
decision is put together from two serialised messages, what the pod has of its own and what it
shares with others, which protobuf merges into one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from bailiff.decisions import Decision, EvictionTerms, ObjectReference, PodAnswer
from bailiff.grpc_api.writing import Writers
from bailiff.v1 import decision_pb2

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.protobuf.descriptor import Descriptor

    from bailiff.decisions import Question

_NOBODY = ObjectReference()


class AnswerCache:
    """What has been written of one answer, whose findings must live as long.

    The generated writers hand it on to functions: what they call stands in them, so it cannot be a
    method of something that is made for each answer.
    """

    __slots__ = ("event", "node", "own", "pod", "shared", "shared_by_node")

    def __init__(self) -> None:
        # What decisions share, by their findings' identity and by the node: all that differs
        # within an answer. Those of one node stand together.
        self.shared_by_node: dict[str, dict[object, bytes]] = {}
        self.node: str | None = None
        self.shared: dict[object, bytes] = {}
        # One message, filled again and again.
        self.own = decision_pb2.Decision()
        self.pod, self.event = self.own.pod, self.own.event


def write_decision(decision: Decision, kept: AnswerCache) -> bytes:
    """One decision."""
    node, findings = decision.node, decision.findings
    if node != kept.node:
        kept.node, kept.shared = node, kept.shared_by_node.setdefault(node, {})
    key = id(findings[0]) if len(findings) == 1 else (*map(id, findings),)
    shared = kept.shared.get(key)
    if shared is None:
        shared = kept.shared[key] = _write_plain(_without_own(decision), None)
    return _write_own(decision, kept) + shared


def _write_own(decision: Decision, kept: AnswerCache) -> bytes:
    """`pod` and the event's words."""
    reference, pod, note = decision.pod, kept.pod, decision.event
    pod.namespace = reference.namespace
    pod.name = reference.name
    pod.uid = reference.uid
    if note is None:
        kept.own.ClearField("event")
        kept.event = kept.own.event
    else:
        kept.event.message = note.message
    return kept.own.SerializeToString()


def _without_own(decision: Decision) -> Decision:
    note = decision.event
    return replace(decision, pod=_NOBODY, event=None if note is None else replace(note, message=""))


def answer_writer(question: Question[Any], message: Descriptor) -> Callable[[Any], bytes]:
    """What serialises the answers to a question.

    Raises:
        TypeError: a field of the answer has no place in the message, or another type.
    """
    if issubclass(question.answer, PodAnswer):
        write_one = _ONE.of(question.answer, message)
        return lambda answer: write_one(answer, None)
    write = _MANY.of(question.answer, message)
    return lambda answer: write(answer, AnswerCache())


@lru_cache(maxsize=64)  # the systems' own, not the callers'
def _write_terms(terms: EvictionTerms, _kept: object) -> bytes:
    return _write_plain_terms(terms, None)


_write_plain_terms = Writers({}).of(EvictionTerms, decision_pb2.EvictionTerms.DESCRIPTOR)
# Of an answer about one pod nothing repeats but what is written with the eviction.
_ONE = Writers({EvictionTerms: _write_terms})
_write_plain = _ONE.of(Decision, decision_pb2.Decision.DESCRIPTOR)
_MANY = Writers({Decision: write_decision})
