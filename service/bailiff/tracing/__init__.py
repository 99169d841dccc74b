"""Traces of what a process does; OpenTelemetry is loaded only where an endpoint is set."""

from bailiff.tracing.port import NO_TRACER, Attributes, Kind, Parent, Span, Tracer

__all__ = ["NO_TRACER", "Attributes", "Kind", "Parent", "Span", "Tracer"]
