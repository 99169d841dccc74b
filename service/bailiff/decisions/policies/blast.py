"""How much one cause evicts, such as a taint, and whether a person has acknowledged that.

A cause is its text (`Finding.cause`): of a taint its key, value and effect, on however many nodes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bailiff.decisions.policies.breaker import percent
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.decisions.policies.settings import BlastRadius
    from bailiff.kinds import DeviceTaintRule, Node, ResourceSlice

ANNOTATION = "bailiff.dev/acknowledged-taints"


class Blast(Value, frozen=True):
    """What the cause that evicts a pod does besides.

    Attributes:
        cause: what evicts the pod, such as the taint `key=value:NoExecute`.
        pods: all that it evicts, now or later.
        namespace_evicted: those of them in the pod's namespace.
        namespace_pods: all pods of that namespace that have not ended.
    """

    cause: str
    pods: int
    namespace_evicted: int
    namespace_pods: int


# Of an eviction whose system names no cause.
NO_BLAST = Blast(cause="", pods=0, namespace_evicted=0, namespace_pods=0)


def is_acknowledged(there: Node | DeviceTaintRule | ResourceSlice, cause: str) -> bool:
    """Whether the object's annotation lists the cause."""
    wanted = _normal(cause)
    listed = there.metadata.annotations.acknowledged_taints.split(",")
    return any(_normal(one) == wanted for one in listed)


def unacknowledged(
    there: Node | DeviceTaintRule | ResourceSlice, causes: Iterable[str]
) -> tuple[str, ...]:
    """Those of the causes that the object's annotation does not list, in their order."""
    return tuple(one for one in causes if not is_acknowledged(there, one))


def blast_excess(blast: Blast, bounds: BlastRadius, namespace: str) -> str | None:
    """Which bound the cause exceeds, in words; None: none."""
    if bounds.max_pods is not None and blast.pods > bounds.max_pods:
        return f"{blast.cause} evicts {blast.pods} pods, more than {bounds.max_pods}"
    most = bounds.max_namespace_fraction
    if most is None or blast.namespace_pods < bounds.min_namespace_pods:
        return None
    fraction = blast.namespace_evicted / blast.namespace_pods
    if fraction <= most:
        return None
    return (
        f"{blast.cause} evicts {blast.namespace_evicted} of {blast.namespace_pods} pods "
        f"({percent(fraction)}) of namespace {namespace}, more than {percent(most)}"
    )


def enough_pods(evicted: int, bounds: BlastRadius) -> int:
    """How many pods in a namespace are enough for so many evicted of them to exceed no fraction.

    0: however many there are. Whoever would have to count them stops there.
    """
    most = bounds.max_namespace_fraction
    if most is None or evicted / max(evicted, bounds.min_namespace_pods) <= most:
        return 0
    return math.floor(evicted / most) + 1


def _normal(text: str) -> str:
    """`key=:NoExecute` is what kubectl also takes for `key:NoExecute`."""
    return text.strip().replace("=:", ":")
