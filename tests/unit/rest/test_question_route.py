"""A route that skips FastAPI's dependencies has none."""

from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Body, Depends, FastAPI
from prometheus_client import CollectorRegistry
from starlette.types import Receive, Scope, Send

from bailiff.decisions import SYSTEMS, Decision, Options, Plan, PodAnswer, PodFacts
from bailiff.kinds.meta import Value
from bailiff.rest_api import RestSettings, create_app
from bailiff.rest_api.bodies import Bodies
from bailiff.rest_api.metrics import Metrics
from bailiff.rest_api.question_route import check_all, question_route
from bailiff.rest_api.services import Services
from bailiff.rest_api.wire import Wire
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
    registry = CollectorRegistry()
    services = Services(
        systems=SYSTEMS,
        clock=CLOCK,
        options=Options(),
        metrics=Metrics(registry),
        registry=registry,
        bodies=Bodies(RestSettings()),
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


async def test_the_body_goes_in_and_the_answer_comes_out() -> None:
    app = FastAPI()
    asked = router()
    asked.post("/ask")(alone)
    app.include_router(asked)
    check_all(app.routes)
    assert (await call(app, "POST", "/ask", BODY)).json == {"name": "web-0"}


@pytest.mark.parametrize("operation", [with_a_guard, with_a_parameter, with_nothing])
def test_an_operation_that_asks_for_more_is_refused(operation: Any) -> None:
    with pytest.raises(TypeError, match="/ask"):
        router().post("/ask")(operation)


def test_a_dependency_of_the_operation_is_refused() -> None:
    with pytest.raises(TypeError, match="they would be skipped"):
        router().post("/ask", dependencies=[Depends(guard)])(alone)


@pytest.mark.parametrize("where", ["router", "include", "app"])
def test_a_dependency_from_further_out_is_refused(where: str) -> None:
    guards = [Depends(guard)]
    asked = router()
    asked.post("/ask")(alone)
    app = FastAPI(dependencies=guards if where == "app" else None)
    outer = APIRouter(dependencies=guards if where == "router" else None)
    outer.include_router(asked, dependencies=guards if where == "include" else None)
    app.include_router(outer)
    with pytest.raises(TypeError, match="they would be skipped"):
        check_all(app.routes)


def test_a_prefix_is_refused() -> None:
    asked, app = router(), FastAPI()
    asked.post("/ask")(alone)
    app.include_router(asked, prefix="/v1")
    with pytest.raises(TypeError, match="/v1/ask"):
        check_all(app.routes)


@pytest.mark.parametrize(("root", "status"), [("", 200), ("/elsewhere", 200), ("/v1", 404)])
async def test_the_prefix_of_a_proxy_is_no_part_of_the_path(root: str, status: int) -> None:
    app, asked = FastAPI(), router()
    asked.post("/v1/ask")(alone)
    app.router.routes.extend(asked.routes)

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
