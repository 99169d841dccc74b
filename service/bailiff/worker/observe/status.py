"""The worker's own HTTP endpoint: what is pending, when and why; health; metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bailiff.worker.observe.queue_view import QueueQueryError, read_query, view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from bailiff.worker.mirror.freshness import Freshness
    from bailiff.worker.policy.control import PolicyControl
    from bailiff.worker.shadow.comparison import Comparison
    from bailiff.worker.worker import Worker


class Complaining(Protocol):
    """Who may know that something is wrong."""

    def complaints(self) -> list[str]:
        """What is wrong, for people; empty if nothing is."""
        ...


class StatusPages:
    """GET /healthz, /readyz, /metrics, /v1/queue, /v1/policies and, in shadow mode, /v1/shadow."""

    def __init__(
        self,
        worker: Worker,
        registry: CollectorRegistry,
        freshness: Freshness,
        comparison: Comparison | None,
        policies: PolicyControl | None,
        alarms: Sequence[Complaining],
    ) -> None:
        self._worker = worker
        self._registry = registry
        self._freshness = freshness
        self._comparison = comparison
        self._policies = policies
        self._alarms: tuple[Complaining, ...] = (freshness, *worker.systems.values(), *alarms)

    async def healthz(self, _: Request) -> Response:
        """Nothing is wrong that a restart would mend."""
        return _verdict(self._worker.liveness.complaints())

    async def readyz(self, _: Request) -> Response:
        """The mirror is whole and fresh, what the policies refer to is known, the clock right."""
        if not self._worker.mirror.synced:
            return _verdict(["nodes and pods have not been listed yet", *self._freshness.errors()])
        return _verdict([said for alarm in self._alarms for said in alarm.complaints()])

    async def metrics(self, _: Request) -> Response:
        """All metrics of the process."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

    async def queue(self, request: Request) -> Response:
        """What is pending."""
        try:
            query = read_query(request.query_params)
        except QueueQueryError as error:
            return _problem(400, "Bad Request", "invalid_field", str(error))
        page = await view(self._worker.pending, query)
        answer = self._worker.role() | _picture(self._worker) | page
        return _json(200, answer)

    async def shadow(self, _: Request) -> Response:
        """How the in-tree controller's deeds compare with our decisions."""
        if self._comparison is None:
            detail = "this worker is not in shadow mode: start it with --shadow"
            return _problem(404, "Not Found", "not_found", detail)
        return _json(200, self._comparison.report())

    async def policies(self, _: Request) -> Response:
        """The policies in force, since when, what became of the file's last change; the pause."""
        if self._policies is None:
            detail = "this worker has no policies: start it with --policies FILE"
            return _problem(404, "Not Found", "not_found", detail)
        return _json(200, self._policies.describe())


def create_status_app(
    worker: Worker,
    registry: CollectorRegistry,
    freshness: Freshness,
    comparison: Comparison | None = None,
    policies: PolicyControl | None = None,
    alarms: Sequence[Complaining] = (),
) -> Starlette:
    """The worker's own pages.

    `/readyz` fails while anybody complains: the freshness, the worker's systems, the policies, or
    one of `alarms`.
    """
    told = (*alarms, policies) if policies is not None else alarms
    pages = StatusPages(worker, registry, freshness, comparison, policies, told)
    app = Starlette(
        routes=[
            Route("/healthz", pages.healthz),
            Route("/readyz", pages.readyz),
            Route("/metrics", pages.metrics),
            Route("/v1/queue", pages.queue),
            Route("/v1/shadow", pages.shadow),
            Route("/v1/policies", pages.policies),
        ]
    )
    app.router.redirect_slashes = False
    return app


def _picture(worker: Worker) -> dict[str, Any]:
    mirror, systems = worker.mirror, worker.systems
    return {
        "synced": mirror.synced and all(one.synced for one in systems.values()),
        "nodes": mirror.node_count,
        "pods": mirror.pod_count,
        "systems": {name: one.describe() for name, one in systems.items()},
    }


def _verdict(complaints: list[str]) -> Response:
    text = "; ".join(complaints) or "ok"
    return PlainTextResponse(text, status_code=503 if complaints else 200)


def _problem(status: int, title: str, code: str, detail: str) -> Response:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code}
    return _json(status, body, "application/problem+json")


def _json(status: int, body: dict[str, Any], media_type: str = "application/json") -> Response:
    return Response(msgspec.json.encode(body), status_code=status, media_type=media_type)
