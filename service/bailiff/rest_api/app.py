"""The application: FastAPI with our routers, middleware and exception handlers; and its server."""

from __future__ import annotations

import secrets
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import msgspec
from fastapi import FastAPI
from starlette.applications import Starlette

import bailiff
from bailiff.access import Guarded, Rules, rest_rules
from bailiff.decisions import SYSTEMS
from bailiff.lookup import AllNodes, LookUps, NodePools
from bailiff.rest_api.access import refuse
from bailiff.rest_api.bodies import Bodies
from bailiff.rest_api.document import DESCRIPTION, LICENSE, SUMMARY, TAGS, document_of
from bailiff.rest_api.metrics import Metrics
from bailiff.rest_api.middleware import Boundary
from bailiff.rest_api.problems import HANDLERS, MEDIA_TYPE, ProblemCode, Refusal
from bailiff.rest_api.question_route import QuestionsFirst
from bailiff.rest_api.routers import docs, health
from bailiff.rest_api.routers.admission import admission_router, hook_paths
from bailiff.rest_api.routers.extender import extender_router
from bailiff.rest_api.routers.questions import cluster_router, decisions_router
from bailiff.rest_api.services import Services
from bailiff.rest_api.tracing import Traced
from bailiff.serving import Bounds, ByteBudget, Edge, Gate, HttpServer, Threads
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from http import HTTPStatus

    from fastapi import APIRouter
    from prometheus_client import CollectorRegistry
    from starlette.types import ASGIApp

    from bailiff.access import Guard
    from bailiff.clock import Clock
    from bailiff.decisions import Options, Systems
    from bailiff.lookup import Source
    from bailiff.rest_api.settings import RestSettings
    from bailiff.serving import ServingTls
    from bailiff.tracing import Tracer
    from bailiff.webhooks import Admission

# Of what never reaches the application.
_CODES = (
    ProblemCode.MALFORMED_REQUEST,
    ProblemCode.SLOW_BODY,
    ProblemCode.MISDIRECTED_REQUEST,
    ProblemCode.HEAD_TOO_LARGE,
    ProblemCode.OVERLOADED,
)
_BY_STATUS = {code.status: code for code in _CODES}


def create_app(
    settings: RestSettings,
    clock: Clock,
    registry: CollectorRegistry,
    defaults: Options,
    source: Source | None = None,
    systems: Systems = SYSTEMS,
    budget: ByteBudget | None = None,
    *,
    guard: Guard | None = None,
    gate: Gate | None = None,
    threads: Threads | None = None,
    admission: Admission | None = None,
    nodes: AllNodes | None = None,
    tracer: Tracer = NO_TRACER,
) -> FastAPI:
    """Put the REST face together.

    Args:
        settings: what it bears.
        clock: the instant of facts that name none, and durations.
        registry: where its metrics go; /metrics writes down all of it.
        defaults: the options of facts that bring none.
        source: the cluster to read; None: the operations that need one answer 503.
        systems: who answers, and what can be asked of them.
        budget: of the bytes that clients make the process hold; None: one of its own.
        guard: says who may ask what; None: everybody may ask everything.
        gate: through which work on the event loop begins; None: one of its own.
        threads: where questions are answered that take long; None: some of its own.
        admission: hooks that are asked here; None: none are.
        nodes: of that cluster; None: a list of its own.
        tracer: makes spans.
    """
    metrics, budget = Metrics(registry), budget or ByteBudget()
    age = settings.max_queue_age_seconds
    timeout = settings.cluster_timeout_seconds
    times = timeout, settings.max_cluster_reads, age
    if source is not None and nodes is None:
        nodes = AllNodes(source, clock, timeout)
    services = Services(
        systems=systems,
        clock=clock,
        options=defaults,
        metrics=metrics,
        registry=registry,
        bodies=Bodies(settings),
        threads=threads or settings.threads(budget),
        budget=budget,
        gate=gate or Gate(),
        max_queue_age=age,
        max_review_bytes=settings.max_review_body_bytes,
        admission=admission,
        look_ups=LookUps(source, systems, clock, *times) if source else None,
        nodes=NodePools(nodes, systems.all, clock, timeout) if nodes else None,
        tracer=tracer,
    )
    asked = [decisions_router(services), cluster_router(systems), extender_router(services)]
    routers = [*asked, health.router, docs.router]
    if admission is not None:
        routers.append(admission_router(services, admission))
    return _put_together(services, routers, guard)


