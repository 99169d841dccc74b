"""What carries spans to a collector, and what becomes of those that it does not take.

The queue and the thread that empties it are the SDK's, the request is the exporter's. Here stand
the bounds that neither has: how many spans wait, how much of an answer is read, how often a failure
is told, and how long the end of the process waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import threading
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

import bailiff
from bailiff.log_limit import LogLimit
from bailiff.tracing.otlp import OtelTracer, ReservingIds
from bailiff.tracing.settings import TracingUnusableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan, Span

    from bailiff.tracing.settings import TracingSettings

# A collector says nothing in its answer that is of use here. So much is read, and the connection
# kept; of a longer one no more is.
_MOST_READ = 64 * 1024
_TELL_EVERY = 60.0
_MILLION = 1e6


class Count(Protocol):
    """Counts spans by what became of them: `exported`, `failed` or `dropped`."""

    def __call__(self, fate: str, spans: int) -> None:
        """So many more."""
        ...


class Warn(Protocol):
    """Writes a line of the log, from any thread."""

    def __call__(self, event: str, **facts: object) -> object:
        """Write it."""
        ...


class Told(NamedTuple):
    """Who is told of spans.

    Attributes:
        spans: see there; called from several threads.
        warn: likewise.
    """

    spans: Count
    warn: Warn


class _Adapter(HTTPAdapter):
    """Reads 64 KiB of an answer at most: a collector that lies sends one without end."""

    last = ""

    def send(self, *arguments: Any, **more: Any) -> requests.Response:  # noqa: ANN401 - as requests'
        """See HTTPAdapter; keeps in a word how it went."""
        try:
            response = super().send(*arguments, **more | {"stream": True})
        except Exception as error:
            # Not its words: they may repeat a header.
            self.last = type(error).__name__
            raise
        self.last = f"HTTP {response.status_code}"
        if HTTPStatus.MULTIPLE_CHOICES <= response.status_code < HTTPStatus.BAD_REQUEST:
            # It is not followed, and the exporter would take it for a success.
            response.status_code = HTTPStatus.BAD_REQUEST
        response.raw = io.BytesIO(_head_of(response))
        return response


def _head_of(response: requests.Response) -> bytes:
    """What has come of an answer; its connection is closed unless that is all of it."""
    try:
        body: bytes = response.raw.read(_MOST_READ, decode_content=False)
        if response.raw.read(1, decode_content=False):
            response.raw.close()
    except (HTTPError, OSError):
        # The status has come, and it alone counts.
        response.raw.close()
        return b""
    return body


class _Exporter(SpanExporter):
    """The exporter, counted, its failures told at a limited rate."""

    def __init__(self, inner: SpanExporter, told: Told, why: Callable[[], str]) -> None:
        self._inner = inner
        self._told = told
        self._why = why
        self._limit = LogLimit(time.monotonic, _TELL_EVERY)
        self.handed = 0
        # Handed on, and told of; and nobody is told any more.
        self._settled = 0
        self._left = False
        self._lock = threading.Lock()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """See SpanExporter; called by one thread."""
        self.handed += len(spans)
        result = SpanExportResult.FAILURE
        try:
            result = self._inner.export(spans)
        finally:
            if self._settle(len(spans)):
                self._tell(result, len(spans))
        return result

    def _settle(self, spans: int) -> bool:
        """Count these as told of; False: `leave` has told of them."""
        with self._lock:
            self._settled += 0 if self._left else spans
            return not self._left

    def _tell(self, result: SpanExportResult, spans: int) -> None:
        if result is SpanExportResult.SUCCESS:
            self._told.spans("exported", spans)
        else:
            self._failed(spans)

    def leave(self) -> int:
        """Tell nobody any more; of how many spans somebody was told."""
        with self._lock:
            self._left = True
            return self._settled

    def _failed(self, spans: int) -> None:
        self._told.spans("failed", spans)
        left_out = self._limit.left_out()
        if left_out is not None:
            self._told.warn("spans not taken", spans=spans, why=self._why(), left_out=left_out)

    def shutdown(self) -> None:
        """See SpanExporter."""
        self._inner.shutdown()


class _Queue(SpanProcessor):
    """The SDK's, which never gets more than it has room for: it would drop in silence."""

    def __init__(self, exporter: _Exporter, settings: TracingSettings, told: Told) -> None:
        self._inner = BatchSpanProcessor(
            exporter,
            max_queue_size=settings.queue,
            max_export_batch_size=settings.batch,
            schedule_delay_millis=settings.delay,
        )
        self._exporter = exporter
        self._most = settings.queue
        self._told = told
        self._taken = 0
        self._lock = threading.Lock()
        self._closed = False

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """See SpanProcessor."""

    def on_end(self, span: ReadableSpan) -> None:
        """See SpanProcessor; from any thread."""
        if span.context is None or not span.context.trace_flags.sampled:
            return
        with self._lock:
            has_room = not self._closed and self._taken - self._exporter.handed < self._most
            self._taken += has_room
        if has_room:
            self._inner.on_end(span)
        else:
            self._told.spans("dropped", 1)

    def shutdown(self) -> None:
        """See SpanProcessor; blocks until all is sent, or for 30 s."""
        with self._lock:
            self._closed = True
        self._inner.shutdown()  # type: ignore[no-untyped-call]

    def leave(self) -> None:
        """Count as dropped what has no fate yet, also what a collector has in hand."""
        with self._lock:
            self._closed = True
            settled = self._exporter.leave()
            left, self._taken = self._taken - settled, settled
        if left:
            self._told.spans("dropped", left)

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """See SpanProcessor."""
        return self._inner.force_flush(timeout_millis)


