"""What client and server say to each other in a stream of scheduling verdicts: no I/O, no waiting.

A stream is one call after the other. Each ends some day, and the next one's server knows nothing,
so it is told the nodes first. Each request is followed by its answer, before the next is made.
`node_stream.py` and `async_node_stream.py` make the calls, carry requests and answers, and wait.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from bailiff.client import grpc_words
from bailiff.client.errors import (
    CLOSED,
    UNREACHABLE,
    UNREADABLE,
    BailiffError,
    Failure,
    error_of,
)
from bailiff.client.judging import Judging
from bailiff.client.registering import Registered
from bailiff.v1.scheduling_service_pb2 import JudgeNodesStreamRequest, JudgeNodesStreamResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bailiff.client.judging import Terms
    from bailiff.client.questions import Json
    from bailiff.client.registering import Change, Requests
    from bailiff.v1.kubernetes_pb2 import Pod

# As grpcio wants a method: its path, and how messages become bytes and the reverse, which is ours.
METHOD = (
    "/bailiff.v1.SchedulingService/JudgeNodesStream",
    JudgeNodesStreamRequest.SerializeToString,
    grpc_words.as_it_came,
)


class Call(Protocol):
    """One call, as far as it matters here."""

    def close(self) -> None:
        """End it; whoever waits for an answer gets a BailiffError. More than once does no harm."""


C = TypeVar("C", bound=Call)


class Dialogue(Generic[C]):
    """One speaks at a time, which the driver sees to; `close` may come at any moment."""

    def __init__(self, begin: Callable[[], C]) -> None:
        """Nothing said yet; `begin` makes a call, or raises a BailiffError."""
        self._begin = begin
        self._call: C | None = None
        self._registered = Registered()
        self._ids = itertools.count(1)
        # Whether the server of this call has been told the nodes, and the answer that is to come.
        self._told = False
        self._owed: str | None = None
        self._closed = False

    @property
    def names(self) -> frozenset[str]:
        """Of the nodes that are registered."""
        return frozenset(self._registered.nodes)

    def close(self) -> None:
        """There is no other call, and the last one is over."""
        self._closed = True
        self._end()

    def about(self, pods: Iterable[Pod | Json], terms: Terms | None) -> Judging:
        """What asks about these pods; InvalidQuestionError."""
        return Judging(pods, terms, self._registered.pods_at_once())

    @contextmanager
    def telling(self, change: Change) -> Iterator[Requests]:
        """What tells the server of a change, which is made where all of it was said."""
        to_be, requests = change(self._registered)
        try:
            yield requests
        except BaseException:
            # A part of it may have been taken: what was known before is told anew.
            self._told = False
            self._end()
            raise
        self._registered = to_be

    @contextmanager
    def attempt(self) -> Iterator[C]:
        """The call to speak by: another one where the last is of no use, and ended if it is."""
        self._check_open(None)
        if self._is_lost():
            self._told, self._owed = False, None
            self._call = self._begin()
        assert self._call is not None  # noqa: S101 - no server was told anything without
        try:
            yield self._call
        except BailiffError as error:
            self._check_open(error)
            raise
        finally:
            if self._is_lost():
                self._end()

    def say(self, requests: Requests) -> Iterator[JudgeNodesStreamRequest]:
        """What is to be sent now, each once the answer to the one before was heard."""
        # Who closes at the moment when a call is made knows of none to end.
        self._check_open(None)
        if not self._told:
            yield from map(self._asked, self._registered.all())
            self._told = True
        yield from map(self._asked, requests)

    def hear(self, answer: JudgeNodesStreamResponse) -> JudgeNodesStreamResponse:
        """The answer to what was said last; BailiffError where it is none, or a refusal."""
        if answer.request_id != self._owed:
            told = f"the answer to {answer.request_id!r} where {self._owed!r} was asked"
            raise error_of(Failure(UNREADABLE, told))
        self._owed = None
        if answer.HasField("error"):
            told = answer.error.message
            refused = grpc_words.error_of_status(answer.error)
            raise refused or error_of(Failure(UNREADABLE, told))
        return answer

    def _asked(self, request: JudgeNodesStreamRequest) -> JudgeNodesStreamRequest:
        request.request_id = self._owed = str(next(self._ids))
        return request

    def _is_lost(self) -> bool:
        """An answer that is owed may come yet, and would be taken for that of the next request."""
        return not self._told or self._owed is not None

    def _check_open(self, error: BailiffError | None) -> None:
        if self._closed:
            raise error_of(Failure(CLOSED, "the stream has been closed")) from error

    def _end(self) -> None:
        if self._call is not None:
            self._call.close()


def ended() -> BailiffError:
    """That the server says no more in this call."""
    return error_of(Failure(UNREACHABLE, "the stream has ended"))
