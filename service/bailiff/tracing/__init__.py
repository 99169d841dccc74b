"""Traces of what a process does.

What this package exports does not load OpenTelemetry. `otlp` and `sending` do, and
`bailiff.bootstrap.tracing` imports them once an endpoint is set.
"""

from bailiff.tracing.port import NO_TRACER, Attributes, Kind, Parent, Span, Tracer

__all__ = ["NO_TRACER", "Attributes", "Kind", "Parent", "Span", "Tracer"]
