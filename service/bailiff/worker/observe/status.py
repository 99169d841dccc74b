"""The worker's own HTTP endpoint: what is pending, when and why; health; metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bailiff.worker.observe.queue_view import QueueQueryError, read_query, view

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request

    from bailiff.worker.mirror.freshness import Freshness
    from bailiff.worker.observe.liveness import Liveness
    from bailiff.worker.policy.control import PolicyControl
    from bailiff.worker.shadow.comparison import Comparison
    from bailiff.worker.timers.evaluator import Evaluator
    from bailiff.worker.timers.pending import PendingEvictions


class StatusPages:
    """GET /healthz, /readyz, /metrics, /v1/queue, /v1/policies and, in shadow mode, /v1/shadow."""

    def __init__(
        self,
        pending: PendingEvictions,
        evaluator: Evaluator,
        registry: CollectorRegistry,
        freshness: Freshness,
        role: Callable[[], dict[str, Any]],
        comparison: Comparison | None,
        policies: PolicyControl | None,
        liveness: Liveness | None,
        complain: Sequence[Callable[[], list[str]]],
    ) -> None:
        self._pending = pending
        self._evaluator = evaluator
        self._registry = registry
        self._freshness = freshness
        self._role = role
        self._comparison = comparison
        self._policies = policies
        self._liveness = liveness
        self._complain = complain

    async def healthz(self, _: Request) -> Response:
        """Nothing is wrong that a restart would mend."""
        return _verdict([] if self._liveness is None else self._liveness.complaints())

    async def readyz(self, _: Request) -> Response:
        """The mirror is whole and fresh, what the policies refer to is known, the clock right."""
        if not self._evaluator.mirror.synced:
            return _verdict(["nodes and pods have not been listed yet", *self._freshness.errors()])
        complaints = self._freshness.complaints() + self._evaluator.devices.complaints()
        if self._policies is not None:
            complaints += self._policies.complaints()
        complaints += [said for complain in self._complain for said in complain()]
        return _verdict(complaints)

    async def metrics(self, _: Request) -> Response:
        """All metrics of the process."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

    async def queue(self, request: Request) -> Response:
        """What is pending."""
        try:
            query = read_query(request.query_params)
        except QueueQueryError as error:
            return _problem(400, "Bad Request", "invalid_field", str(error))
        page = await view(self._pending, query)
        answer = self._role() | _picture(self._evaluator) | page
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
    pending: PendingEvictions,
    evaluator: Evaluator,
    registry: CollectorRegistry,
    freshness: Freshness,
    role: Callable[[], dict[str, Any]],
    comparison: Comparison | None = None,
    policies: PolicyControl | None = None,
    liveness: Liveness | None = None,
    complain: Sequence[Callable[[], list[str]]] = (),
) -> Starlette:
    """The worker's own pages; the answer of /v1/queue begins with what `role` tells.

    `/readyz` fails while any of `complain` says that something is wrong.
    """
    pages = StatusPages(
        pending, evaluator, registry, freshness, role, comparison, policies, liveness, complain
    )
    return Starlette(
        routes=[
            Route("/healthz", pages.healthz),
            Route("/readyz", pages.readyz),
            Route("/metrics", pages.metrics),
            Route("/v1/queue", pages.queue),
            Route("/v1/shadow", pages.shadow),
            Route("/v1/policies", pages.policies),
        ]
    )


def _picture(evaluator: Evaluator) -> dict[str, Any]:
    mirror, devices = evaluator.mirror, evaluator.devices
    return {
        "synced": mirror.synced and devices.synced,
        "nodes": mirror.node_count,
        "pods": mirror.pod_count,
        "deviceTaints": devices.describe(),
    }


def _verdict(complaints: list[str]) -> Response:
    text = "; ".join(complaints) or "ok"
    return PlainTextResponse(text, status_code=503 if complaints else 200)


def _problem(status: int, title: str, code: str, detail: str) -> Response:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code}
    return _json(status, body, "application/problem+json")


def _json(status: int, body: dict[str, Any], media_type: str = "application/json") -> Response:
    return Response(msgspec.json.encode(body), status_code=status, media_type=media_type)
