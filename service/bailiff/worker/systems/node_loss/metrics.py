"""What is counted of lost nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

# How a node that is watched may stand, as the gauge has it.
STATES = ("ready", "lost", "released", "contradicted")


class NodeLossMetrics:
    """Registered by a worker in node-loss mode."""

    def __init__(self, registry: CollectorRegistry, *, on_paper: bool) -> None:
        """Register; on paper nothing that counts evictions."""
        self.evictions = Counter(
            "bailiff_worker_node_loss_evictions_total",
            "Pods that were evicted because their node does not come back: deleted with their "
            "grace period, or forced since the machine is proven off.",
            ["how"],
            registry=None if on_paper else registry,
        )
        self.nodes = Gauge(
            "bailiff_worker_node_loss_nodes",
            "Nodes by how they stand: ready; lost; of those released, whose pods go; and "
            "contradicted, of which what is known cannot be.",
            ["state"],
            registry=registry,
        )
        self.stuck = Gauge(
            "bailiff_worker_node_loss_stuck_pods",
            "Pods on lost nodes that were deleted and do not go, and that nobody may force without "
            "proof that their machine is off.",
            registry=registry,
        )
        self.writes = Counter(
            "bailiff_worker_node_loss_writes_total",
            "Writes about lost nodes and their pods, by what was written and its fate.",
            ["what", "fate"],
            registry=registry,
        )
