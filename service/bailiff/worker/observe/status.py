"""The worker's own HTTP pages: what is pending, when and why; health; metrics.

They are answered in a thread of their own, out of snapshots, so nothing here may touch the worker.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bailiff.decisions.text import describe_time
from bailiff.worker.observe.queue_pages import write_down
from bailiff.worker.observe.queue_query import QueueQueryError, read_query
from bailiff.worker.observe.snapshots import BusyError, Snapshots
from bailiff.worker.observe.wanted import Report, beginning, listing_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator

    from prometheus_client import Metric
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from bailiff.clock import Clock
    from bailiff.serving import Answer, Pulse
    from bailiff.worker.observe.queue_pages import Page, QueuePages
    from bailiff.worker.observe.queue_query import QueueQuery
    from bailiff.worker.observe.snapshots import Kept
    from bailiff.worker.observe.wanted import Taken, Wanted

    # Waits until it is the turn of an address.
    Turn: TypeAlias = Callable[[str], Awaitable[None]]

_JSON = "application/json"
# Seconds, for whoever was refused because others ask so much.
_RETRY_AFTER = "1"
_ABSENT = {
    Report.SHADOW: "this worker is not in shadow mode: start it with --shadow",
    Report.POLICIES: "this worker has no policies: start it with --policies FILE",
}


class StatusPages:
    """GET /healthz, /readyz, /metrics, /v1/queue, /v1/policies and, in shadow mode, /v1/shadow."""

    def __init__(self, pulse: Pulse, snapshots: Snapshots, turn: Turn) -> None:
        self._pulse = pulse
        self._snapshots = snapshots
        self._turn = turn

    async def healthz(self, _: Request) -> Response:
        """Nothing is wrong that a restart would mend."""
        return _verdict(self._pulse.health())

    async def readyz(self, _: Request) -> Response:
        """The mirror is whole and fresh, what the policies refer to is known, the clock right."""
        return _verdict(self._pulse.readiness())

    async def metrics(self, _: Request) -> Response:
        """All metrics of the process."""
        kept = await self._snapshots.get(Report.METRICS)
        return Response(kept.told, headers=self._age(kept), media_type=CONTENT_TYPE_LATEST)

    async def queue(self, request: Request) -> Response:
        """What is pending."""
        try:
            query = read_query(request.query_params)
        except QueueQueryError as error:
            return _problem(400, "Bad Request", "invalid_field", str(error))
        kept = await self._listing(query)
        pages: QueuePages = kept.told
        page = pages.page(query.limit, query.place)
        return _InPieces(page, self._age(kept), self._turn)

    async def shadow(self, _: Request) -> Response:
        """How the in-tree controller's deeds compare with our decisions."""
        return await self._report(Report.SHADOW)

    async def policies(self, _: Request) -> Response:
        """The policies in force, since when, what became of the file's last change; the pause."""
        return await self._report(Report.POLICIES)

    async def _listing(self, query: QueueQuery) -> Kept:
        """A page that begins behind a place may be a part of the listing that begins before it."""
        if query.place is not None:
            kept = self._snapshots.fresh(beginning(query))
            if kept is not None and kept.told.has(query.place, query.limit):
                return kept
        return await self._snapshots.get(listing_of(query))

    async def _report(self, report: Report) -> Response:
        kept = await self._snapshots.get(report)
        if kept.told is None:
            return _problem(404, "Not Found", "not_found", _ABSENT[report])
        return Response(kept.told, headers=self._age(kept), media_type=_JSON)

    def _age(self, kept: Kept) -> dict[str, str]:
        """RFC 9111, 5.1: in whole seconds."""
        return {"Age": str(int(self._snapshots.age(kept)))}


async def _next_round(_address: str) -> None:
    await asyncio.sleep(0)


def create_status_app(
    pulse: Pulse,
    ask: Callable[[Wanted], Awaitable[Taken]],
    clock: Clock,
    turn: Turn = _next_round,
) -> Starlette:
    """The worker's own pages.

    Args:
        pulse: of the worker's loop, for probes.
        ask: for a snapshot of the worker.
        clock: the worker's, of which only the monotonic seconds are asked for.
        turn: waits until whoever asks from this address may be sent another piece of a page; if
            none is given, until the next round of the event loop.
    """
    pages = StatusPages(pulse, Snapshots(ask, _write, clock.monotonic), turn)
    app = Starlette(
        routes=[
            Route("/healthz", pages.healthz),
            Route("/readyz", pages.readyz),
            Route("/metrics", pages.metrics),
            Route("/v1/queue", pages.queue),
            Route("/v1/shadow", pages.shadow),
            Route("/v1/policies", pages.policies),
        ],
        exception_handlers={BusyError: _busy},
    )
    app.router.redirect_slashes = False
    return app


async def _write(wanted: Wanted, taken: Taken) -> Any:  # noqa: ANN401 - see Kept
    """What is told of a snapshot: bytes, or None for a report that there is not, or pages."""
    if wanted is Report.METRICS:
        return generate_latest(_Families(taken.what))
    if isinstance(wanted, Report):
        return None if taken.what is None else msgspec.json.encode(taken.what)
    head, listing = taken.what
    return await write_down(head | {"asOf": describe_time(taken.instant)}, listing)


class _Families:
    """Metrics that were collected already, for the library to write down."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """See the library's Collector."""
        return iter(self._families)


class _InPieces(Response):
    """JSON that is handed to the server piece by piece, as fast as the client reads."""

    def __init__(self, page: Page, headers: dict[str, str], turn: Turn) -> None:
        length = {"Content-Length": str(page.length)}
        super().__init__(headers=headers | length, media_type=_JSON)
        self._pieces, self._turn = page.pieces, turn

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start"} | start)
        address = str((scope.get("client") or ("",))[0])
        piece = next(self._pieces)
        for following in self._pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            # Others have theirs. And the server hears of a client that has gone between two rounds.
            await self._turn(address)
            piece = following
        await send({"type": "http.response.body", "body": piece})


async def _busy(_: Request, error: Exception) -> Response:
    said = _problem(503, "Service Unavailable", "overloaded", str(error))
    said.headers["Retry-After"] = _RETRY_AFTER
    return said


def _verdict(answer: Answer) -> Response:
    return PlainTextResponse(answer.text, status_code=200 if answer.is_well else 503)


def _problem(status: int, title: str, code: str, detail: str) -> Response:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code}
    encoded = msgspec.json.encode(body)
    return Response(encoded, status_code=status, media_type="application/problem+json")
