"""Streams of requests: one message at a time, its answer written before the next one is read.

That is the backpressure: `write` waits while the client does not read, and then nothing more is
taken from it. A request that cannot be answered gets its error in its response.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import grpc

from bailiff.decisions import FactsError
from bailiff.grpc_api.errors import from_core
from bailiff.grpc_api.interceptors import status_of
from bailiff.grpc_api.kept_bytes import NoRoomError
from bailiff.grpc_api.services import SERVICES
from bailiff.grpc_api.tracing import answering
from bailiff.grpc_api.wire import WHOLE, parse

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable, Callable
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    from google.protobuf.descriptor import MethodDescriptor

    from bailiff.grpc_api.interceptors import Context
    from bailiff.grpc_api.questions import AskedByMethod, Desk

    # What answers one request, parsed: the name of the response's field, and its bytes.
    Answers: TypeAlias = "Callable[[Any], Awaitable[tuple[str, bytes]]]"

# Characters of a `request_id`, which stands in the answer, too.
_LONGEST_ID = 1000
_OK, _CANCELLED = grpc.StatusCode.OK.name, grpc.StatusCode.CANCELLED.name
_CODES = {code.value[0]: code.name for code in grpc.StatusCode}


class RequestStream(ABC):
    """The streams of one method, whose requests and responses have a `request_id`.

    Attributes:
        method: see there.
    """

    def __init__(self, method: MethodDescriptor, desk: Desk) -> None:
        """Prepare."""
        self.method = method
        self._clock = desk.clock
        self._bounds = desk.bounds
        self._count = desk.metrics.requests.observe
        self._tracer = desk.tracer
        self._request = WHOLE.class_of(method.input_type)
        self._response = WHOLE.class_of(method.output_type)

    @abstractmethod
    def check(self, data: bytes) -> None:
        """Refuse a request that is too long; raises TooLargeError."""

    @abstractmethod
    def begin(self) -> AbstractContextManager[Answers]:
        """For one stream: what answers its requests, and is left when it ends."""

    async def serve(self, requests: AsyncIterable[bytes], context: Context) -> None:
        """Answer one stream."""
        with self.begin() as answer:
            async for data in requests:
                await context.write(await self._answer_in_span(data, answer))

    async def _answer_in_span(self, data: bytes, answer: Answers) -> bytes:
        if not self._tracer.enabled:
            return (await self._answer(data, answer))[0]
        name = f"{self.method.containing_service.full_name}/{self.method.name}"
        with answering(self._tracer, name) as outcome:
            try:
                written, outcome.code = await self._answer(data, answer)
            except NoRoomError as error:
                outcome.code = _CODES[error.grpc_code]
                raise
            return written

    async def _answer(self, data: bytes, answer: Answers) -> tuple[bytes, str]:
        """The response, and the name of the status that is in it."""
        start = self._clock.monotonic()
        request_id = ""
        code = _CANCELLED
        try:
            self.check(data)
            request = parse(self._request, data)
            _check_id(request.request_id)
            request_id = request.request_id
            written = self._written(request_id, *await answer(request))
            self._bounds.check_answer(written, "")
            code = _OK
        except NoRoomError as error:  # what the stream keeps is lost, so that it cannot go on
            code = _CODES[error.grpc_code]
            raise
        except Exception as error:  # noqa: BLE001 - the stream goes on whatever happens
            status = status_of(error)
            code = _CODES[status.code]
            written = self._written(request_id, "error", status.SerializeToString())
        finally:
            self._count((self.method.name, code), self._clock.monotonic() - start)
        return written, code

    def _written(self, request_id: str, field: str, told: bytes) -> bytes:
        response = self._response(request_id=request_id, **{field: told})
        data: bytes = response.SerializeToString()
        return data


def _check_id(request_id: str) -> None:
    """Refuse one that would make a short answer long; raises RefusedError."""
    if len(request_id) > _LONGEST_ID:
        rule = f"at most {_LONGEST_ID} characters are allowed, it has {len(request_id)}"
        raise from_core(FactsError("$.requestId", rule))


class DecideStreams(RequestStream):
    """DecideStream: the batches of a stream have nothing to do with each other."""

    def __init__(self, asked: AskedByMethod, desk: Desk) -> None:
        """Prepare; `asked` is the question about a batch."""
        service = SERVICES["EvictionDecisionService"]
        super().__init__(service.methods_by_name["DecideStream"], desk)
        self._asked = asked

    def check(self, data: bytes) -> None:
        """See RequestStream."""
        self._asked.check(data)

    def begin(self) -> AbstractContextManager[Answers]:
        """See RequestStream."""
        return nullcontext(self._answer_batch)

    async def _answer_batch(self, request: Any) -> tuple[str, bytes]:  # noqa: ANN401 - a WireMessage
        return "answer", await self._asked.answer(request.batch, "batch")
