"""What is counted of pressure; upstream's metrics keep their names and buckets.

Python's client writes a counter's name with `_total` at its end, as OpenMetrics asks for.
Source: Evictions and EvictionStatsAge in pkg/kubelet/metrics/metrics.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


# DefBuckets in client_golang's prometheus/histogram.go, which upstream takes; Python's client has
# others by default.
_AGES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class PressureMetrics:
    """Registered by a worker in pressure mode."""

    def __init__(self, registry: CollectorRegistry, *, on_paper: bool) -> None:
        """Register; on paper nothing that counts evictions."""
        self.evictions = Counter(
            "kubelet_evictions",
            "Cumulative number of pod evictions by eviction signal.",
            ["eviction_signal"],
            registry=None if on_paper else registry,
        )
        self.stats_age = Histogram(
            "kubelet_eviction_stats_age_seconds",
            "Time between when stats are collected, and when pod is evicted based on those stats "
            "by eviction signal.",
            ["eviction_signal"],
            buckets=_AGES,
            registry=registry,
        )
        self.nodes = Gauge(
            "bailiff_worker_pressure_nodes",
            "Nodes that are watched for pressure, by state. Unknown: the summary or configuration "
            "cannot be read, or its stats are old. Pressed: a known node with a threshold met.",
            ["state"],
            registry=registry,
        )
        self.reads = Counter(
            "bailiff_worker_pressure_reads_total",
            "Attempts to read the summary of a node, by fate: read, or the reason of the failure.",
            ["fate"],
            registry=registry,
        )
        self.read_seconds = Histogram(
            "bailiff_worker_pressure_read_seconds",
            "Time that reading one summary took, decoding included.",
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5),
            registry=registry,
        )
        self.dry_runs = Counter(
            "bailiff_worker_pressure_dry_runs_total",
            "Rounds in which a pod would have gone for a threshold that only tells.",
            ["eviction_signal"],
            registry=registry,
        )
        self.writes = Counter(
            "bailiff_worker_pressure_writes_total",
            "Writes about nodes, by what was written and its fate.",
            ["what", "fate"],
            registry=registry,
        )
