"""The nodes of a stream of scheduling verdicts: what is registered, and what says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from bailiff.client import given, grpc_words
from bailiff.v1.device_taints_pb2 import DeviceTaintFacts
from bailiff.v1.kubernetes_pb2 import Node
from bailiff.v1.scheduling_service_pb2 import (
    JudgeNodesStreamRequest,
    Maintenance,
    NodeChanges,
    NodeSet,
)

if TYPE_CHECKING:
    from bailiff.client.questions import Json

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


@dataclass(frozen=True)
class Registered:
    """What the server is to know, so that it can be told anew when a stream has ended."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    maintenance: tuple[Maintenance, ...] = ()
    device_taints: DeviceTaintFacts | None = None

    def changed(self, put: Sequence[Node], gone: Sequence[str]) -> tuple[Registered, Requests]:
        """Those with a change, and what tells the server of it."""
        going = frozenset(gone)
        left = {name: node for name, node in self.nodes.items() if name not in going}
        changes = [NodeChanges(put=some) for some in _in_pieces(put)] or [NodeChanges()]
        changes[0].remove.extend(gone)
        made = replace(self, nodes=left | _by_name(put))
        return made, [JudgeNodesStreamRequest(changes=change) for change in changes]

    def all(self) -> Iterator[JudgeNodesStreamRequest]:
        """What tells a server that knows nothing."""
        first, *more = list(_in_pieces(self.nodes.values())) or [[]]
        told = NodeSet(nodes=first, maintenance=self.maintenance, device_taints=self.device_taints)
        yield JudgeNodesStreamRequest(nodes=told)
        for some in more:
            yield JudgeNodesStreamRequest(changes=NodeChanges(put=some))

    def pods_at_once(self) -> int:
        """About how many pods have answers that fit into one message: each repeats all names."""
        longest = sum(len(name) + _AROUND_A_NAME for name in self.nodes)
        return min(MOST_PODS, max(1, _ANSWER_BYTES // (longest + 1)))


def registering(
    nodes: Objects,
    maintenance: Iterable[Maintenance | Json],
    devices: DeviceTaintFacts | Json | None,
) -> Change:
    """These in place of all that were; InvalidQuestionError."""
    to_be = Registered(
        _by_name(slim(nodes)),
        tuple(
            grpc_words.message_of(one, Maintenance)
            for one in given.listed(maintenance, "$.maintenance")
        ),
        None if devices is None else grpc_words.message_of(devices, DeviceTaintFacts),
    )
    return lambda _: (to_be, list(to_be.all()))


def changing(put: Objects, remove: Iterable[str]) -> Change:
    """Some put, some removed; InvalidQuestionError."""
    names = {"remove": given.listed(remove, "$.remove")}
    there, gone = slim(put), grpc_words.message_of(names, NodeChanges).remove
    return lambda present: present.changed(there, gone)


def slim(nodes: Objects) -> list[Node]:
    """As messages without what no rule reads, most of a whole object; InvalidQuestionError."""
    found = []
    for one in given.listed(nodes, "$.nodes"):
        node = Node()
        node.CopyFrom(grpc_words.message_of(one, Node))
        # What Kubernetes' own bytes hold besides is kept as unknown by protobuf.
        node.DiscardUnknownFields()
        found.append(node)
    return found


def _by_name(nodes: Iterable[Node]) -> dict[str, Node]:
    return {node.metadata.name: node for node in nodes}


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
