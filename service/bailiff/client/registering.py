"""The nodes of a stream of scheduling verdicts: what is registered, and what says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from bailiff.client import grpc_words
from bailiff.client.errors import CLOSED, UNREADABLE, Failure, error_of
from bailiff.v1.device_taints_pb2 import DeviceTaintFacts
from bailiff.v1.kubernetes_pb2 import Node
from bailiff.v1.scheduling_service_pb2 import (
    JudgeNodesStreamRequest,
    JudgeNodesStreamResponse,
    Maintenance,
    NodeChanges,
    NodeSet,
)

if TYPE_CHECKING:
    from bailiff.client.errors import BailiffError
    from bailiff.client.questions import Json

METHOD = "/bailiff.v1.SchedulingService/JudgeNodesStream"
# A message of nodes has about so many bytes, of the 16 MiB that the server takes.
_BYTES = 2 * 1024 * 1024

# At a time; the server takes 1,000. An answer in one message has at most 4 MiB.
MOST_PODS = 100
_ANSWER_BYTES = 3 * 1024 * 1024
_AROUND_A_NAME = 3

Objects: TypeAlias = Iterable[Node | Mapping[str, Any]]
Requests: TypeAlias = list[JudgeNodesStreamRequest]
# From what is registered to what is to be, and what tells the server of it.
Change: TypeAlias = Callable[["Registered"], tuple["Registered", Requests]]


class Registered:
    """What the server is to know, so that it can be told anew when a stream has ended."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._maintenance: tuple[Maintenance, ...] = ()
        self._device_taints: DeviceTaintFacts | None = None

    @classmethod
    def of(
        cls,
        nodes: Objects,
        maintenance: Iterable[Maintenance | Json],
        devices: DeviceTaintFacts | Json | None,
    ) -> Registered:
        """All that is to be known.

        Raises:
            InvalidQuestionError: something of it cannot be read.
        """
        made = cls()
        made.nodes = {node.metadata.name: node for node in slim(nodes)}
        made._maintenance = tuple(grpc_words.message_of(one, Maintenance) for one in maintenance)
        if devices is not None:
            made._device_taints = grpc_words.message_of(devices, DeviceTaintFacts)
        return made

    def changed(self, put: Sequence[Node], gone: Sequence[str]) -> tuple[Registered, Requests]:
        """Those with a change, and what tells the server of it."""
        made = Registered()
        made._maintenance, made._device_taints = self._maintenance, self._device_taints
        going = frozenset(gone)
        left = {name: node for name, node in self.nodes.items() if name not in going}
        made.nodes = left | {node.metadata.name: node for node in put}
        changes = [NodeChanges(put=some) for some in _in_pieces(put)] or [NodeChanges()]
        changes[0].remove.extend(gone)
        return made, [JudgeNodesStreamRequest(changes=change) for change in changes]

    def all(self) -> Iterator[JudgeNodesStreamRequest]:
        """What tells a server that knows nothing."""
        first, *more = list(_in_pieces(self.nodes.values())) or [[]]
        told = NodeSet(
            nodes=first, maintenance=self._maintenance, device_taints=self._device_taints
        )
        yield JudgeNodesStreamRequest(nodes=told)
        for some in more:
            yield JudgeNodesStreamRequest(changes=NodeChanges(put=some))

    def pods_at_once(self) -> int:
        """About how many pods have answers that fit into one message: each repeats all names."""
        longest = sum(len(name) + _AROUND_A_NAME for name in self.nodes)
        return min(MOST_PODS, max(1, _ANSWER_BYTES // (longest + 1)))


def to_this(
    asked: JudgeNodesStreamRequest, answer: JudgeNodesStreamResponse
) -> JudgeNodesStreamResponse:
    """The answer, where it is the one to what was asked; ServerError."""
    if answer.request_id != asked.request_id:
        told = f"the answer to {answer.request_id!r} where {asked.request_id!r} was asked"
        raise error_of(Failure(UNREADABLE, told))
    return answer


def checked(answer: JudgeNodesStreamResponse) -> JudgeNodesStreamResponse:
    """An answer that is no refusal; BailiffError."""
    if answer.HasField("error"):
        told = grpc_words.error_of_status(answer.error)
        raise told or error_of(Failure(UNREADABLE, answer.error.message))
    return answer


def closed() -> BailiffError:
    """That a stream is no more, since it was closed."""
    return error_of(Failure(CLOSED, "the stream has been closed"))


def slim(nodes: Objects) -> list[Node]:
    """As messages without what no rule reads, most of a whole object; InvalidQuestionError."""
    found = []
    for given in nodes:
        node = Node()
        node.CopyFrom(grpc_words.message_of(given, Node))
        # What Kubernetes' own bytes hold besides is kept as unknown by protobuf.
        node.DiscardUnknownFields()
        found.append(node)
    return found


def _in_pieces(nodes: Iterable[Node]) -> Iterator[list[Node]]:
    piece: list[Node] = []
    size = 0
    for node in nodes:
        piece.append(node)
        size += node.ByteSize()
        if size >= _BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece
