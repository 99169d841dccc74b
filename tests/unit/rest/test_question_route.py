"""A route that skips FastAPI's dependencies has none."""

from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Body, Depends, FastAPI
from prometheus_client import CollectorRegistry
from starlette.types import ASGIApp, Receive, Scope, Send

from bailiff.decisions import SYSTEMS, Decision, Options, Plan, PodAnswer, PodFacts
from bailiff.kinds.meta import Value
from bailiff.rest_api import RestSettings, create_app
from bailiff.rest_api.bodies import Bodies
from bailiff.rest_api.metrics import Metrics
from bailiff.rest_api.question_route import QuestionsFirst, question_route
from bailiff.rest_api.services import Services
from bailiff.rest_api.wire import Wire
from bailiff.serving import ByteBudget, Threads
from tests.harness.faces.asgi import call
from tests.harness.faces.rest_face import CLOCK

Asked = Annotated[PodFacts, Wire(PodFacts), Body()]
BODY = {"pod": {"metadata": {"name": "web-0"}}, "node": {}}


class Named(Value, frozen=True):
    """An answer."""

    name: str

    def counted(self) -> tuple[Decision, ...]:
        return ()


async def guard() -> None:
    raise AssertionError("nobody asks a dependency of this route")


def router() -> APIRouter:
    registry, budget = CollectorRegistry(), ByteBudget()
    services = Services(
        systems=SYSTEMS,
        clock=CLOCK,
        options=Options(),
        metrics=Metrics(registry),
        registry=registry,
        bodies=Bodies(RestSettings()),
        threads=Threads(1, 1, budget),
        budget=budget,
    )
    return APIRouter(route_class=question_route(services))


def alone(facts: Asked) -> Any:
    return Plan(steps=1, told=1, answer=lambda: Named(name=facts.pod.metadata.name))


def with_a_guard(facts: Asked, _allowed: Annotated[None, Depends(guard)]) -> Any:
    return facts


def with_a_parameter(facts: Asked, explain: bool = False) -> Any:
    return facts, explain


def with_nothing() -> Any:
    return PodAnswer


def application(operation: Any, prefix: str = "") -> FastAPI:
    app, asked = FastAPI(), router()
    asked.post("/ask")(operation)
    app.include_router(asked, prefix=prefix)
    return app


def with_questions_first(app: FastAPI) -> ASGIApp:
    """What the application does for a request, with the shorter way to its questions."""
    return QuestionsFirst(app.routes, app)


def without(app: FastAPI) -> ASGIApp:
    return app


@pytest.mark.parametrize("way", [with_questions_first, without])
@pytest.mark.parametrize("prefix", ["", "/v1"])
async def test_the_body_goes_in_and_the_answer_comes_out(way: Any, prefix: str) -> None:
    app = way(application(alone, prefix))
    assert (await call(app, "POST", f"{prefix}/ask", BODY)).json == {"name": "web-0"}


async def test_a_question_goes_past_fastapis_router() -> None:
    async def nobody(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError(f"{scope['path']} went on")

    app = QuestionsFirst(application(alone).routes, nobody)
    assert (await call(app, "POST", "/ask", BODY)).json == {"name": "web-0"}
    with pytest.raises(AssertionError, match="/other went on"):
        await call(app, "POST", "/other", BODY)


@pytest.mark.parametrize("operation", [with_a_guard, with_a_parameter, with_nothing])
def test_an_operation_that_asks_for_more_is_refused(operation: Any) -> None:
    with pytest.raises(TypeError, match="/ask"):
        with_questions_first(application(operation))


def test_an_operation_that_does_not_say_how_it_is_asked_is_refused() -> None:
    def unmarked(facts: Annotated[dict[str, Any], Body()]) -> Any:
        return facts

    with pytest.raises(ValueError, match="unpack"):
        with_questions_first(application(unmarked))


@pytest.mark.parametrize("where", ["operation", "router", "include", "app"])
def test_a_dependency_is_refused(where: str) -> None:
    def guards(place: str) -> list[Any]:
        return [Depends(guard)] if place == where else []

    asked, outer = router(), APIRouter(dependencies=guards("router"))
    asked.post("/ask", dependencies=guards("operation"))(alone)
    outer.include_router(asked, dependencies=guards("include"))
    app = FastAPI(dependencies=guards("app"))
    app.include_router(outer)
    with pytest.raises(TypeError, match="they would be skipped"):
        with_questions_first(app)


@pytest.mark.parametrize(("root", "status"), [("", 200), ("/elsewhere", 200), ("/v1", 404)])
async def test_the_prefix_of_a_proxy_is_no_part_of_the_path(root: str, status: int) -> None:
    app = with_questions_first(application(alone, "/v1"))

    async def behind(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "root_path": root}, receive, send)

    assert (await call(behind, "POST", "/v1/ask", BODY)).status == status


def test_the_application_looks_at_all_its_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, outer = router(), APIRouter()
    asked.post("/ask")(alone)
    outer.include_router(asked, dependencies=[Depends(guard)])
    monkeypatch.setattr("bailiff.rest_api.app.decisions_router", lambda *_: outer)
    with pytest.raises(TypeError, match="they would be skipped"):
        create_app(RestSettings(), CLOCK, CollectorRegistry(), Options())
