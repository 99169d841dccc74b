"""The ASGI endpoints of the questions: from bytes to facts, from decision to bytes."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import msgspec

from bailiff.decisions import OptionOverrides
from bailiff.kinds import decode
from bailiff.rest_api.exchange import announced_length, read_body, reply, require_json
from bailiff.rest_api.operation import BodySize
from bailiff.rest_api.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.types import Receive, Scope, Send

    from bailiff.rest_api.live import LiveQuestions
    from bailiff.rest_api.operation import Question, Reading
    from bailiff.rest_api.questions import Questions
    from bailiff.rest_api.settings import RestSettings

_ENCODE = msgspec.json.Encoder().encode
# Bytes, about 20 ms of work: what is longer is answered in a thread of its own.
_LONG = 512 * 1024
_BOOLEANS = {"true": True, "false": False}


class LongBodies:
    """Lets few bodies at a time be longer than a batch's."""

    def __init__(self, settings: RestSettings) -> None:
        self._usual = settings.max_batch_body_bytes
        self._longest = settings.max_device_body_bytes
        self._most = settings.max_long_bodies
        self._taken = 0

    @contextmanager
    def admit(self, headers: Mapping[bytes, bytes]) -> Iterator[int]:
        """The length that a body with these headers may have.

        Raises:
            Refusal: overloaded.
        """
        if announced_length(headers) <= self._usual:
            yield self._usual
            return
        if self._taken >= self._most:
            detail = f"{self._most} bodies above {self._usual} bytes are being answered already"
            raise Refusal(ProblemCode.OVERLOADED, detail, headers={"Retry-After": "1"})
        self._taken += 1
        try:
            yield self._longest
        finally:
            self._taken -= 1


class QuestionEndpoint:
    """Answers from the facts in the body."""

    def __init__(
        self,
        question: Question,
        questions: Questions,
        settings: RestSettings,
        long_bodies: LongBodies,
    ) -> None:
        self._facts = question.facts
        self._ask = question.ask
        self._questions = questions
        self._limit = settings.max_body_bytes
        if question.size is BodySize.BATCH:
            self._limit = settings.max_batch_body_bytes
        self._long_bodies = long_bodies if question.size is BodySize.DEVICES else None
        self._timeout = settings.body_timeout_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = dict(scope["headers"])
        require_json(headers)
        if self._long_bodies is None:
            await reply(send, self._answer(await self._read(headers, receive, self._limit)))
            return
        with self._long_bodies.admit(headers) as limit:
            body = await self._read(headers, receive, limit)
            # A second of work must not keep all others waiting.
            slow = len(body) > _LONG
            answer = await asyncio.to_thread(self._answer, body) if slow else self._answer(body)
        await reply(send, answer)

    async def _read(self, headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> bytes:
        return await read_body(headers, receive, limit, self._timeout)

    def _answer(self, body: bytes) -> bytes:
        return _ENCODE(self._ask(self._questions, decode(body, self._facts)))


class ReadingEndpoint:
    """Answers from the cluster."""

    def __init__(self, reading: Reading, live: LiveQuestions) -> None:
        self._reading = reading
        self._live = live

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Serve one request."""
        overrides = OptionOverrides(explain=explain_of(scope))
        names = [scope["path_params"][parameter.name] for parameter in self._reading.parameters]
        answer = await self._reading.read(self._live, *names, overrides)
        await reply(send, _ENCODE(answer), head=scope["method"] == "HEAD")


def explain_of(scope: Scope) -> bool | None:
    """The query parameter `explain`; None where it is absent.

    Raises:
        Refusal: invalid_field.
    """
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    values = query.get("explain")
    if values is None:
        return None
    if len(values) != 1 or values[0] not in _BOOLEANS:
        raise Refusal(ProblemCode.INVALID_FIELD, "must be true or false", path="query.explain")
    return _BOOLEANS[values[0]]
