"""From the bytes of a question to the bytes of its answer: parse, ask the core, serialise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bailiff.decisions import FactsError
from bailiff.grpc_api.counting import begin_counting
from bailiff.grpc_api.decisions import answer_writer
from bailiff.grpc_api.errors import (
    AnswerTooLargeError,
    MalformedError,
    OverloadedError,
    RefusedError,
    from_core,
)
from bailiff.grpc_api.fields import is_map
from bailiff.grpc_api.parts import parts
from bailiff.grpc_api.reading import LONG_READERS, READERS
from bailiff.serving import OverloadedError as NoTurnError
from bailiff.turns import is_long_protobuf
from bailiff.v1 import eviction_decision_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor

    from bailiff.clock import Clock
    from bailiff.decisions import Options, Plan, Question
    from bailiff.grpc_api.bounds import MessageBounds
    from bailiff.grpc_api.metrics import GrpcMetrics
    from bailiff.serving import Threads

T = TypeVar("T")

SERVICE = pb.DESCRIPTOR.services_by_name["EvictionDecisionService"]
IN_PARTS = "InParts"


class Desk(NamedTuple):
    """What all questions of a server are answered with.

    Attributes:
        clock: the instant of questions that name none.
        defaults: the options of questions that bring none.
        bounds: how long questions and answers may be.
        metrics: where decisions are counted.
        threads: where those are answered that take long.
    """

    clock: Clock
    defaults: Options
    bounds: MessageBounds
    metrics: GrpcMetrics
    threads: Threads


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
        self._lists = [f.name for f in request.fields if _holds_objects(f)]
        self._parse = READERS.parser(request)
        self._read = READERS.of_message(question.facts, request)
        self._parse_long = LONG_READERS.parser(request)
        self._read_long = LONG_READERS.of_message(question.facts, request)
        self._write = answer_writer(question, self._response)
        has_parts = SERVICE.methods_by_name.get(method.name + IN_PARTS)
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
        begin_counting()
        return self._written(self._plan(self._read_long(self._parse_long(data))), in_one)

    async def _answer(self, data: bytes, in_one: bool) -> bytes:
        with self._desk.bounds.admit(data, self._most):
            request = self._parsed_short(data)
            if request is None:
                return await self._in_thread(self.answer_long, data, in_one)
            plan = self._plan(self._read(request))
            if plan.is_quick:
                return self._written(plan, in_one)
            return await self._in_thread(self._written, plan, in_one)

    async def _in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        """The bytes are in the budget by now."""
        try:
            return await self._desk.threads.run(work, *arguments)
        except NoTurnError as error:
            raise OverloadedError(str(error)) from error

    def _parsed_short(self, data: bytes) -> Any:  # noqa: ANN401 - a WireMessage
        """The request; None if it is to be read in a thread, and nothing of it is kept till then.

        A malformed one, too: how long ones are read tells where it is at fault.
        """
        if is_long_protobuf(len(data)):
            return None
        try:
            request = self._parse(data)
        except MalformedError:
            return None
        objects = sum(len(getattr(request, name)) for name in self._lists)
        return None if is_long_protobuf(len(data), objects) else request

    def _plan(self, facts: Any) -> Plan[Any]:  # noqa: ANN401 - of the question's type
        try:
            return self._question.plan(facts, self._desk.clock.now(), self._desk.defaults)
        except FactsError as error:
            raise from_core(error) from error

    def _written(self, plan: Plan[Any], in_one: bool) -> bytes:
        answer = plan.answer()
        data = self._write(answer)
        if in_one:
            self._desk.bounds.check_answer(data, self._in_parts)
        self._desk.metrics.count_decisions(answer)
        return data


def _holds_objects(field: FieldDescriptor) -> bool:
    """Whether a field is a list of objects; a map has few entries, each of some length."""
    return field.is_repeated and field.message_type is not None and not is_map(field)
