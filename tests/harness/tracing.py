"""Where spans end up in tests: in memory, or at a collector on loopback."""

from __future__ import annotations

import contextlib
import gzip
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased

from bailiff.tracing.otlp import OtelTracer, ReservingIds
from bailiff.tracing.sending import Told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.sdk.trace.sampling import Sampler

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
KEPT, LEFT_OUT = f"00-{TRACE}-{CALLER}-01", f"00-{TRACE}-{CALLER}-00"


class InMemory:
    """A tracer, and what it has written.

    Attributes:
        tracer: see there.
    """

    def __init__(self, sampler: Sampler | None = None) -> None:
        ids = ReservingIds()
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(
            sampler or ParentBased(ALWAYS_ON), shutdown_on_exit=False, id_generator=ids
        )
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = OtelTracer(provider, ids)

    def spans(self) -> list[ReadableSpan]:
        """All that have ended, in that order."""
        return list(self._exporter.get_finished_spans())

    def one(self, name: str) -> ReadableSpan:
        """The only one of this name."""
        (found,) = (span for span in self.spans() if span.name == name)
        return found

    def names(self) -> list[str]:
        """Of all of them."""
        return [span.name for span in self.spans()]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def trace_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.trace_id:032x}"


def id_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.span_id:016x}"


def parent_of(span: ReadableSpan) -> str:
    return "" if span.parent is None else f"{span.parent.span_id:016x}"


class Sent(NamedTuple):
    """A span as a collector gets it; ids in hexadecimal, times in nanoseconds."""

    service: str
    name: str
    trace: str
    span: str
    parent: str
    attributes: dict[str, Any]
    start: int
    end: int
    failed: bool


class Collector:
    """OTLP over HTTP on a free loopback port.

    Attributes:
        headers: of each request.
        answer: writes the answer; may be exchanged for one that is slow, hangs or lies.
    """

    def __init__(self) -> None:
        self.headers: list[dict[str, str]] = []
        self.answer: Callable[[BaseHTTPRequestHandler], None] = taken
        self._spans: list[Sent] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.headers.append({k.lower(): v for k, v in self.headers.items()})
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                collector._spans += _spans_in(body)
                collector.answer(self)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextlib.contextmanager
    def serving(self) -> Iterator[Collector]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()

    def spans(self) -> list[Sent]:
        """All that came so far."""
        return list(self._spans)

    def wait_for(self, name: str, within: float = 30.0) -> Sent:
        """The first span of a name, once it is there."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            for span in self.spans():
                if span.name == name:
                    return span
            time.sleep(0.05)
        raise AssertionError(f"no span {name}: {sorted({one.name for one in self.spans()})}")


def taken(request: BaseHTTPRequestHandler) -> None:
    """The answer of a collector that takes them."""
    request.send_response(200)
    request.send_header("content-length", "0")
    request.end_headers()


def busy(request: BaseHTTPRequestHandler) -> None:
    """Of one that takes none, and says why at length."""
    request.send_response(400, "no")
    request.send_header("content-length", "6")
    request.end_headers()
    request.wfile.write(b"secret")


def _spans_in(body: bytes) -> Iterator[Sent]:
    request = ExportTraceServiceRequest.FromString(body)
    for resource in request.resource_spans:
        service = _plain(resource.resource.attributes)["service.name"]
        for scope in resource.scope_spans:
            for one in scope.spans:
                yield Sent(
                    service,
                    one.name,
                    one.trace_id.hex(),
                    one.span_id.hex(),
                    one.parent_span_id.hex(),
                    _plain(one.attributes),
                    one.start_time_unix_nano,
                    one.end_time_unix_nano,
                    one.status.code == 2,
                )


def _plain(pairs: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in pairs}


class Ledger:
    """What became of spans, and what was said of it."""

    def __init__(self) -> None:
        self.fates: Counter[str] = Counter()
        self.lines: list[tuple[str, dict[str, object]]] = []

    def told(self) -> Told:
        return Told(self._count, self._warn)

    def _count(self, fate: str, spans: int) -> None:
        self.fates[fate] += spans

    def _warn(self, event: str, **facts: object) -> None:
        self.lines.append((event, facts))
