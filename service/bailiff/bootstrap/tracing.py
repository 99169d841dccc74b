"""Tracing of one process: begun where it is wanted, and ended in time."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from prometheus_client import Counter

from bailiff.tracing import NO_TRACER
from bailiff.tracing.environment import forget_empty
from bailiff.tracing.log_ids import TRACE_IDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from prometheus_client import CollectorRegistry

    from bailiff.tracing import Tracer
    from bailiff.tracing.sending import Warn
    from bailiff.tracing.settings import TracingSettings

# Seconds for the last spans. With all else that ends a process it stays below the 30 s that
# Kubernetes gives a pod.
_FOR_LAST_SPANS = 2.0


def count_spans(registry: CollectorRegistry) -> Counter:
    """Register what becomes of spans; a process that traces nothing does not."""
    return Counter(
        "bailiff_tracing_spans_total",
        "Spans by fate: exported, failed (the collector did not take them), dropped (no room).",
        ("fate",),
        registry=registry,
    )


@contextlib.asynccontextmanager
async def traced(
    settings: TracingSettings, service: str, registry: CollectorRegistry, warn: Warn
) -> AsyncIterator[Tracer]:
    """A tracer, for as long as the block runs; its last spans are sent then, for 2 s at most.

    Args:
        settings: see there; without an endpoint nothing is traced, and nothing loaded.
        service: who it is that traces.
        registry: where spans are counted.
        warn: hears of a collector that takes none, at a limited rate.

    Raises:
        TracingUnusableError: OpenTelemetry's settings in the environment cannot be used.
    """
    if not settings.endpoint:
        yield NO_TRACER
        return
    forget_empty(os.environ)
    # Here, so that who traces nothing loads nothing.
    from bailiff.tracing.sending import Told, Tracing  # noqa: PLC0415

    spans = count_spans(registry)
    told = Told(lambda fate, number: spans.labels(fate).inc(number), warn)
    tracing = Tracing(settings, service, told)
    TRACE_IDS.tracer = tracing.tracer
    try:
        yield tracing.tracer
    finally:
        TRACE_IDS.tracer = NO_TRACER
        await tracing.close(_FOR_LAST_SPANS)
