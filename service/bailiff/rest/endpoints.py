"""The ASGI endpoints of the questions: from bytes to facts, from decision to bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import msgspec

from bailiff.decisions import OptionOverrides
from bailiff.kinds import decode
from bailiff.rest.exchange import read_body, reply, require_json
from bailiff.rest.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from bailiff.rest.live import LiveQuestions
    from bailiff.rest.operations import Question, Reading
    from bailiff.rest.questions import Questions
    from bailiff.rest.settings import RestSettings

_ENCODE = msgspec.json.Encoder().encode
_BOOLEANS = {"true": True, "false": False}


class QuestionEndpoint:
    """Answers from the facts in the body."""

    def __init__(self, question: Question, questions: Questions, settings: RestSettings) -> None:
        self._facts = question.facts
        self._ask = question.ask
        self._questions = questions
        self._limit = settings.max_batch_body_bytes if question.batch else settings.max_body_bytes
        self._timeout = settings.body_timeout_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = dict(scope["headers"])
        require_json(headers)
        body = await read_body(headers, receive, self._limit, self._timeout)
        answer = self._ask(self._questions, decode(body, self._facts))
        await reply(send, _ENCODE(answer))


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
