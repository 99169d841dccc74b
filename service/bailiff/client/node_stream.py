"""Scheduling verdicts over one stream, without `await`: nodes, their changes, then pods."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import grpc

from bailiff.client import grpc_words
from bailiff.client.errors import (
    DEADLINE,
    UNREACHABLE,
    BailiffError,
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
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bailiff.client.calls import Calls
    from bailiff.client.grpc_words import Words
    from bailiff.client.judging import Terms
    from bailiff.client.questions import Json
    from bailiff.client.registering import Change, Objects, Requests
    from bailiff.v1.device_taints_pb2 import DeviceTaintFacts
    from bailiff.v1.kubernetes_pb2 import Pod
    from bailiff.v1.scheduling_service_pb2 import Maintenance


class NodeStream:
    """Nodes that a server knows for as long as this stream lives. Threads may share it.

    A stream that ends, as each does after some minutes, is opened anew with the next call, and told
    the nodes again. All methods raise a `BailiffError`; what could not be registered leaves the
    nodes as they were.
    """

    def __init__(self, channel: grpc.Channel, words: Words, calls: Calls) -> None:
        """Nothing is sent yet; `GrpcClient.judge_nodes_stream` is what callers use."""
        self._channel, self._words, self._calls = channel, words, calls
        self._registered = Registered()
        self._opened: _Opened | None = None
        # That one, or one that is yet to be told the nodes.
        self._latest: _Opened | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._ids = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the stream, and with it what others ask by it at the moment."""
        self._closed = True
        latest = self._latest
        if latest is not None:
            latest.close()

    @property
    def names(self) -> frozenset[str]:
        """Of the nodes that are registered."""
        return frozenset(self._registered.nodes)

    def register(
        self,
        nodes: Objects,
        *,
        maintenance: Iterable[Maintenance | Json] = (),
        device_taints: DeviceTaintFacts | Json | None = None,
        timeout: float | None = None,
    ) -> None:
        """These nodes, in place of all that were."""
        to_be = Registered.of(nodes, maintenance, device_taints)
        self._tell(lambda _: (to_be, list(to_be.all())), timeout)

    def change(
        self, put: Objects = (), remove: Iterable[str] = (), *, timeout: float | None = None
    ) -> None:
        """Nodes that are new or changed, whole; and the names of those that are gone."""
        put, gone = slim(put), list(remove)
        self._tell(lambda present: present.changed(put, gone), timeout)

    def judge(
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
            answers += self._judge(asked[begin : begin + most], terms, left)
        return answers

    def _judge(
        self, pods: Sequence[Pod], terms: Terms | None, left: Callable[[], float]
    ) -> list[JudgeNodesResponse]:
        try:
            with self._alone(left):
                (answer,) = self._make([asked_about(pods, terms)], left())
        except TooLongError:
            if len(pods) < 2:
                raise
            half = len(pods) // 2
            first = self._judge(pods[:half], terms, left)
            return first + self._judge(pods[half:], terms, left)
        return list(answer.judged.answers)

    def _tell(self, change: Change, timeout: float | None) -> None:
        left = self._calls.left(timeout)
        with self._alone(left):
            to_be, requests = change(self._registered)
            try:
                self._make(requests, left())
            except BaseException:
                # A part of it may have been taken: what was known before is told anew.
                self._drop()
                raise
            self._registered = to_be

    @contextmanager
    def _alone(self, left: Callable[[], float]) -> Iterator[None]:
        if not self._lock.acquire(timeout=max(0.0, left())):
            raise error_of(Failure(DEADLINE, "others ask by this stream, and take long"))
        try:
            yield
        finally:
            self._lock.release()

    def _make(self, requests: Requests, timeout: float | None) -> list[JudgeNodesStreamResponse]:
        def attempt(seconds: float) -> list[JudgeNodesStreamResponse]:
            deadline = time.monotonic() + seconds
            self._opened = opened = self._opened or self._open(deadline)
            return [self._ask(opened, request, deadline) for request in requests]

        return self._calls.make(attempt, timeout)

    def _open(self, deadline: float) -> _Opened:
        self._latest = opened = _Opened(self._channel, self._words)
        try:
            for request in self._registered.all():
                self._ask(opened, request, deadline)
        except BaseException:
            opened.close()
            raise
        return opened

    def _ask(
        self, opened: _Opened, request: JudgeNodesStreamRequest, deadline: float
    ) -> JudgeNodesStreamResponse:
        request.request_id = str(next(self._ids))
        try:
            self._check_open()
            answer = opened.ask(request, deadline)
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


class _Opened:
    """One call. A thread of its own reads, so that nobody waits longer than they want."""

    def __init__(self, channel: grpc.Channel, words: Words) -> None:
        self._asked: queue.SimpleQueue[JudgeNodesStreamRequest | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[JudgeNodesStreamResponse | BailiffError]
        self._answers = queue.SimpleQueue()
        self._closed = False
        stream = channel.stream_stream(
            METHOD, JudgeNodesStreamRequest.SerializeToString, JudgeNodesStreamResponse.FromString
        )
        try:
            self._call = stream(iter(self._asked.get, None), metadata=words.metadata())
        except grpc_words.CALL_ERRORS as error:
            raise grpc_words.error_of_call(error) from error
        self._reader = threading.Thread(target=self._read, name="bailiff-node-stream", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            for answer in self._call:
                self._answers.put(answer)
            ended = error_of(Failure(UNREACHABLE, "the server has ended the stream"))
        except grpc.RpcError as error:
            ended = closed() if self._closed else grpc_words.error_of_call(error)
        self._answers.put(ended)

    def ask(self, request: JudgeNodesStreamRequest, deadline: float) -> JudgeNodesStreamResponse:
        """The next answer; BailiffError where there will be none."""
        self._asked.put(request)
        try:
            answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise error_of(Failure(DEADLINE, "no answer in time")) from None
        if isinstance(answer, BailiffError):
            raise answer
        return to_this(request, answer)

    def close(self) -> None:
        """End the call, and with it the threads."""
        self._closed = True
        self._asked.put(None)
        self._call.cancel()
        self._reader.join()
