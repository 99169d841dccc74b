"""Scheduling verdicts over one stream, with `await`: nodes, their changes, then pods."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self

from bailiff.client import grpc_words
from bailiff.client.errors import (
    DEADLINE,
    UNREACHABLE,
    Failure,
    TooLongError,
    error_of,
)
from bailiff.client.judging import asked_about, pods_of
from bailiff.client.registering import METHOD, Registered, checked, closed, slim, to_this
from bailiff.v1.scheduling_service_pb2 import (
    JudgeNodesResponse,
    JudgeNodesStreamRequest,
    JudgeNodesStreamResponse,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    import grpc

    from bailiff.client.calls import AsyncCalls
    from bailiff.client.grpc_words import Words
    from bailiff.client.judging import Terms
    from bailiff.client.questions import Json
    from bailiff.client.registering import Change, Objects, Requests
    from bailiff.v1.device_taints_pb2 import DeviceTaintFacts
    from bailiff.v1.kubernetes_pb2 import Pod
    from bailiff.v1.scheduling_service_pb2 import Maintenance


class AsyncNodeStream:
    """Nodes that a server knows for as long as this stream lives. Tasks may share it.

    A stream that ends, as each does after some minutes, is opened anew with the next call, and told
    the nodes again. All methods raise a `BailiffError`; what could not be registered leaves the
    nodes as they were.
    """

    def __init__(self, channel: grpc.aio.Channel, words: Words, calls: AsyncCalls) -> None:
        """Nothing is sent yet; `AsyncGrpcClient.judge_nodes_stream` is what callers use."""
        self._channel, self._words, self._calls = channel, words, calls
        self._registered = Registered()
        self._opened: _Opened | None = None
        # That one, or one that is yet to be told the nodes.
        self._latest: _Opened | None = None
        self._closed = False
        self._lock = asyncio.Lock()
        self._ids = itertools.count(1)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the stream, and with it what others ask by it at the moment."""
        self._closed = True
        if self._latest is not None:
            self._latest.close()

    @property
    def names(self) -> frozenset[str]:
        """Of the nodes that are registered."""
        return frozenset(self._registered.nodes)

    async def register(
        self,
        nodes: Objects,
        *,
        maintenance: Iterable[Maintenance | Json] = (),
        device_taints: DeviceTaintFacts | Json | None = None,
        timeout: float | None = None,
    ) -> None:
        """These nodes, in place of all that were."""
        to_be = Registered.of(nodes, maintenance, device_taints)
        await self._tell(lambda _: (to_be, list(to_be.all())), timeout)

    async def change(
        self, put: Objects = (), remove: Iterable[str] = (), *, timeout: float | None = None
    ) -> None:
        """Nodes that are new or changed, whole; and the names of those that are gone."""
        put, gone = slim(put), list(remove)
        await self._tell(lambda present: present.changed(put, gone), timeout)

    async def judge(
        self,
        pods: Iterable[Pod | Json],
        terms: Terms | None = None,
        *,
        timeout: float | None = None,
    ) -> list[JudgeNodesResponse]:
        """An answer for each pod, in their order."""
        asked, answers = pods_of(pods), list[JudgeNodesResponse]()
        left, most = self._calls.left(timeout), self._registered.pods_at_once()
        for begin in range(0, len(asked), most):
            answers += await self._judge(asked[begin : begin + most], terms, left)
        return answers

    async def _judge(
        self, pods: Sequence[Pod], terms: Terms | None, left: Callable[[], float]
    ) -> list[JudgeNodesResponse]:
        try:
            async with self._alone(left):
                (answer,) = await self._make([asked_about(pods, terms)], left())
        except TooLongError:
            if len(pods) < 2:
                raise
            half = len(pods) // 2
            first = await self._judge(pods[:half], terms, left)
            return first + await self._judge(pods[half:], terms, left)
        return list(answer.judged.answers)

    async def _tell(self, change: Change, timeout: float | None) -> None:
        left = self._calls.left(timeout)
        async with self._alone(left):
            to_be, requests = change(self._registered)
            try:
                await self._make(requests, left())
            except BaseException:
                # A part of it may have been taken: what was known before is told anew.
                self._drop()
                raise
            self._registered = to_be

    @asynccontextmanager
    async def _alone(self, left: Callable[[], float]) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(left()):
                await self._lock.acquire()
        except TimeoutError:
            told = "others ask by this stream, and take long"
            raise error_of(Failure(DEADLINE, told)) from None
        try:
            yield
        finally:
            self._lock.release()

    async def _make(
        self, requests: Requests, timeout: float | None
    ) -> list[JudgeNodesStreamResponse]:
        async def attempt(seconds: float) -> list[JudgeNodesStreamResponse]:
            deadline = asyncio.get_running_loop().time() + seconds
            self._opened = opened = self._opened or await self._open(deadline)
            return [await self._ask(opened, request, deadline) for request in requests]

        return await self._calls.make(attempt, timeout)

    async def _open(self, deadline: float) -> _Opened:
        self._latest = opened = _Opened(self._channel, self._words)
        try:
            for request in self._registered.all():
                await self._ask(opened, request, deadline)
        except BaseException:
            opened.close()
            raise
        return opened

    async def _ask(
        self, opened: _Opened, request: JudgeNodesStreamRequest, deadline: float
    ) -> JudgeNodesStreamResponse:
        request.request_id = str(next(self._ids))
        try:
            self._check_open()
            answer = await opened.ask(request, deadline)
        except BaseException:
            # Its answer may come yet, and would be taken for that of the next one.
            self._drop()
            raise
        return checked(answer)

    def _check_open(self) -> None:
        if self._closed:
            raise closed()

    def _drop(self) -> None:
        if self._opened is not None:
            self._opened.close()
        self._opened = None


def _is_cancelled() -> bool:
    """Whether it is the present task that is to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _Opened:
    """One call."""

    def __init__(self, channel: grpc.aio.Channel, words: Words) -> None:
        stream = channel.stream_stream(
            METHOD, JudgeNodesStreamRequest.SerializeToString, JudgeNodesStreamResponse.FromString
        )
        self._closed = False
        try:
            self._call = stream(metadata=words.metadata())
        except grpc_words.CALL_ERRORS as error:
            raise grpc_words.error_of_call(error) from error

    async def ask(
        self, request: JudgeNodesStreamRequest, deadline: float
    ) -> JudgeNodesStreamResponse:
        """The next answer; BailiffError where there will be none."""
        try:
            async with asyncio.timeout_at(deadline):
                await self._call.write(request)
                answer = await self._call.read()
        except TimeoutError:
            raise error_of(Failure(DEADLINE, "no answer in time")) from None
        except asyncio.CancelledError:
            if not self._closed or _is_cancelled():
                raise
            raise closed() from None
        except asyncio.InvalidStateError:
            raise error_of(Failure(UNREACHABLE, "the stream has ended")) from None
        except grpc_words.CALL_ERRORS as error:
            raise grpc_words.error_of_call(error) from error
        if not isinstance(answer, JudgeNodesStreamResponse):
            raise error_of(Failure(UNREACHABLE, "the server has ended the stream"))
        return to_this(request, answer)

    def close(self) -> None:
        """End the call; who waits for an answer is told so."""
        self._closed = True
        self._call.cancel()
