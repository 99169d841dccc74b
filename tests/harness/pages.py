"""The worker's own pages without a port, a thread or a desk between: as they would be right now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bailiff.serving import Pulse
from bailiff.worker import Observed, create_status_app
from bailiff.worker.observe.listing import list_pending
from bailiff.worker.observe.queue_pages import write_down
from bailiff.worker.observe.wanted import listing_of
from tests.harness.turns import straight_through

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from starlette.types import ASGIApp, Receive, Scope, Send

    from bailiff.worker import Freshness, Worker
    from bailiff.worker.observe.queue_query import QueueQuery
    from bailiff.worker.timers.pending import PendingEvictions


def status_app(worker: Worker, registry: CollectorRegistry, freshness: Freshness) -> ASGIApp:
    """The pages of a worker whose heart beats whenever it is asked."""
    seen = Observed(worker, registry, freshness)
    pulse = Pulse(10.0, seen.verdicts, worker.clock.monotonic)
    app = create_status_app(pulse, seen.take, worker.clock)

    async def beating(scope: Scope, receive: Receive, send: Send) -> None:
        pulse.beat()
        await app(scope, receive, send)

    return beating


def queue_page(pending: PendingEvictions, query: QueueQuery) -> dict[str, Any]:
    """A page of the queue, but for what stands before the evictions."""
    listing = straight_through(list_pending(pending, listing_of(query)))
    page = straight_through(write_down({}, listing)).page(query.limit, query.place)
    body = b"".join(page.pieces)
    assert len(body) == page.length
    shown: dict[str, Any] = msgspec.json.decode(body)
    return shown
