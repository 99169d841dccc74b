"""From the bytes of a question to the bytes of its answer: parse, ask the core, serialise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bailiff.decisions import FactsError
from bailiff.grpc_api.decisions import answer_writer
from bailiff.grpc_api.errors import (
    AnswerTooLargeError,
    OverloadedError,
    RefusedError,
    from_core,
)
from bailiff.grpc_api.facts_readers import FactsReader
from bailiff.grpc_api.parts import parts
from bailiff.grpc_api.services import in_parts_of
from bailiff.serving import OverloadedError as NoTurnError
from bailiff.tracing import NO_TRACER
from bailiff.tracing.decided import decided
from bailiff.turns import is_long_protobuf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from google.protobuf.descriptor import MethodDescriptor

    from bailiff.clock import Clock
    from bailiff.decisions import Options, Plan, Question
    from bailiff.grpc_api.bounds import MessageBounds
    from bailiff.grpc_api.kept_bytes import KeptBytes
    from bailiff.grpc_api.metrics import GrpcMetrics
    from bailiff.serving import Threads
    from bailiff.tracing import Tracer

T = TypeVar("T")


class Desk(NamedTuple):
    """What all questions of a server are answered with.

    Attributes:
        clock: the instant of questions that name none.
        defaults: the options of questions that bring none.
        bounds: how long questions and answers may be.
        metrics: where decisions are counted.
        threads: where those are answered that take long.
        kept: what streams keep from one message to the next.
        tracer: makes a span of what the core is asked.
    """

    clock: Clock
    defaults: Options
    bounds: MessageBounds
    metrics: GrpcMetrics
    threads: Threads
    kept: KeptBytes
    tracer: Tracer = NO_TRACER


async def in_thread(desk: Desk, work: Callable[..., T], *arguments: object) -> T:
    """What some work comes to, in a thread; the bytes that it reads are in the budget by now.

    Raises:
        OverloadedError: its turn did not come in time.
        RefusedError: as the work.
    """
    try:
        return await desk.threads.run(work, *arguments)
    except NoTurnError as error:
        raise OverloadedError(str(error)) from error


class AskedByMethod:
    """One question of the core's table, as methods of the service ask it.

    Attributes:
        method: the name of the method that answers in one message.
    """

    def __init__(self, question: Question[Any], method: MethodDescriptor, desk: Desk) -> None:
        """Prepare.

        Args:
            question: what is asked.
            method: the method, whose messages are those of the question's types.
            desk: what it is answered with.

        Raises:
            TypeError: a type of the question has no place in the protos.
        """
        self.method = method.name
        self._question = question
        self._desk = desk
        self._most = desk.bounds.longest(question.size)
        request, self._response = method.input_type, method.output_type
        self._facts = FactsReader(question.facts, request)
        self._write = answer_writer(question, self._response)
        has_parts = in_parts_of(method)
        self._in_parts = "" if has_parts is None else has_parts.name

    def check(self, data: bytes) -> None:
        """Refuse a request that is too long; raises TooLargeError."""
        self._desk.bounds.check(data, self._most)

    async def answer(self, data: bytes, path: str = "") -> bytes:
        """The answer in one message.

        Args:
            data: the question.
            path: the field that holds it, if it came in another message.

        Raises:
            RefusedError: the question cannot be answered, or its answer not in one message.
        """
        try:
            return await self._answer(data, in_one=True)
        except AnswerTooLargeError:
            raise
        except RefusedError as error:
            if path:
                error.move_under(path)
            raise

    async def answer_in_parts(self, data: bytes) -> Iterable[bytes]:
        """The answer in several messages, which merge to it; errors as `answer`."""
        answer = await self._answer(data, in_one=False)
        most = self._desk.bounds.max_answer_bytes
        if not is_long_protobuf(len(answer)):
            return (answer,)
        return await self._in_thread(lambda: list(parts(answer, self._response, most)))

    def answer_long(self, data: bytes, in_one: bool) -> bytes:
        """The answer to a long question, for a thread of its own.

        Args:
            data: the question.
            in_one: the answer is told in one message.

        Raises:
            RefusedError: as `answer`.
        """
        return self._written(self._plan(self._facts.long(data)), in_one)

    async def _answer(self, data: bytes, in_one: bool) -> bytes:
        with self._desk.bounds.admit(data, self._most):
            facts = self._facts.short(data)
            if facts is None:
                return await self._in_thread(self.answer_long, data, in_one)
            plan = self._plan(facts)
            if plan.is_quick:
                return self._written(plan, in_one)
            return await self._in_thread(self._written, plan, in_one)

    async def _in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        return await in_thread(self._desk, work, *arguments)

    def _plan(self, facts: Any) -> Plan[Any]:  # noqa: ANN401 - of the question's type
        try:
            return self._question.plan(facts, self._desk.clock.now(), self._desk.defaults)
        except FactsError as error:
            raise from_core(error) from error

    def _written(self, plan: Plan[Any], in_one: bool) -> bytes:
        answer = decided(self._desk.tracer, self._question.name, plan)
        data = self._write(answer)
        if in_one:
            self._desk.bounds.check_answer(data, self._in_parts)
        self._desk.metrics.count_decisions(answer)
        return data
