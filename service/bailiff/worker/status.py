"""The worker's own HTTP endpoint: what is pending, when and why; health; metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bailiff.worker.queue_view import QueueQueryError, read_query, view

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from bailiff.worker.evaluator import Evaluator
    from bailiff.worker.freshness import Freshness
    from bailiff.worker.pending import PendingEvictions


def create_status_app(
    pending: PendingEvictions,
    evaluator: Evaluator,
    registry: CollectorRegistry,
    freshness: Freshness,
    role: Callable[[], dict[str, Any]],
) -> Starlette:
    """GET /healthz, /readyz, /metrics, /v1/queue, which begins with what `role` tells."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    async def readyz(_: Request) -> Response:
        if not evaluator.mirror.synced:
            return PlainTextResponse("nodes and pods have not been listed yet", status_code=503)
        complaints = freshness.complaints()
        if complaints:
            return PlainTextResponse("; ".join(complaints), status_code=503)
        return PlainTextResponse("ok")

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    async def queue(request: Request) -> Response:
        try:
            query = read_query(request.query_params)
        except QueueQueryError as error:
            return _problem(str(error))
        return _json(200, role() | _picture(evaluator) | view(pending, query))

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/metrics", metrics),
            Route("/v1/queue", queue),
        ]
    )


def _picture(evaluator: Evaluator) -> dict[str, Any]:
    mirror = evaluator.mirror
    return {"synced": mirror.synced, "nodes": mirror.node_count, "pods": mirror.pod_count}


def _problem(detail: str) -> Response:
    body = {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": detail}
    return _json(400, body | {"code": "invalid_field"}, "application/problem+json")


def _json(status: int, body: dict[str, Any], media_type: str = "application/json") -> Response:
    return Response(msgspec.json.encode(body), status_code=status, media_type=media_type)