def create_hook_app(services: Services, admission: Admission) -> FastAPI:
    """An application of hooks alone, for a port of their own; whoever reaches it may ask.

    Args:
        services: of the application on the REST port, which are shared.
        admission: the hooks.
    """
    services = replace(services, admission=admission)
    return _put_together(services, [admission_router(services, admission)], None)


def _put_together(services: Services, routers: list[APIRouter], guard: Guard | None) -> FastAPI:
    app = _application(services, guard)
    app.state.services = services
    app.add_middleware(Boundary, clock=services.clock, metrics=services.metrics)
    for router in routers:
        app.include_router(router)
    app.state.document = cache(lambda: msgspec.json.encode(app.openapi()))
    # Now, so that a route that asks for too much is refused at start-up.
    app.middleware_stack = app.build_middleware_stack()
    return app


class _Application(FastAPI):
    """FastAPI without layers for telemetry, which is off, and for what Boundary and Bodies do."""

    guard: Guard | None = None
    rules: Rules
    tracer: Tracer
    __call__ = Starlette.__call__

    def build_middleware_stack(self) -> ASGIApp:
        """FastAPI's from Boundary on, as every layer costs every request; and ours within.

        The guard stands right within Boundary, so that what it refuses has a request id and is
        counted, and before all that finds a route.
        """
        layer: Any = super().build_middleware_stack()
        while not isinstance(layer, Boundary):
            layer = layer.app
        handled: Any = layer.app
        handled.app = QuestionsFirst(self.routes, handled.app)
        if self.guard is not None:
            layer.app = Guarded(handled, self.guard, self.rules, refuse)
        return Traced(layer, self.tracer) if self.tracer.enabled else layer


def _application(services: Services, guard: Guard | None) -> FastAPI:
    app = _Application(
        title=docs.TITLE,
        summary=SUMMARY,
        description=DESCRIPTION,
        version=bailiff.__version__,
        license_info=LICENSE,
        openapi_tags=TAGS,
        # Ours are served from files that are here, and counted: see routers/docs.py.
        openapi_url=None,
        redirect_slashes=False,
        exception_handlers=HANDLERS,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    systems, hooks = services.systems, services.admission.paths if services.admission else ()
    app.guard, app.rules = guard, Rules(rest_rules(systems, hooks))
    app.tracer = services.tracer
    document = partial(document_of, app, systems, app.rules, hooks=bool(hooks))
    # FastAPI's way to extend the document, which type checkers take for a slip.
    app.openapi = cache(document)  # type: ignore[method-assign]
    return app


class RestServer(HttpServer):
    """The application behind a port that answers with problems, too."""

    def __init__(
        self,
        app: FastAPI,
        settings: RestSettings,
        edge: Edge | None = None,
        tls: ServingTls | None = None,
        **more: Any,  # noqa: ANN401 - as HttpServer's
    ) -> None:
        """Prepare; nothing is bound yet.

        Args:
            app: made by `create_app` or `create_hook_app`.
            settings: what the port bears.
            edge: what it shares with other ports; None: nothing but what the application has.
            tls: what its connections speak, which may change; None: no TLS.
            more: further arguments of HttpServer.

        Raises:
            TypeError: two types have one name.
        """
        # Now, so that nobody waits behind who asks for it first, and a fault of it is told.
        app.state.document()
        services: Services = app.state.services
        super().__init__(
            app,
            settings.host,
            settings.port,
            bounds=Bounds(**settings.model_dump(include=set(Bounds._fields))),
            refuse=_refuse,
            edge=edge or Edge(budget=services.budget, gate=services.gate),
            tls=tls,
            never_late=health.PROBES | hook_paths(services.admission),
            timeout_keep_alive=settings.keep_alive_seconds,
            **more,
        )
        self._services = services

    async def stop(self, grace: float) -> None:
        """As HttpServer's, and says so on /readyz first."""
        self._services.stopping = True
        await super().stop(grace)


def _refuse(status: HTTPStatus, detail: str) -> tuple[dict[str, str], bytes]:
    request_id = secrets.token_hex(6)
    problem = Refusal(_BY_STATUS[status], detail).problem(request_id, "")
    return {"Content-Type": MEDIA_TYPE, "X-Request-Id": request_id}, msgspec.json.encode(problem)
