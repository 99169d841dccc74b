"""The gRPC API, asked with `await`."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import grpc

from bailiff.client import grpc_words
from bailiff.client.async_asking import AsyncAsking
from bailiff.client.async_node_stream import AsyncNodeStream
from bailiff.client.calls import AsyncCalls
from bailiff.client.errors import late
from bailiff.client.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from bailiff.client.questions import A, Json, Q, Question
    from bailiff.client.settings import ClientSettings


class AsyncGrpcClient(AsyncAsking):
    """Asks over gRPC, in one event loop."""

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
        self._words = grpc_words.Words.of(target, self._settings)
        self._calls = AsyncCalls(self._settings, self._words.bearer)
        self._opened: grpc.aio.Channel | None = None

    @property
    def _channel(self) -> grpc.aio.Channel:
        """Made when it is first used, since it belongs to the loop that runs then."""
        self._calls.loop()
        if self._opened is None:
            words = self._words
            self._opened = (
                grpc.aio.insecure_channel(words.target, words.options)
                if words.credentials is None
                else grpc.aio.secure_channel(words.target, words.credentials, words.options)
            )
        return self._opened

    async def close(self) -> None:
        """See AsyncAsking."""
        channel = self._channel
        self._calls.close()
        await channel.close()

    async def ask(
        self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None
    ) -> A:
        """See AsyncAsking."""
        message = grpc_words.message_of(facts, question.asked)

        async def attempt(seconds: float) -> A:
            parts = self._parts(question, message, seconds)
            answer = grpc_words.there(await anext(parts, None))
            async for part in parts:
                answer.MergeFrom(part)
            return answer

        return await self._calls.make(attempt, timeout)

    async def ask_in_parts(
        self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None
    ) -> AsyncIterator[A]:
        """See AsyncAsking."""
        message = grpc_words.message_of(facts, question.asked)
        left = self._calls.left(timeout)

        async def attempt(seconds: float) -> tuple[A, AsyncGenerator[A]]:
            parts = self._parts(question, message, left())
            try:
                async with asyncio.timeout(seconds):
                    return grpc_words.there(await anext(parts, None)), parts
            except TimeoutError as error:
                raise late() from error

        first, rest = await self._calls.make(attempt, left())
        with self._calls.unless_closed():
            yield first
            async with aclosing(rest):
                async for part in rest:
                    yield part

    def judge_nodes_stream(self) -> AsyncNodeStream:
        """A stream in which nodes are registered once, then changed, then pods are judged for.

        Close it in the end.
        """
        return AsyncNodeStream(self._channel, self._words, self._calls)

    async def _parts(
        self, question: Question[Q, A], message: Q, seconds: float
    ) -> AsyncGenerator[A]:
        """The parts of an answer, one where it has none; BailiffError."""
        path = question.grpc_path
        kinds = question.asked.SerializeToString, grpc_words.as_it_came
        metadata = self._words.metadata()
        with grpc_words.failing_as_ours():
            if question.in_parts:
                stream = self._channel.unary_stream(path, *kinds)
                call = stream(message, timeout=seconds, metadata=metadata)
                try:
                    async for part in call:
                        yield grpc_words.answer_of(question.answer, part)
                finally:
                    call.cancel()
            else:
                unary = self._channel.unary_unary(path, *kinds)
                answer = await unary(message, timeout=seconds, metadata=metadata)
                yield grpc_words.answer_of(question.answer, grpc_words.there(answer))
