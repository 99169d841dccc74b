"""The worker's own HTTP endpoint: what is pending, when and why; health; metrics."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from bailiff.worker.evaluator import Evaluator
    from bailiff.worker.pending import Eviction, PendingEvictions

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000


def create_status_app(
    pending: PendingEvictions,
    evaluator: Evaluator,
    registry: CollectorRegistry,
    role: Callable[[], dict[str, Any]],
) -> Starlette:
    """GET /healthz, /readyz, /metrics, /v1/queue, which begins with what `role` tells."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    async def readyz(_: Request) -> Response:
        if evaluator.mirror.synced:
            return PlainTextResponse("ok")
        return PlainTextResponse("nodes and pods have not been listed yet", status_code=503)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    async def queue(request: Request) -> Response:
        limit = _limit(request.query_params.get("limit"))
        if limit is None:
            return _problem(f"limit must be a whole number from 1 to {MAX_LIMIT}")
        return _json(200, role() | describe_queue(pending, evaluator, limit))

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/metrics", metrics),
            Route("/v1/queue", queue),
        ]
    )


def describe_queue(pending: PendingEvictions, evaluator: Evaluator, limit: int) -> dict[str, Any]:
    """The first `limit` evictions by their next try, and how many there are."""
    first = heapq.nsmallest(limit, pending, key=lambda eviction: eviction.next_try)
    return {
        "synced": evaluator.mirror.synced,
        "nodes": evaluator.mirror.node_count,
        "pods": evaluator.mirror.pod_count,
        "total": len(pending),
        "evictions": [_describe(eviction) for eviction in first],
    }


def _describe(eviction: Eviction) -> dict[str, Any]:
    meta = eviction.pod.metadata
    return {
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
        "node": eviction.pod.spec.node_name,
        "state": eviction.state.value,
        "evictAt": describe_time(eviction.deadline),
        "reason": eviction.finding.reason,
        "message": eviction.finding.message,
        "attempts": eviction.attempts,
        "lastOutcome": eviction.outcome,
    }


def _limit(text: str | None) -> int | None:
    if text is None:
        return DEFAULT_LIMIT
    # isdecimal alone would let through digits of other scripts and numbers of any length.
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_LIMIT))):
        return None
    return int(text) if 1 <= int(text) <= MAX_LIMIT else None


def _problem(detail: str) -> Response:
    body = {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": detail}
    return _json(400, body | {"code": "invalid_field"}, "application/problem+json")


def _json(status: int, body: dict[str, Any], media_type: str = "application/json") -> Response:
    return Response(msgspec.json.encode(body), status_code=status, media_type=media_type)
