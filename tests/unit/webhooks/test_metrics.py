"""What is counted of reviews."""

from __future__ import annotations

import math

from prometheus_client import CollectorRegistry

from bailiff.webhooks import AdmissionMetrics
from bailiff.webhooks.metrics import Result
from tests.harness.admission import hooks


def test_seconds_are_told_apart_up_to_the_most_that_a_hook_may_take() -> None:
    registry = CollectorRegistry()
    AdmissionMetrics(registry).observe("validate/evictions", Result.ALLOWED, 0.0)
    samples = [sample for metric in registry.collect() for sample in metric.samples]
    bounds = {float(sample.labels["le"]) for sample in samples if "le" in sample.labels}
    assert max(bounds - {math.inf}) == max(hook.patience for hook in hooks())