class Tracing:
    """Traces to one collector, until it is closed.

    Attributes:
        tracer: by which spans are made.
    """

    def __init__(
        self,
        settings: TracingSettings,
        service: str,
        told: Told,
        exporter: SpanExporter | None = None,
    ) -> None:
        """Begin; a thread is started, which `close` ends. Nothing is sent yet.

        Args:
            settings: with an endpoint.
            service: as `bailiff-worker`; OTEL_SERVICE_NAME counts before it.
            told: see there.
            exporter: in place of one to the endpoint.

        Raises:
            TracingUnusableError: the environment has something that cannot be.
        """
        _silence()
        ids = ReservingIds()
        try:
            self._provider = TracerProvider(
                _sampler(settings), _resource(service), shutdown_on_exit=False, id_generator=ids
            )
            # Last, since it starts a thread.
            self._queue = _queue(settings, told, exporter)
        except (ValueError, OSError) as error:
            raise TracingUnusableError(f"tracing: {error}") from error
        self._provider.add_span_processor(self._queue)
        self.tracer = OtelTracer(self._provider, ids)

    async def close(self, within: float) -> None:
        """Send what waits, for so many seconds at most; what is left then is dropped."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def shut_down() -> None:
            self._provider.shutdown()
            with contextlib.suppress(RuntimeError):  # the loop has ended, and waits no more
                loop.call_soon_threadsafe(ended.set)

        # A daemon, as the SDK's own: a collector that hangs keeps no process.
        threading.Thread(target=shut_down, name="tracing ends", daemon=True).start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await ended.wait()
        self._queue.leave()


def _silence() -> None:
    """The libraries tell of each failure, and in it headers and what a collector says."""
    log = logging.getLogger("opentelemetry")
    log.propagate = False
    log.handlers = [logging.NullHandler()]


def _queue(settings: TracingSettings, told: Told, exporter: SpanExporter | None) -> _Queue:
    adapter = _Adapter()
    inner = exporter or OTLPSpanExporter(settings.endpoint, session=_session(adapter))
    return _Queue(_Exporter(inner, told, lambda: adapter.last), settings, told)


def _session(adapter: HTTPAdapter) -> requests.Session:
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    return session


def _sampler(settings: TracingSettings) -> ParentBased | None:
    """None: as the environment says."""
    if settings.per_million is None:
        return None
    return ParentBased(TraceIdRatioBased(settings.per_million / _MILLION))


def _resource(service: str) -> Resource:
    ours = {"service.name": service, "service.version": bailiff.__version__}
    return Resource.create({**ours, **OTELResourceDetector().detect().attributes})
