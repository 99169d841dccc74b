"""The gRPC API, asked without `await`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import grpc

from bailiff.client import grpc_words
from bailiff.client.asking import Asking
from bailiff.client.calls import Calls
from bailiff.client.errors import late
from bailiff.client.node_stream import NodeStream
from bailiff.client.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.client.questions import A, Json, Q, Question
    from bailiff.client.settings import ClientSettings


class GrpcClient(Asking):
    """Asks over gRPC. Threads may share it."""

    def __init__(self, target: str, settings: ClientSettings | None = None) -> None:
        """Nothing is sent yet.

        Args:
            target: of the server, `HOST:PORT`, or `dns:///HOST:PORT`.
            settings: see there; by TLS where they have `tls`.

        Raises:
            TypeError: an address or settings of another type.
            ValueError: no such address, a token that would go there in the clear, or a file of TLS
                that cannot be read.
        """
        self._settings = settings_of(settings)
        self._words = words = grpc_words.Words.of(target, self._settings)
        self._calls = Calls(self._settings, words.bearer)
        if words.credentials is None:
            self._channel = grpc.insecure_channel(words.target, words.options)
        else:
            self._channel = grpc.secure_channel(words.target, words.credentials, words.options)

    def close(self) -> None:
        """See Asking."""
        self._calls.close()
        self._channel.close()

    def ask(self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None) -> A:
        """See Asking."""
        message = grpc_words.message_of(facts, question.asked)

        def attempt(seconds: float) -> A:
            parts = self._parts(question, message, seconds, seconds)
            answer = grpc_words.there(next(parts, None))
            for part in parts:
                answer.MergeFrom(part)
            return answer

        return self._calls.make(attempt, timeout)

    def ask_in_parts(
        self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None
    ) -> Iterator[A]:
        """See Asking."""
        message = grpc_words.message_of(facts, question.asked)
        left = self._calls.left(timeout)

        def attempt(seconds: float) -> tuple[A, Iterator[A]]:
            parts = self._parts(question, message, seconds, left())
            return grpc_words.there(next(parts, None)), parts

        first, rest = self._calls.make(attempt, left())
        with self._calls.unless_closed():
            yield first
            yield from rest

    def judge_nodes_stream(self) -> NodeStream:
        """A stream in which nodes are registered once, then changed, then pods are judged for.

        Close it in the end.
        """
        return NodeStream(self._channel, self._words, self._calls)

    def _parts(
        self, question: Question[Q, A], message: Q, first: float, last: float
    ) -> Iterator[A]:
        """The parts of an answer, one where it has none; BailiffError.

        Args:
            question: which it is.
            message: what is asked.
            first: seconds until the first part has come.
            last: seconds until the last one has.
        """
        path = question.grpc_path
        kinds = question.asked.SerializeToString, grpc_words.as_it_came
        metadata = self._words.metadata()
        with grpc_words.failing_as_ours():
            if question.in_parts:
                stream = self._channel.unary_stream(path, *kinds)
                call = stream(message, timeout=last, metadata=metadata)
                try:
                    for part in call if last <= first else _begun_within(first, call):
                        yield grpc_words.answer_of(question.answer, part)
                finally:
                    call.cancel()
            else:
                unary = self._channel.unary_unary(path, *kinds)
                answer = unary(message, timeout=first, metadata=metadata)
                yield grpc_words.answer_of(question.answer, grpc_words.there(answer))


def _begun_within(seconds: float, call: Any) -> Iterator[bytes]:  # noqa: ANN401 - grpcio's types of it are private
    """The parts of an answer, the first of them in time.

    grpcio bounds all of them together, and nothing but the end of the call ends a wait for one.
    """
    is_late = threading.Event()

    def give_up() -> None:
        is_late.set()
        call.cancel()

    watch = threading.Timer(seconds, give_up)
    watch.daemon = True
    watch.start()
    try:
        for part in call:
            watch.cancel()
            yield part
    except grpc.RpcError as error:
        if is_late.is_set():
            raise late() from error
        raise
    finally:
        watch.cancel()
        call.cancel()
