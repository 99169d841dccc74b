"""How much one taint evicts, and whether a person has acknowledged that.

A taint is its key, value and effect, on however many nodes: `identity_of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.policies.breaker import percent
from bailiff.decisions.text import describe_taint
from bailiff.kinds import Taint
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from bailiff.decisions.policies.settings import BlastRadius
    from bailiff.kinds import Node

ANNOTATION = "bailiff.dev/acknowledged-taints"


class Blast(Value, frozen=True):
    """What the taint that evicts a pod does besides.

    Attributes:
        taint: the one whose deadline counts for the pod.
        pods: all that it evicts, now or later.
        namespace_evicted: those of them in the pod's namespace.
        namespace_pods: all pods of that namespace that have not ended.
    """

    taint: Taint
    pods: int
    namespace_evicted: int
    namespace_pods: int


# Of an eviction that another system than the taints of nodes asks for.
NO_BLAST = Blast(taint=Taint(), pods=0, namespace_evicted=0, namespace_pods=0)


def is_acknowledged(node: Node, taint: Taint) -> bool:
    """Whether the node's annotation lists the taint."""
    wanted = _normal(describe_taint(taint))
    listed = node.metadata.annotations.acknowledged_taints.split(",")
    return any(_normal(one) == wanted for one in listed)


def blast_excess(blast: Blast, bounds: BlastRadius, namespace: str) -> str | None:
    """Which bound the taint exceeds, in words; None: none."""
    name = describe_taint(blast.taint)
    if bounds.max_pods is not None and blast.pods > bounds.max_pods:
        return f"taint {name} evicts {blast.pods} pods, more than {bounds.max_pods}"
    most = bounds.max_namespace_fraction
    if most is None or blast.namespace_pods < bounds.min_namespace_pods:
        return None
    fraction = blast.namespace_evicted / blast.namespace_pods
    if fraction <= most:
        return None
    return (
        f"taint {name} evicts {blast.namespace_evicted} of {blast.namespace_pods} pods "
        f"({percent(fraction)}) of namespace {namespace}, more than {percent(most)}"
    )


def _normal(text: str) -> str:
    """`key=:NoExecute` is what kubectl also takes for `key:NoExecute`."""
    return text.strip().replace("=:", ":")
