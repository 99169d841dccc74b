"""What the worker counts, whatever the system; what one system counts, it keeps itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from bailiff.worker.timers.eviction import By

if TYPE_CHECKING:
    from collections.abc import Iterable

# Those of upstream's controllers, 5 ms to 4 min (pkg/controller/tainteviction/metrics).
DELETION_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240)
# From what a lone eviction takes to what a window may ask for.
_LATENESS_BUCKETS = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400)


# From a step that nobody notices to one that costs a Lease.
_LAG_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class WorkerMetrics:
    """All metrics of one worker."""

    def __init__(self, registry: CollectorRegistry, *, on_paper: bool = False) -> None:
        """Register all.

        Args:
            registry: where to.
            on_paper: nothing is evicted, in a dry run or as a shadow. Attempts are then counted
                under a name of their own, and what counts evictions is not registered, so that
                nobody takes the one for the other.
        """
        real = None if on_paper else registry
        self.attempts = _attempts_on_paper(registry) if on_paper else _attempts(registry)
        self.evictions = Counter(
            "bailiff_worker_evictions_total",
            "Evictions that the API server has taken, by way and by system. The ways: delete, "
            "evictionApi, or override: a delete after the hard deadline, against the budget.",
            ["by", "system"],
            registry=real,
        )
        self.lateness = Histogram(
            "bailiff_worker_lateness_seconds",
            "Seconds from a pod's deadline, by the API server's clock, until the API server had "
            "taken its eviction. The time for which policies hold the eviction is included.",
            buckets=_LATENESS_BUCKETS,
            registry=real,
        )
        self.cancelled = Counter(
            "bailiff_worker_evictions_cancelled_total",
            "Evictions that were scheduled and then cancelled because the pod may stay, by system.",
            ["system"],
            registry=registry,
        )
        self.events = Counter(
            "bailiff_worker_events_total",
            "Kubernetes Events by fate: written, failed, dropped because too many waited, fenced "
            "because another worker leads.",
            ["fate"],
            registry=registry,
        )
        self.shadow = Counter(
            "bailiff_worker_shadow_pods_total",
            "In shadow mode, pods by how the in-tree controller's deed compares with our decision: "
            "agreed, early, late, extra, missed.",
            ["result"],
            registry=registry,
        )
        self.audit_lines = Counter(
            "bailiff_worker_audit_lines_total",
            "Lines of the audit log by fate: written, failed, or dropped because too many waited.",
            ["fate"],
            registry=registry,
        )
        self.pending = Gauge(
            "bailiff_worker_evictions_pending",
            "Evictions that wait for their time or for a retry, or run.",
            registry=registry,
        )
        self.mirrored = Gauge(
            "bailiff_worker_mirrored_objects",
            "Objects held in memory, by kind.",
            ["kind"],
            registry=registry,
        )
        self.leader = Gauge(
            "bailiff_worker_leader",
            "1 while this worker is the one to act; always where there is no election.",
            registry=registry,
        )
        self.shards = Gauge(
            "bailiff_worker_shards",
            "Into how many shards this worker divides the nodes; workers should agree.",
            registry=registry,
        )
        self.shard = Gauge(
            "bailiff_worker_shard",
            "The shard that this worker looks after; -1 while it stands by for any of several.",
            registry=registry,
        )
        self.lease_transitions = Counter(
            "bailiff_worker_lease_transitions_total",
            "Changes of a Lease's holder that this worker has seen, its own included.",
            registry=registry,
        )
        self.clock_skew = Gauge(
            "bailiff_worker_clock_skew_seconds",
            "Seconds by which this machine's wall clock differs from the API server's. Above 0 it "
            "is ahead, below 0 behind. 0: it may be right.",
            registry=registry,
        )
        self.lease_renewal_age = Gauge(
            "bailiff_worker_lease_renewal_age_seconds",
            "Seconds since this worker sent the last successful renewal of its Lease. On a "
            "standby: since it last saw one, the oldest of several Leases. 0 without an election.",
            registry=registry,
        )
        self.watch_silence = Gauge(
            "bailiff_worker_watch_silence_seconds",
            "Seconds since the API server last said or answered anything to a watch.",
            ["resource"],
            registry=registry,
        )
        self.mirror_age = Gauge(
            "bailiff_worker_mirror_age_seconds",
            "Seconds by which the mirror of a resource may lie behind; 0 while its watch is well.",
            ["resource"],
            registry=registry,
        )
        self.evaluator_backlog = Gauge(
            "bailiff_worker_evaluator_backlog",
            "Nodes and pods that have changed and have not been evaluated yet.",
            registry=registry,
        )
        self.loop_lag = Histogram(
            "bailiff_worker_loop_lag_seconds",
            "By how much the event loop was late, ten times a second.",
            buckets=_LAG_BUCKETS,
            registry=registry,
        )
        self.synced = Gauge(
            "bailiff_worker_synced",
            "1 once nodes, pods, and the devices if they are followed, have been listed. Evictions "
            "by node taints wait for nodes and pods only.",
            registry=registry,
        )

    def expect(self, systems: Iterable[str]) -> None:
        """These will be counted: each from nought, so that the first is seen as a rise."""
        for system in systems:
            self.cancelled.labels(system)
            for by in By:
                self.evictions.labels(by.value, system)


class WatchMetrics:
    """What is counted of the watches that feed a worker."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.restarts = Counter(
            "bailiff_worker_watch_restarts_total",
            "Watches that had to start again, by resource and cause; ended is the usual one.",
            ["resource", "cause"],
            registry=registry,
        )
        self.unreadable = Counter(
            "bailiff_worker_unreadable_objects_total",
            "Objects in lists and watches that could not be decoded and were left out.",
            ["resource"],
            registry=registry,
        )
        self.refused = Counter(
            "bailiff_worker_refused_objects_total",
            "Objects in lists and watches that were beyond Kubernetes' own limits and were left "
            "out, by resource and reason.",
            ["resource", "reason"],
            registry=registry,
        )


def _attempts(registry: CollectorRegistry) -> Counter:
    return Counter(
        "bailiff_worker_eviction_attempts_total",
        "Attempts to evict a pod, by what they came to.",
        ["outcome"],
        registry=registry,
    )


def _attempts_on_paper(registry: CollectorRegistry) -> Counter:
    return Counter(
        "bailiff_worker_dry_run_attempts_total",
        "In a dry run or as a shadow, attempts to evict a pod that nothing came of, by what they "
        "would have come to.",
        ["outcome"],
        registry=registry,
    )
