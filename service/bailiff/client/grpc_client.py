"""The gRPC API, asked without `await`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc

from bailiff.client import grpc_words
from bailiff.client.asking import Asking
from bailiff.client.calls import Calls
from bailiff.client.node_stream import NodeStream
from bailiff.client.settings import ClientSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.client.questions import A, Json, Q, Question


class GrpcClient(Asking):
    """Asks over gRPC. Threads may share it."""

    def __init__(self, target: str, settings: ClientSettings | None = None) -> None:
        """Nothing is sent yet.

        Args:
            target: of the server, `HOST:PORT`, or `dns:///HOST:PORT`.
            settings: see there; by TLS where they have `tls`.

        Raises:
            ValueError: no such address, or a token that would go there in the clear.
            OSError: a file of TLS cannot be read.
        """
        self._settings = settings or ClientSettings()
        self._words = words = grpc_words.Words.of(target, self._settings)
        self._calls = Calls(self._settings, words.bearer)
        if words.credentials is None:
            self._channel = grpc.insecure_channel(words.target, words.options)
        else:
            self._channel = grpc.secure_channel(words.target, words.credentials, words.options)

    def close(self) -> None:
        """See Asking."""
        self._channel.close()

    def ask(self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None) -> A:
        """See Asking."""
        message = grpc_words.message_of(facts, question.asked)

        def attempt(seconds: float) -> A:
            answer = question.answer()
            for part in self._parts(question, message, seconds):
                answer.MergeFrom(part)
            return answer

        return self._calls.make(attempt, timeout)

    def ask_in_parts(
        self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None
    ) -> Iterator[A]:
        """See Asking."""
        message = grpc_words.message_of(facts, question.asked)

        def attempt(seconds: float) -> tuple[A, Iterator[A]]:
            parts = self._parts(question, message, seconds)
            return next(parts, question.answer()), parts

        first, rest = self._calls.make(attempt, timeout)
        yield first
        yield from rest

    def judge_nodes_stream(self) -> NodeStream:
        """A stream in which nodes are registered once, then changed, then pods are judged for.

        Close it in the end.
        """
        return NodeStream(self._channel, self._words, self._calls)

    def _parts(self, question: Question[Q, A], message: Q, seconds: float) -> Iterator[A]:
        """The parts of an answer, one where it has none; BailiffError."""
        path, kinds = (
            question.grpc_path,
            (question.asked.SerializeToString, question.answer.FromString),
        )
        metadata = self._words.metadata()
        try:
            if question.in_parts:
                stream = self._channel.unary_stream(path, *kinds)
                yield from stream(message, timeout=seconds, metadata=metadata)
            else:
                yield self._channel.unary_unary(path, *kinds)(
                    message, timeout=seconds, metadata=metadata
                )
        except grpc_words.CALL_ERRORS as error:
            raise grpc_words.error_of_call(error) from error
