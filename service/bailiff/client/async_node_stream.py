"""Scheduling verdicts over one stream, with `await`: nodes, their changes, then pods."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self

import grpc

from bailiff.client import grpc_words
from bailiff.client.calls import is_cancelled
from bailiff.client.dialogue import METHOD, Dialogue, ended
from bailiff.client.errors import late
from bailiff.client.registering import changing, registering
from bailiff.v1.scheduling_service_pb2 import JudgeNodesStreamResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from bailiff.client.calls import AsyncCalls
    from bailiff.client.grpc_words import Words
    from bailiff.client.judging import Terms
    from bailiff.client.questions import Json
    from bailiff.client.registering import Change, Objects, Requests
    from bailiff.v1.device_taints_pb2 import DeviceTaintFacts
    from bailiff.v1.kubernetes_pb2 import Pod
    from bailiff.v1.scheduling_service_pb2 import (
        JudgeNodesResponse,
        JudgeNodesStreamRequest,
        Maintenance,
    )


class AsyncNodeStream:
    """Nodes that a server knows for as long as this stream lives. Tasks may share it.

    A stream that ends, as each does after some minutes, is opened anew with the next call, and told
    the nodes again. All methods raise a `BailiffError`; what could not be registered leaves the
    nodes as they were.
    """

    def __init__(self, channel: grpc.aio.Channel, words: Words, calls: AsyncCalls) -> None:
        """Nothing is sent yet; `AsyncGrpcClient.judge_nodes_stream` is what callers use."""
        self._calls = calls
        self._dialogue = Dialogue(lambda: _Call(channel, words))
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the stream, and with it what others ask by it at the moment."""
        self._dialogue.close()

    @property
    def names(self) -> frozenset[str]:
        """Of the nodes that are registered."""
        return self._dialogue.names

    async def register(
        self,
        nodes: Objects,
        *,
        maintenance: Iterable[Maintenance | Json] = (),
        device_taints: DeviceTaintFacts | Json | None = None,
        timeout: float | None = None,
    ) -> None:
        """These nodes, in place of all that were."""
        await self._tell(registering(nodes, maintenance, device_taints), timeout)

    async def change(
        self, put: Objects = (), remove: Iterable[str] = (), *, timeout: float | None = None
    ) -> None:
        """Nodes that are new or changed, whole; and the names of those that are gone."""
        await self._tell(changing(put, remove), timeout)

    async def judge(
        self,
        pods: Iterable[Pod | Json],
        terms: Terms | None = None,
        *,
        timeout: float | None = None,
    ) -> list[JudgeNodesResponse]:
        """An answer for each pod, in their order."""
        judging, left = self._dialogue.about(pods, terms), self._calls.left(timeout)
        for question in judging:
            with judging.halved_if_too_long():
                async with self._alone(left):
                    judging.take(await self._make([question], left()))
        return judging.answers

    async def _tell(self, change: Change, timeout: float | None) -> None:
        left = self._calls.left(timeout)
        async with self._alone(left):
            with self._dialogue.telling(change) as requests:
                await self._make(requests, left())

    @asynccontextmanager
    async def _alone(self, left: Callable[[], float]) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(left()):
                await self._lock.acquire()
        except TimeoutError:
            raise late("others ask by this stream, and take long") from None
        try:
            yield
        finally:
            self._lock.release()

    async def _make(self, requests: Requests, timeout: float) -> JudgeNodesStreamResponse:
        """The last answer."""

        async def attempt(seconds: float) -> JudgeNodesStreamResponse:
            left = self._calls.left(seconds)
            with self._dialogue.attempt() as call:
                for request in self._dialogue.say(requests):
                    answer = self._dialogue.hear(await call.ask(request, left))
            return answer

        return await self._calls.make(attempt, timeout)


class _Call:
    def __init__(self, channel: grpc.aio.Channel, words: Words) -> None:
        with grpc_words.failing_as_ours():
            self._call = channel.stream_stream(*METHOD)(metadata=words.metadata())

    async def ask(
        self, request: JudgeNodesStreamRequest, left: Callable[[], float]
    ) -> JudgeNodesStreamResponse:
        """The next answer; BailiffError where there will be none."""
        try:
            async with asyncio.timeout(left()):
                with grpc_words.failing_as_ours():
                    await self._write(request)
                    answer = await self._call.read()
        except TimeoutError:
            raise late() from None
        except asyncio.CancelledError:
            # By itself the call is cancelled where it is closed, or its channel.
            if is_cancelled():
                raise
            raise ended() from None
        if not isinstance(answer, bytes):
            raise ended()
        return grpc_words.answer_of(JudgeNodesStreamResponse, answer)

    async def _write(self, request: JudgeNodesStreamRequest) -> None:
        if not self._call.done():
            # Here alone a call that is refused as a whole says why.
            await self._call.wait_for_connection()
        try:
            await self._call.write(request)
        except (grpc.RpcError, asyncio.InvalidStateError):
            # The call is over. Where the event loop has not heard of it yet, grpcio's error is an
            # INTERNAL of its own, which hides what the server said.
            raise ended() from None

    def close(self) -> None:
        """End the call; who waits for an answer is told so."""
        self._call.cancel()
