"""What the rest of Bailiff knows of tracing: a port, and the one that does nothing.

Only `otlp.py` knows OpenTelemetry. It takes 60 ms and 15 MiB to load, so a process that does not
trace never does so.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

# Of a span. Names of objects and numbers; never the contents of objects, headers or messages.
Attributes: TypeAlias = "Mapping[str, str | int | float | bool]"


class Kind(Enum):
    """What a span is to others: SERVER answers a request, INTERNAL is a step of ours."""

    SERVER = "server"
    INTERNAL = "internal"


class Parent(NamedTuple):
    """A span of whoever calls, as W3C Trace Context writes it.

    Attributes:
        traceparent: the header, as it came.
        tracestate: likewise; empty: there is none.
    """

    traceparent: str
    tracestate: str = ""


class Span(Protocol):
    """One span that is open.

    Attributes:
        is_kept: it is written in the end; else what it is told is in vain, and need not be counted.
    """

    @property
    def is_kept(self) -> bool:
        """See Attributes."""
        ...

    def name(self, name: str) -> None:
        """Call it otherwise, by one of few names."""
        ...

    def set(self, attributes: Attributes) -> None:
        """Add these, or put them in place of what was said before."""
        ...

    def fail(self, why: str) -> None:
        """It has failed; `why` is one of few words, as a class of errors or a status."""
        ...


class Tracer(Protocol):
    """Writes down what is done. No method blocks, waits or raises.

    Attributes:
        enabled: spans are made. Where every nanosecond counts, ask before you call anything.
    """

    enabled: bool

    def span(
        self,
        name: str,
        attributes: Attributes = ...,
        kind: Kind = ...,
        parent: Parent | None = None,
    ) -> AbstractContextManager[Span]:
        """A span for as long as the block runs, around all that begins in it.

        Args:
            name: one of few; what differs from call to call is an attribute.
            attributes: known from the start.
            kind: see there.
            parent: of another process; None, or one that is no traceparent: the span that is open.
        """
        ...

    def call(self, name: str, attributes: Attributes) -> AbstractContextManager[Span]:
        """A request that is sent; nothing where no span is open, as for a Lease or a watch."""
        ...

    def under(self, parent: Parent | None) -> AbstractContextManager[None]:
        """Spans that begin in this block are children of this parent.

        None, or one that cannot be read: the block changes nothing, and they are children of the
        span that is open already.
        """
        ...

    def headers(self) -> Mapping[str, str]:
        """What a request carries, so that its answer belongs to the open span; none: no span."""
        ...

    def here(self) -> Parent | None:
        """The open span, for what belongs to it and is done later; None: none is open."""
        ...

    def ids(self) -> Mapping[str, str]:
        """The open span, as `trace_id` and `span_id` of a log line; empty: none is open."""
        ...

    def reserve(self) -> str:
        """The traceparent of a span that is to be written once it is known how it ended.

        Others may be begun below it meanwhile, and nothing is kept of it. Empty: nothing is traced.
        """
        ...

    def write(self, reserved: str, name: str, seconds: float, attributes: Attributes) -> None:
        """Write a span that ends now, and that had been reserved.

        Args:
            reserved: see `reserve`.
            name: see `span`.
            seconds: ago it began.
            attributes: see `span`.
        """
        ...

    def past(self, name: str, parent: str, seconds: float, attributes: Attributes) -> None:
        """Write a span that ends now and began so many seconds ago, below a reserved one."""
        ...


class _NoSpan:
    """One that is not written."""

    is_kept = False

    def name(self, name: str) -> None:
        """See Span."""

    def set(self, attributes: Attributes) -> None:
        """See Span."""

    def fail(self, why: str) -> None:
        """See Span."""


NO_SPAN = _NoSpan()
_OPEN: AbstractContextManager[Span] = nullcontext(NO_SPAN)
_UNDER: AbstractContextManager[None] = nullcontext()
_NOTHING: Mapping[str, str] = {}


class _NoTracer:
    """Does nothing; see Tracer."""

    enabled = False

    def span(
        self,
        name: str,  # noqa: ARG002 - the port's
        attributes: Attributes = _NOTHING,  # noqa: ARG002
        kind: Kind = Kind.INTERNAL,  # noqa: ARG002
        parent: Parent | None = None,  # noqa: ARG002
    ) -> AbstractContextManager[Span]:
        """See Tracer."""
        return _OPEN

    def call(self, name: str, attributes: Attributes) -> AbstractContextManager[Span]:  # noqa: ARG002
        """See Tracer."""
        return _OPEN

    def under(self, parent: Parent | None) -> AbstractContextManager[None]:  # noqa: ARG002
        """See Tracer."""
        return _UNDER

    def headers(self) -> Mapping[str, str]:
        """See Tracer."""
        return _NOTHING

    def here(self) -> Parent | None:
        """See Tracer."""
        return None

    def ids(self) -> Mapping[str, str]:
        """See Tracer."""
        return _NOTHING

    def reserve(self) -> str:
        """See Tracer."""
        return ""

    def write(self, reserved: str, name: str, seconds: float, attributes: Attributes) -> None:
        """See Tracer."""

    def past(self, name: str, parent: str, seconds: float, attributes: Attributes) -> None:
        """See Tracer."""


NO_TRACER: Tracer = _NoTracer()
