"""How many nodes fail, and what that means for evictions.

The idea is upstream's: where too many nodes of a zone fail at once, the fault is likely the
network's or the control plane's, and evicting would make it worse
(pkg/controller/nodelifecycle/node_lifecycle_controller.go, ComputeZoneState and HealthyQPSFunc).
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

from bailiff.kinds import LABEL_ZONE, NO_EXECUTE
from bailiff.kinds.meta import Value
from bailiff.kinds.taint import FAILING_NODE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.decisions.policies.settings import Breaker, Breakers
    from bailiff.kinds import Node

# Where the breaker of the cluster is; no zone can have this name, labels have no blanks.
CLUSTER = "the cluster"


class BreakerLevel(StrEnum):
    """What evictions do; the value is the metric label."""

    NORMAL = "normal"
    SLOW = "slow"
    STOPPED = "stopped"


class BreakerState(Value, frozen=True):
    """What a breaker says.

    Attributes:
        level: evictions go on, slowly, or not at all.
        message: why, for people; empty while evictions go on as usual.
        slow_per_second: how many evictions a second SLOW lets begin; None at the other levels.
    """

    level: BreakerLevel = BreakerLevel.NORMAL
    message: str = ""
    slow_per_second: float | None = None


NORMAL = BreakerState()


def zone_of(node: Node) -> str:
    """The zone of a node; empty where it names none.

    The label topology.kubernetes.io/zone alone: Kubernetes takes names of zones as unique across
    regions. (Upstream's GetZoneKey puts the region before it, and the labels of before 1.17.)
    """
    return node.metadata.labels.get(LABEL_ZONE, "")


def is_failing(node: Node) -> bool:
    """Whether the node carries not-ready or unreachable with the effect NoExecute."""
    return any(
        taint.effect == NO_EXECUTE and taint.key in FAILING_NODE for taint in node.spec.taints
    )


def describe_zone(zone: str) -> str:
    """`zone eu-1`, for the start of a message."""
    return f"zone {zone}" if zone else "nodes without a zone"


def judge(failing: int, total: int, breaker: Breaker, where: str = "cluster") -> BreakerState:
    """The state of a breaker; it depends on the present alone, so it closes by itself.

    Args:
        failing: nodes that fail, at most `total`.
        total: nodes there are.
        breaker: its settings.
        where: whose nodes, as `cluster` or what `describe_zone` says.
    """
    if total < breaker.min_nodes or failing < breaker.min_failing:
        return NORMAL
    fraction = failing / total
    facts = (
        f"{where}: {failing} of {total} nodes ({percent(fraction)}) are not ready or unreachable"
    )
    if fraction >= breaker.stop_at:
        message = f"{facts}, evictions stop at {percent(breaker.stop_at)}"
        return BreakerState(level=BreakerLevel.STOPPED, message=message)
    if fraction >= breaker.slow_at:
        message = f"{facts}, evictions slow down at {percent(breaker.slow_at)}"
        return BreakerState(
            level=BreakerLevel.SLOW, message=message, slow_per_second=breaker.slow_per_second
        )
    return NORMAL


def judge_all(nodes: Iterable[tuple[str, bool]], breakers: Breakers) -> dict[str, BreakerState]:
    """The states of the breakers of all zones that have nodes, and of CLUSTER.

    Args:
        nodes: of the whole cluster: the zone of each, and whether it fails.
        breakers: their settings.
    """
    counts: dict[str, tuple[int, int]] = {CLUSTER: (0, 0)}
    # Thousands of nodes are of few kinds.
    for (zone, fails), number in Counter(nodes).items():
        for where in (zone, CLUSTER):
            failing, total = counts.get(where, (0, 0))
            counts[where] = failing + number * fails, total + number
    states = {}
    for where, (failing, total) in counts.items():
        breaker = breakers.cluster if where == CLUSTER else breakers.zone
        name = "cluster" if where == CLUSTER else describe_zone(where)
        states[where] = judge(failing, total, breaker, name) if breaker else NORMAL
    return states


def percent(fraction: float) -> str:
    """`54.5 %`; one decimal at most."""
    return f"{100 * fraction:.1f}".removesuffix(".0") + " %"
