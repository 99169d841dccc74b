"""How the REST face says that a caller is not let in."""

import msgspec
import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bailiff.access import AccessSettings, Guard, Right
from bailiff.decisions import Options
from bailiff.rest_api import RestSettings, create_app
from tests.harness.faces.asgi import Answer, call
from tests.harness.faces.rest_face import CLOCK
from tests.harness.lookups import DictSource
from tests.harness.reviewing import Reviewer

ONE = {"pod": {"metadata": {"name": "web"}}, "node": {"metadata": {"name": "n1"}}}
POD = "/v1/namespaces/shop/pods/web/decision"


@pytest.fixture
def reviewer() -> Reviewer:
    return Reviewer(rights={("alice", Right("get", "pods", "shop", "web"))})


def face(reviewer: Reviewer, registry: CollectorRegistry, **settings: float) -> FastAPI:
    guard = Guard(AccessSettings.model_validate(settings), CLOCK, reviewer=reviewer)
    registry.register(guard.metrics)
    return create_app(RestSettings(), CLOCK, registry, Options(), DictSource(), guard=guard)


async def ask(
    app: FastAPI, method: str, path: str, token: str = "good", body: object = b""
) -> Answer:
    bearer = {"authorization": f"Bearer {token}"} if token else {}
    return await call(app, method, path, body, {"content-type": "application/json", **bearer})


async def test_whoever_is_known_is_answered(
    reviewer: Reviewer, registry: CollectorRegistry
) -> None:
    app = face(reviewer, registry)
    for _ in range(2):
        answer = await ask(app, "POST", "/v1/decisions", body=ONE)
        assert (answer.status, answer.json["decision"]["verdict"]) == (200, "KEEP")
    assert (await ask(app, "GET", POD)).status == 404


REFUSALS = {
    "stranger": (("POST", "/v1/decisions", ""), 401, "unauthenticated", "www-authenticate"),
    "bad token": (("POST", "/v1/decisions", "bad"), 401, "unauthenticated", "www-authenticate"),
    "no right": (("GET", "/metrics"), 403, "forbidden", ""),
    "no path": (("GET", "/v1/nothing"), 404, "not_found", ""),
    "method": (("GET", "/v1/decisions"), 405, "method_not_allowed", "allow"),
    "no name": (("GET", "/v1/nodes/A_b/decisions"), 422, "invalid_field", ""),
}


@pytest.mark.parametrize(
    ("asked", "status", "code", "header"), REFUSALS.values(), ids=REFUSALS.keys()
)
async def test_a_refusal_is_a_problem(
    reviewer: Reviewer,
    registry: CollectorRegistry,
    asked: tuple[str, ...],
    status: int,
    code: str,
    header: str,
) -> None:
    answer = await ask(face(reviewer, registry), *asked)
    assert (answer.status, answer.json["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["requestId"] == answer.headers["x-request-id"]
    assert header in answer.headers or not header


@pytest.mark.parametrize("asked", [("GET", "/v1/nodes/A_b/decisions"), ("GET", "/v1/decisions")])
async def test_what_is_wrong_with_a_request_is_told_as_where_nobody_is_asked_who_asks(
    app: FastAPI, reviewer: Reviewer, registry: CollectorRegistry, asked: tuple[str, str]
) -> None:
    ours, plain = await ask(face(reviewer, CollectorRegistry()), *asked), await ask(app, *asked)
    first, second = (msgspec.json.decode(one.body) for one in (ours, plain))
    first.pop("requestId"), second.pop("requestId")
    assert first == second


async def test_what_the_api_server_does_not_say_is_unavailable(
    reviewer: Reviewer, registry: CollectorRegistry
) -> None:
    reviewer.away = True
    answer = await ask(face(reviewer, registry), "POST", "/v1/decisions", body=ONE)
    assert (answer.status, answer.json["code"]) == (503, "authentication_unavailable")
    assert answer.headers["retry-after"] == "1"


async def test_who_asks_too_much_is_told_when_to_come_again(
    reviewer: Reviewer, registry: CollectorRegistry
) -> None:
    app = face(reviewer, registry, max_burst_bytes=1, max_bytes_per_second=1)
    assert (await ask(app, "POST", "/v1/decisions", body=ONE)).status == 200
    answer = await ask(app, "POST", "/v1/decisions", body=ONE)
    assert (answer.status, answer.json["code"]) == (429, "too_many_requests")
    length = len(msgspec.json.encode(ONE))
    assert int(answer.headers["retry-after"]) > length  # bytes of the body and of the answer


async def test_a_place_is_free_again_whatever_became_of_the_request(
    reviewer: Reviewer, registry: CollectorRegistry
) -> None:
    app = face(reviewer, registry, max_concurrent_requests=1)
    for body, status in ((ONE, 200), ({"pod": 1}, 422), (b"{", 400), (ONE, 200)):
        assert (await ask(app, "POST", "/v1/decisions", body=body)).status == status


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/version", "/docs", "/redoc", "/openapi.json", "/favicon.ico"]
)
async def test_what_anybody_may_see(
    reviewer: Reviewer, registry: CollectorRegistry, path: str
) -> None:
    app = face(reviewer, registry)
    assert (await ask(app, "GET", path, token="")).status == 200
    assert (await ask(app, "HEAD", path, token="")).status == 200
    assert reviewer.asked == []


async def test_head_needs_what_get_needs(reviewer: Reviewer, registry: CollectorRegistry) -> None:
    answer = await ask(face(reviewer, registry), "HEAD", "/metrics", token="")
    assert (answer.status, answer.body) == (401, b"")


async def test_refusals_are_counted_by_route(
    reviewer: Reviewer, registry: CollectorRegistry
) -> None:
    app = face(reviewer, registry)
    await ask(app, "POST", "/v1/decisions", "bad")
    await ask(app, "GET", "/v1/nodes/n1/decisions")
    count = registry.get_sample_value
    name = "bailiff_rest_requests_total"
    told = {"method": "POST", "route": "/v1/decisions", "status": "401"}
    assert count(name, told) == 1
    assert (
        count(
            name, {**told, "method": "GET", "route": "/v1/nodes/{name}/decisions", "status": "403"}
        )
        == 1
    )
    assert count("bailiff_authentication_total", {"outcome": "unauthenticated"}) == 1
