"""Tracing by OpenTelemetry: the one module that knows it, loaded where an endpoint is set.

Nothing here waits: a span that has ended is put into a bounded queue, which a thread of the SDK
empties (`BatchSpanProcessor`).
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision, ParentBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

import bailiff
from bailiff.tracing.port import NO_SPAN, Kind, Parent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider

    from bailiff.tracing.port import Attributes, Span

# Of a caller's tracestate, which is kept with every span of the trace: what everybody must take
# (W3C Trace Context, 3.3.1.5).
_LONGEST_STATE = 512
_KINDS = {Kind.SERVER: trace.SpanKind.SERVER, Kind.INTERNAL: trace.SpanKind.INTERNAL}
_NOTHING: Mapping[str, str] = {}
_NANOSECONDS = 1e9
_WIRE = TraceContextTextMapPropagator()
_EMPTY = contexts.Context()
_NOWHERE: AbstractContextManager[Span] = nullcontext(NO_SPAN)


class OtelSpan:
    """See Span."""

    __slots__ = ("_span",)

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    @property
    def is_kept(self) -> bool:
        """See Span."""
        return self._span.is_recording()

    def name(self, name: str) -> None:
        """See Span."""
        self._span.update_name(name)

    def set(self, attributes: Attributes) -> None:
        """See Span."""
        self._span.set_attributes(dict(attributes))

    def fail(self, why: str) -> None:
        """See Span."""
        self._span.set_status(trace.StatusCode.ERROR)
        self._span.set_attribute("error.type", why)


class _Open:
    """A span that is open while a block runs.

    The library's own, of generators, takes half as long again. What a block raises stays out of the
    span: its words may be of objects, or of who has called.
    """

    __slots__ = ("_span", "_token")

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def __enter__(self) -> Span:
        self._token = contexts.attach(trace.set_span_in_context(self._span))
        return OtelSpan(self._span) if self._span.is_recording() else NO_SPAN

    def __exit__(self, *_: object) -> None:
        contexts.detach(self._token)
        self._span.end()


class ReservingIds(RandomIdGenerator):
    """Random ids, or those that a span was promised before it was begun."""

    def __init__(self) -> None:
        """Nothing is promised."""
        self.promised: ContextVar[trace.SpanContext | None] = ContextVar("promised", default=None)

    def generate_span_id(self) -> int:
        """See IdGenerator."""
        promised = self.promised.get()
        return super().generate_span_id() if promised is None else promised.span_id

    def generate_trace_id(self) -> int:
        """See IdGenerator."""
        promised = self.promised.get()
        return super().generate_trace_id() if promised is None else promised.trace_id


class OtelTracer:
    """See Tracer."""

    enabled = True

    def __init__(self, provider: TracerProvider, ids: ReservingIds) -> None:
        """Make spans by a provider.

        Args:
            provider: whoever made it also shuts it down.
            ids: must be the provider's own, since a reserved span is written by them.
        """
        self._tracer = provider.get_tracer("bailiff", bailiff.__version__)
        self._sampler = provider.sampler
        self._obeys = isinstance(provider.sampler, ParentBased)
        self._ids = ids

    def span(
        self,
        name: str,
        attributes: Attributes = _NOTHING,
        kind: Kind = Kind.INTERNAL,
        parent: Parent | None = None,
    ) -> AbstractContextManager[Span]:
        """See Tracer."""
        context = None if parent is None else _context_of(parent)
        if context is None and self._is_left_out():
            return _NOWHERE
        return _Open(self._tracer.start_span(name, context, _KINDS[kind], attributes))

    def _is_left_out(self) -> bool:
        """The open span is not kept, and so is none below it."""
        open_now = trace.get_current_span().get_span_context()
        return self._obeys and open_now.is_valid and not open_now.trace_flags.sampled

    def call(self, name: str, attributes: Attributes) -> AbstractContextManager[Span]:
        """See Tracer."""
        if not trace.get_current_span().get_span_context().is_valid:
            return _NOWHERE
        return _Open(self._tracer.start_span(name, None, trace.SpanKind.CLIENT, attributes))

    @contextmanager
    def under(self, parent: Parent | None) -> Iterator[None]:
        """See Tracer."""
        context = _context_of(parent)
        if context is None:
            yield
            return
        token = contexts.attach(context)
        try:
            yield
        finally:
            contexts.detach(token)

    def headers(self) -> Mapping[str, str]:
        """See Tracer."""
        found: dict[str, str] = {}
        _WIRE.inject(found)
        return found

    def here(self) -> Parent | None:
        """See Tracer."""
        found = self.headers()
        if "traceparent" not in found:
            return None
        return Parent(found["traceparent"], found.get("tracestate", ""))

    def ids(self) -> Mapping[str, str]:
        """See Tracer."""
        open_now = trace.get_current_span().get_span_context()
        if not open_now.is_valid:
            return _NOTHING
        return {
            "trace_id": trace.format_trace_id(open_now.trace_id),
            "span_id": trace.format_span_id(open_now.span_id),
        }

    def reserve(self) -> str:
        """See Tracer; samplers go by the trace's id, so they decide alike when it is written."""
        trace_id, span_id = self._ids.generate_trace_id(), self._ids.generate_span_id()
        decision = self._sampler.should_sample(_EMPTY, trace_id, "").decision
        sampled = decision is Decision.RECORD_AND_SAMPLE
        ids = f"{trace.format_trace_id(trace_id)}-{trace.format_span_id(span_id)}"
        return f"00-{ids}-{'01' if sampled else '00'}"

    def write(self, reserved: str, name: str, seconds: float, attributes: Attributes) -> None:
        """See Tracer."""
        promised = _span_of(reserved)
        if not promised.trace_flags.sampled:
            return
        token = self._ids.promised.set(promised)
        try:
            self._past(name, _EMPTY, seconds, attributes)
        finally:
            self._ids.promised.reset(token)

    def past(self, name: str, parent: str, seconds: float, attributes: Attributes) -> None:
        """See Tracer."""
        context = trace.set_span_in_context(trace.NonRecordingSpan(_span_of(parent)), _EMPTY)
        self._past(name, context, seconds, attributes)

    def _past(self, name: str, context: Context, seconds: float, attributes: Attributes) -> None:
        now = time.time_ns()
        began = now - int(max(0.0, seconds) * _NANOSECONDS)
        span = self._tracer.start_span(name, context, attributes=attributes, start_time=began)
        span.end(now)


def _context_of(parent: Parent | None) -> Context | None:
    """None where there is no parent, or none that can be read."""
    if parent is None or not parent.traceparent:
        return None
    carrier = {"traceparent": parent.traceparent}
    if parent.tracestate and len(parent.tracestate) <= _LONGEST_STATE:
        carrier["tracestate"] = parent.tracestate
    context = _WIRE.extract(carrier, _EMPTY)
    return context if trace.get_current_span(context).get_span_context().is_valid else None


def _span_of(traceparent: str) -> trace.SpanContext:
    """The span of a traceparent that was reserved here."""
    context = _WIRE.extract({"traceparent": traceparent}, _EMPTY)
    return trace.get_current_span(context).get_span_context()
