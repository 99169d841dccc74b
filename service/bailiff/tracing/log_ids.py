"""Which trace a line of the log belongs to, for structlog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.tracing.port import NO_TRACER

if TYPE_CHECKING:
    from bailiff.tracing.port import Tracer


class TraceIds:
    """A processor that adds `trace_id` and `span_id` where a span is open.

    Attributes:
        tracer: of the process, which has one at most.
    """

    def __init__(self) -> None:
        """No tracer yet: nothing is added."""
        self.tracer: Tracer = NO_TRACER

    def __call__(self, _logger: object, _method: str, entry: dict[str, Any]) -> dict[str, Any]:
        """See structlog's processors."""
        if self.tracer.enabled:
            entry.update(self.tracer.ids())
        return entry


TRACE_IDS = TraceIds()
