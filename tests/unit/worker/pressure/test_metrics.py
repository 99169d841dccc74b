"""Metrics that have upstream's names have upstream's buckets."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from bailiff.worker.systems.pressure.metrics import PressureMetrics


def test_the_age_of_stats_has_upstreams_buckets() -> None:
    registry = CollectorRegistry()
    PressureMetrics(registry, on_paper=False).stats_age.labels("memory.available").observe(7)
    bounds = [
        sample.labels["le"]
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name == "kubelet_eviction_stats_age_seconds_bucket"
    ]
    # DefBuckets in client_golang's prometheus/histogram.go.
    upstream = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0]
    assert bounds == [*map(str, upstream), "+Inf"]
