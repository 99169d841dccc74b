"""From the bytes of a kubelet's answer to a Summary.

That of 110 pods with two containers each has 480 kB, or 730 kB as the kubelet writes it with line
breaks, and takes 0.7 or 1.6 ms. It is decoded in the event loop: msgspec holds Python's lock all
the while, so that a thread would win nothing.
"""

from __future__ import annotations

from bailiff.cluster.kubelets.errors import KubeletMalformedError
from bailiff.kinds.decoding import DecodeError, check_size, decode_served
from bailiff.kinds.stats import Summary

# A pod of two containers has 240 values, and a node 500 such pods at most. What is shorter than
# this takes 30 ms at worst, and is not counted: that alone would take 1 ms for 730 kB.
_SHORT = 2**20
_MAX_MARKS = 200_000
_MAX_QUOTED = 100


def decode_summary(data: bytes, node: str) -> Summary:
    """Read the summary of one node.

    Times are whole seconds (metav1.Time), so nothing finer is looked for.

    Args:
        data: UTF-8 JSON.
        node: the name of the node that was asked for.

    Raises:
        KubeletMalformedError: it is no summary, or that of another node: then somebody else
            answers at the node's address.
    """
    try:
        if len(data) > _SHORT:
            check_size(data, _MAX_MARKS)
        summary = decode_served(data, Summary)
    except DecodeError as error:
        path, reason = error.path[:_MAX_QUOTED], error.reason[:_MAX_QUOTED]
        raise KubeletMalformedError(f"the answer is no summary: {path}: {reason}") from error
    named = summary.node.node_name
    if named != node:
        quoted = repr(named[:_MAX_QUOTED])
        raise KubeletMalformedError(f"the summary is of the node {quoted}, not of {node!r}")
    return summary
