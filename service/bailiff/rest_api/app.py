"""The application: routes, and around them the boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

import bailiff
from bailiff.rest_api.boundary import Boundary
from bailiff.rest_api.document import DESCRIPTION, SUMMARY, TITLE, make_document
from bailiff.rest_api.endpoints import LongBodies, QuestionEndpoint, ReadingEndpoint
from bailiff.rest_api.live import LiveQuestions
from bailiff.rest_api.meters import Meters
from bailiff.rest_api.operations import QUESTIONS, READINGS
from bailiff.rest_api.pages import page_routes
from bailiff.rest_api.questions import Questions
from bailiff.rest_api.routes import Route, Switch
from bailiff.rest_api.upkeep import (
    HEALTHZ,
    KUBERNETES,
    METRICS,
    READYZ,
    VERSION,
    Health,
    JsonEndpoint,
    MetricsEndpoint,
    Readiness,
    Upkeep,
    Version,
)

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from starlette.types import ASGIApp, Receive, Scope, Send

    from bailiff.clock import Clock
    from bailiff.cluster.reader import ClusterReader
    from bailiff.decisions import Options
    from bailiff.rest_api.settings import RestSettings


class RestApp(FastAPI):
    """FastAPI with our document and our one layer of middleware.

    FastAPI's own layers turn exceptions into answers, close dependencies' resources, bound bodies
    and look into the environment for telemetry. Boundary and the endpoints do what of it applies
    here, and a request costs half.
    """

    def __init__(self, settings: RestSettings, clock: Clock, meters: Meters) -> None:
        super().__init__(
            title=TITLE,
            summary=SUMMARY,
            description=DESCRIPTION,
            version=bailiff.__version__,
            openapi_url=None,
            docs_url=None,
            redoc_url=None,
            redirect_slashes=False,
        )
        self._settings = settings
        self._clock = clock
        self._meters = meters
        self.readiness = Readiness()

    def build_middleware_stack(self) -> ASGIApp:
        """See RestApp."""
        switch = Switch(self.router)
        return Boundary(switch, self._clock, self._meters, self._settings.max_in_flight)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection scope."""
        scope["app"] = self
        if self.middleware_stack is None:
            self.middleware_stack = self.build_middleware_stack()
        await self.middleware_stack(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        """The document; made once."""
        if self.openapi_schema is None:
            self.openapi_schema = make_document()
        return self.openapi_schema


def create_app(
    settings: RestSettings,
    clock: Clock,
    registry: CollectorRegistry,
    defaults: Options,
    reader: ClusterReader | None = None,
) -> RestApp:
    """Put the REST face together.

    Args:
        settings: what it bears.
        clock: the instant of facts that name none, and durations.
        registry: where its metrics go; /metrics writes down all of it.
        defaults: the options of facts that bring none.
        reader: the cluster to read; None: the operations that need one answer 503.
    """
    meters = Meters(registry)
    questions = Questions(clock, defaults, meters)
    live = LiveQuestions(reader, questions, settings)
    app = RestApp(settings, clock, meters)
    # The router tries its routes in order: what is asked most stands first.
    app.router.routes[:] = [
        *_question_routes(questions, settings),
        *_reading_routes(live),
        *_upkeep_routes(registry, app.readiness),
        Route("/openapi.json", JsonEndpoint(app.openapi), methods=["GET"]),
        *page_routes(TITLE),
    ]
    return app


def _question_routes(questions: Questions, settings: RestSettings) -> list[Route]:
    long_bodies = LongBodies(settings)
    return [
        Route(
            operation.path,
            QuestionEndpoint(operation, questions, settings, long_bodies),
            methods=["POST"],
            name=operation.id,
        )
        for operation in QUESTIONS
    ]


def _reading_routes(live: LiveQuestions) -> list[Route]:
    return [
        Route(
            operation.path,
            ReadingEndpoint(operation, live),
            methods=["GET"],
            name=operation.id,
        )
        for operation in READINGS
    ]


def _upkeep_routes(registry: CollectorRegistry, readiness: Readiness) -> list[Route]:
    version = Version(version=bailiff.__version__, kubernetes=KUBERNETES)
    endpoints: tuple[tuple[Upkeep, ASGIApp], ...] = (
        (HEALTHZ, JsonEndpoint(lambda: Health(status="ok"))),
        (READYZ, JsonEndpoint(readiness.check)),
        (VERSION, JsonEndpoint(lambda: version)),
        (METRICS, MetricsEndpoint(registry)),
    )
    return [
        Route(operation.path, endpoint, methods=["GET"], name=operation.id)
        for operation, endpoint in endpoints
    ]
