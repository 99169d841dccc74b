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


class DecisionWriter:
    """Serialises the decisions of one answer, which must live as long."""

    def __init__(self) -> None:
        self._shared: dict[tuple[object, ...], bytes] = {}
        self._own = decision_pb2.Decision()
        self._pod = self._own.pod
        self._event = self._own.event

    def write(self, decision: Decision) -> bytes:
        """One decision."""
        # Findings are shared by identity; the node is all else that differs within an answer.
        findings, node = decision.findings, decision.node
        key = (node, id(findings[0])) if len(findings) == 1 else (node, *map(id, findings))
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = _write_plain(_without_own(decision), None)
        return self._write_own(decision) + shared

    def _write_own(self, decision: Decision) -> bytes:
        """`pod` and the event's words, by one message that is filled again and again."""
        reference, pod = decision.pod, self._pod
        pod.namespace = reference.namespace
        pod.name = reference.name
        pod.uid = reference.uid
        note = decision.event
        if note is None:
            self._own.ClearField("event")
            self._event = self._own.event
        else:
            self._event.message = note.message
        return self._own.SerializeToString()


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
    return lambda answer: write(answer, DecisionWriter())


@lru_cache(maxsize=64)  # the systems' own, not the callers'
def _write_terms(terms: EvictionTerms, _kept: object) -> bytes:
    return _write_plain_terms(terms, None)


_write_plain_terms = Writers({}).of(EvictionTerms, decision_pb2.EvictionTerms.DESCRIPTOR)
# Of an answer about one pod nothing repeats but what is written with the eviction.
_ONE = Writers({EvictionTerms: _write_terms})
_write_plain = _ONE.of(Decision, decision_pb2.Decision.DESCRIPTOR)
_MANY = Writers({Decision: lambda decision, kept: kept.write(decision)})
