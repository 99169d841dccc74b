"""From the bytes of a kubelet's answer to a Summary, its pods only when somebody needs them.

That of 110 pods with two containers each has 480 kB, or 730 kB as the kubelet writes it with line
breaks, and takes 0.8 ms to decode, half of that without its pods: of most nodes, which have enough
of everything, nobody asks for those. It is decoded in the event loop: msgspec holds Python's lock
all the while, so that a thread would win nothing.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Raw

from bailiff.cluster.kubelets.errors import KubeletMalformedError
from bailiff.kinds.decode_errors import DecodeError
from bailiff.kinds.decoding import check_size, decode, decode_served
from bailiff.kinds.kubelet_configuration import Configz
from bailiff.kinds.meta import Value
from bailiff.kinds.stats import NodeStats, PodStats, Summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.kinds.kubelet_configuration import KubeletConfiguration

# A pod of two containers has 240 values, and a node 500 such pods at most. What is shorter than
# this takes 30 ms at worst, and is not counted: that alone would take 1 ms for 730 kB.
_SHORT = 2**20
_MAX_MARKS = 200_000
_MAX_QUOTED = 100


class _Head(Value, frozen=True):
    """A Summary whose pods are JSON still."""

    node: NodeStats = NodeStats()
    pods: Raw = Raw(b"[]")


class MeasuredNode:
    """What a kubelet has measured of its node; its pods are read when they are asked for.

    Attributes:
        node: of the node as a whole.
    """

    def __init__(self, node: NodeStats, pods: Raw | tuple[PodStats, ...]) -> None:
        self.node = node
        self._pods = pods

    @property
    def pods(self) -> tuple[PodStats, ...]:
        """Of its pods.

        Raises:
            KubeletMalformedError: that is nothing of the kind.
        """
        if isinstance(self._pods, Raw):
            with _told():
                # As a part of what it was sent in, so that it is read by the same rules.
                self._pods = decode_served(b'{"pods":%b}' % bytes(self._pods), Summary).pods
        return self._pods

    @property
    def summary(self) -> Summary:
        """All of it; raises as `pods`."""
        return Summary(node=self.node, pods=self.pods)


def decode_summary(data: bytes, node: str) -> MeasuredNode:
    """Read the summary of one node.

    Times are whole seconds (metav1.Time), so nothing finer is looked for.

    Args:
        data: UTF-8 JSON.
        node: the name of the node that was asked for.

    Raises:
        KubeletMalformedError: it is no summary, or that of another node: then somebody else
            answers at the node's address.
    """
    with _told():
        if len(data) > _SHORT:
            check_size(data, _MAX_MARKS)
        head = decode_served(data, _Head)
    named = head.node.node_name
    if named != node:
        quoted = repr(named[:_MAX_QUOTED])
        raise KubeletMalformedError(f"the summary is of the node {quoted}, not of {node!r}")
    return MeasuredNode(head.node, head.pods)


def decode_configuration(data: bytes, node: str) -> KubeletConfiguration:
    """Read the answer to GET /configz of one node; arguments as of `decode_summary`.

    Raises:
        KubeletMalformedError: it is no configuration.
    """
    try:
        return decode(data, Configz).kubeletconfig
    except DecodeError as error:
        path, reason = error.path[:_MAX_QUOTED], error.reason[:_MAX_QUOTED]
        told = f"/configz of {node} is no configuration: {path}: {reason}"
        raise KubeletMalformedError(told) from error


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except DecodeError as error:
        path, reason = error.path[:_MAX_QUOTED], error.reason[:_MAX_QUOTED]
        raise KubeletMalformedError(f"the answer is no summary: {path}: {reason}") from error
