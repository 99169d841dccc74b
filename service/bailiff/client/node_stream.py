"""Scheduling verdicts over one stream, without `await`: nodes, their changes, then pods."""

from __future__ import annotations

import queue
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import grpc

from bailiff.client import grpc_words
from bailiff.client.dialogue import METHOD, Dialogue, ended
from bailiff.client.errors import BailiffError, late
from bailiff.client.registering import changing, registering
from bailiff.v1.scheduling_service_pb2 import JudgeNodesStreamResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bailiff.client.calls import Calls
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


class NodeStream:
    """Nodes that a server knows for as long as this stream lives. Threads may share it.

    A stream that ends, as each does after some minutes, is opened anew with the next call, and told
    the nodes again. All methods raise a `BailiffError`; what could not be registered leaves the
    nodes as they were.
    """

    def __init__(self, channel: grpc.Channel, words: Words, calls: Calls) -> None:
        """Nothing is sent yet; `GrpcClient.judge_nodes_stream` is what callers use."""
        self._calls = calls
        self._dialogue = Dialogue(lambda: _Call(channel, words))
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the stream, and with it what others ask by it at the moment."""
        self._dialogue.close()

    @property
    def names(self) -> frozenset[str]:
        """Of the nodes that are registered."""
        return self._dialogue.names

    def register(
        self,
        nodes: Objects,
        *,
        maintenance: Iterable[Maintenance | Json] = (),
        device_taints: DeviceTaintFacts | Json | None = None,
        timeout: float | None = None,
    ) -> None:
        """These nodes, in place of all that were."""
        self._tell(registering(nodes, maintenance, device_taints), timeout)

    def change(
        self, put: Objects = (), remove: Iterable[str] = (), *, timeout: float | None = None
    ) -> None:
        """Nodes that are new or changed, whole; and the names of those that are gone."""
        self._tell(changing(put, remove), timeout)

    def judge(
        self,
        pods: Iterable[Pod | Json],
        terms: Terms | None = None,
        *,
        timeout: float | None = None,
    ) -> list[JudgeNodesResponse]:
        """An answer for each pod, in their order."""
        judging, left = self._dialogue.about(pods, terms), self._calls.left(timeout)
        for question in judging:
            with judging.halved_if_too_long(), self._alone(left):
                judging.take(self._make([question], left()))
        return judging.answers

    def _tell(self, change: Change, timeout: float | None) -> None:
        left = self._calls.left(timeout)
        with self._alone(left), self._dialogue.telling(change) as requests:
            self._make(requests, left())

    @contextmanager
    def _alone(self, left: Callable[[], float]) -> Iterator[None]:
        if not self._lock.acquire(timeout=max(0.0, left())):
            raise late("others ask by this stream, and take long")
        try:
            yield
        finally:
            self._lock.release()

    def _make(self, requests: Requests, timeout: float) -> JudgeNodesStreamResponse:
        """The last answer."""

        def attempt(seconds: float) -> JudgeNodesStreamResponse:
            left = self._calls.left(seconds)
            with self._dialogue.attempt() as call:
                for request in self._dialogue.say(requests):
                    answer = self._dialogue.hear(call.ask(request, left))
            return answer

        return self._calls.make(attempt, timeout)


class _Call:
    """A thread of its own reads, so that nobody waits longer than they want."""

    def __init__(self, channel: grpc.Channel, words: Words) -> None:
        self._asked: queue.SimpleQueue[JudgeNodesStreamRequest | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes | BailiffError]
        self._answers = queue.SimpleQueue()
        with grpc_words.failing_as_ours():
            stream = channel.stream_stream(*METHOD)
            self._call = stream(iter(self._asked.get, None), metadata=words.metadata())
        self._reader = threading.Thread(target=self._read, name="bailiff-node-stream", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            for answer in self._call:
                self._answers.put(answer)
            self._answers.put(ended())
        except grpc.RpcError as error:
            self._answers.put(grpc_words.error_of_call(error))

    def ask(
        self, request: JudgeNodesStreamRequest, left: Callable[[], float]
    ) -> JudgeNodesStreamResponse:
        """The next answer; BailiffError where there will be none."""
        self._asked.put(request)
        try:
            answer = self._answers.get(timeout=max(0.0, left()))
        except queue.Empty:
            raise late() from None
        if isinstance(answer, BailiffError):
            raise answer
        return grpc_words.answer_of(JudgeNodesStreamResponse, answer)

    def close(self) -> None:
        """End the call, and with it the threads."""
        self._asked.put(None)
        self._call.cancel()
        self._reader.join()
