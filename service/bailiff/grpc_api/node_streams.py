"""JudgeNodesStream: nodes that a caller registers once, and pods that they are judged for.

What is registered belongs to one stream, and is gone with it.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bailiff.decisions import FactsError, Size
from bailiff.decisions.scheduling import (
    JudgeNodesResponse,
    NodesRegistered,
    PodsJudged,
    PodsToJudge,
)
from bailiff.grpc_api.errors import FieldError, RefusedError, from_core
from bailiff.grpc_api.facts_readers import FactsReader
from bailiff.grpc_api.fields import message_of
from bailiff.grpc_api.questions import in_thread
from bailiff.grpc_api.services import SERVICES
from bailiff.grpc_api.streams import RequestStream
from bailiff.grpc_api.writing import Writers
from bailiff.tracing.decided import decided

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from bailiff.decisions import Plan
    from bailiff.decisions.scheduling import JudgeNodes, RegisteredNodes
    from bailiff.grpc_api.kept_bytes import KeptByStream
    from bailiff.grpc_api.questions import Desk
    from bailiff.grpc_api.streams import Answers

    Take: TypeAlias = Callable[[Any], NodesRegistered]

T = TypeVar("T")

_METHOD = SERVICES["SchedulingService"].methods_by_name["JudgeNodesStream"]
_ASKED, _TOLD = _METHOD.input_type.fields_by_name, _METHOD.output_type.fields_by_name


def _write_shared(answer: JudgeNodesResponse, kept: dict[int, bytes]) -> bytes:
    """An answer that several pods share is written once; the answers live as long as `kept`."""
    data = kept.get(id(answer))
    if data is None:
        data = kept[id(answer)] = _write_judged(answer, None)
    return data


_judged = message_of(_TOLD["judged"])
_write_judged = Writers({}).of(JudgeNodesResponse, message_of(_judged.fields_by_name["answers"]))
_write_all = Writers({JudgeNodesResponse: _write_shared}).of(PodsJudged, _judged)
_write_registered = Writers({}).of(NodesRegistered, message_of(_TOLD["registered"]))


class _Tools(NamedTuple):
    """What all streams are answered with.

    Attributes:
        desk: as all questions.
        nodes: reads what is registered.
        changes: reads what has changed.
        pods: reads whom to judge for.
    """

    desk: Desk
    nodes: FactsReader
    changes: FactsReader
    pods: FactsReader


class NodeStreams(RequestStream):
    """The method."""

    def __init__(self, judge_nodes: JudgeNodes, desk: Desk) -> None:
        """Prepare.

        Raises:
            TypeError: a type of what is told has no place in the protos.
        """
        super().__init__(_METHOD, desk)
        self._judge_nodes = judge_nodes
        self._longest = desk.bounds.longest(Size.MANY)
        self._tools = _Tools(
            desk,
            FactsReader(judge_nodes.node_set, message_of(_ASKED["nodes"])),
            FactsReader(judge_nodes.node_changes, message_of(_ASKED["changes"])),
            FactsReader(PodsToJudge, message_of(_ASKED["pods"])),
        )

    def check(self, data: bytes) -> None:
        """See RequestStream."""
        self._tools.desk.bounds.check(data, self._longest)

    @contextmanager
    def begin(self) -> Iterator[Answers]:
        """See RequestStream."""
        with self._tools.desk.kept.of_stream() as kept:
            stream = _NodeStream(self._tools, self._judge_nodes.register(), kept, self._longest)
            yield stream.answer


class _NodeStream:
    """One stream."""

    def __init__(
        self, tools: _Tools, registered: RegisteredNodes, kept: KeptByStream, longest: int
    ) -> None:
        self._tools = tools
        self._registered = registered
        self._kept = kept
        self._longest = longest

    async def answer(self, request: Any) -> tuple[str, bytes]:  # noqa: ANN401 - a WireMessage
        """See RequestStream.

        Raises:
            RefusedError: it cannot be answered.
            NoRoomError: there is no room for what would be registered.
        """
        asked = request.WhichOneof("ask")
        if asked is None:
            raise FieldError("one of nodes, changes and pods is required")
        data = getattr(request, asked)
        try:
            with self._tools.desk.bounds.admit(data, self._longest):
                if asked == "pods":
                    return "judged", await self._judge(data)
                return "registered", await self._register(asked, data)
        except RefusedError as error:
            error.move_under(asked)
            raise

    async def _register(self, asked: str, data: bytes) -> bytes:
        replaces = asked == "nodes"
        reader = self._tools.nodes if replaces else self._tools.changes
        take: Take = self._registered.replace if replaces else self._registered.change
        facts = reader.short(data)
        if facts is None:
            told = await in_thread(self._tools.desk, _take_long, reader, take, data)
        else:
            told = _take(take, facts)
        self._kept.set(self._registered.held)
        return _write_registered(told, None)

    async def _judge(self, data: bytes) -> bytes:
        facts = self._tools.pods.short(data)
        if facts is None:
            return await in_thread(self._tools.desk, self._judge_long, data)
        if not self._registered.is_quickly_planned(facts, self._tools.desk.clock.now()):
            return await in_thread(self._tools.desk, self._judge_large, facts)
        plan = self._plan(facts)
        if plan.is_quick:
            return self._written(plan)
        return await in_thread(self._tools.desk, self._written, plan)

    def _judge_long(self, data: bytes) -> bytes:
        return self._judge_large(self._tools.pods.long(data))

    def _judge_large(self, facts: PodsToJudge) -> bytes:
        return self._written(self._plan(facts))

    def _plan(self, facts: PodsToJudge) -> Plan[PodsJudged]:
        desk = self._tools.desk
        return _by_core(partial(self._registered.plan, facts, desk.clock.now(), desk.defaults))

    def _written(self, plan: Plan[PodsJudged]) -> bytes:
        data = _write_all(decided(self._tools.desk.tracer, "judgeNodes", plan), {})
        self._tools.desk.bounds.check_answer(data, "")
        return data


def _take_long(reader: FactsReader, take: Take, data: bytes) -> NodesRegistered:
    return _take(take, reader.long(data))


def _take(take: Take, facts: Any) -> NodesRegistered:  # noqa: ANN401 - a NodeSet or NodeChanges
    return _by_core(partial(take, facts))


def _by_core(ask: Callable[[], T]) -> T:
    """What the core says; its errors in protobuf's idiom."""
    try:
        return ask()
    except FactsError as error:
        raise from_core(error) from error
