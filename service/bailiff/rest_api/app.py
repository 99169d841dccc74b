"""The application: FastAPI with our routers, middleware and exception handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI

import bailiff
from bailiff.decisions import SYSTEMS
from bailiff.lookup import LookUps
from bailiff.rest_api.asking import Asking
from bailiff.rest_api.bodies import Bodies
from bailiff.rest_api.dependencies import Services
from bailiff.rest_api.document import DESCRIPTION, LICENSE, SUMMARY, TAGS, Document
from bailiff.rest_api.failures import HANDLERS
from bailiff.rest_api.look_ups import LiveAnswers
from bailiff.rest_api.metrics import Metrics
from bailiff.rest_api.middleware import Boundary, HeadAsGet, InFlightLimit
from bailiff.rest_api.question_route import check_all
from bailiff.rest_api.routers import docs, health
from bailiff.rest_api.routers.cluster import cluster_router
from bailiff.rest_api.routers.decisions import decisions_router

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from bailiff.clock import Clock
    from bailiff.decisions import Options, Systems
    from bailiff.lookup import Source
    from bailiff.rest_api.settings import RestSettings


def create_app(
    settings: RestSettings,
    clock: Clock,
    registry: CollectorRegistry,
    defaults: Options,
    source: Source | None = None,
    systems: Systems = SYSTEMS,
) -> FastAPI:
    """Put the REST face together.

    Args:
        settings: what it bears.
        clock: the instant of facts that name none, and durations.
        registry: where its metrics go; /metrics writes down all of it.
        defaults: the options of facts that bring none.
        source: the cluster to read; None: the operations that need one answer 503.
        systems: who answers, and what can be asked of them.
    """
    metrics = Metrics(registry)
    asking = Asking(systems, clock, defaults, metrics)
    app = _application(systems)
    app.state.services = Services(
        registry=registry,
        cluster=None if source is None else _live_answers(source, asking, clock, settings),
    )
    # What is added last is asked first.
    app.add_middleware(HeadAsGet)
    app.add_middleware(InFlightLimit, most=settings.max_in_flight, exempt=health.PROBES)
    app.add_middleware(Boundary, clock=clock, metrics=metrics)
    # Routes are tried in order, and those of an included router twice: what is asked most stands
    # first, and in no router but the application's.
    app.router.routes.extend(decisions_router(asking, Bodies(settings)).routes)
    for router in (cluster_router(systems), health.router, docs.router):
        app.include_router(router)
    check_all(app.routes)
    return app


def _live_answers(
    source: Source, asking: Asking, clock: Clock, settings: RestSettings
) -> LiveAnswers:
    seconds, at_a_time = settings.cluster_timeout_seconds, settings.max_cluster_reads
    return LiveAnswers(LookUps(source, asking.systems, clock, seconds, at_a_time), asking)


def _application(systems: Systems) -> FastAPI:
    app = FastAPI(
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
    # FastAPI's way to extend the document, which type checkers take for a slip.
    app.openapi = Document(app, systems)  # type: ignore[method-assign]
    return app
