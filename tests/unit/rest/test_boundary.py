"""What is true of every answer."""

import asyncio
import logging
import re
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from prometheus_client import CollectorRegistry
from starlette.types import Message, Receive, Scope, Send

from bailiff.rest_api.metrics import Metrics
from bailiff.rest_api.middleware import Boundary
from tests.harness.faces.asgi import call, scope_of
from tests.harness.faces.rest_face import CLOCK

SECRET = "the password is swordfish"


def boundary(app: object, registry: CollectorRegistry) -> Boundary:
    return Boundary(app, CLOCK, Metrics(registry))  # type: ignore[arg-type]  # any callable


@pytest.mark.parametrize("given", ["a", "A-b_c.9", "x" * 64])
async def test_a_sane_request_id_is_kept(app: FastAPI, given: str) -> None:
    answer = await call(app, "GET", "/healthz", headers={"X-Request-Id": given})
    assert answer.headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a\tb", "<script>", "ü"])
async def test_another_request_id_is_replaced(app: FastAPI, given: str) -> None:
    answer = await call(app, "GET", "/healthz", headers={"X-Request-Id": given})
    assert re.fullmatch(r"[0-9a-f]{12}-[0-9a-f]+", answer.headers["x-request-id"])


async def test_request_ids_differ(app: FastAPI) -> None:
    ids = {(await call(app, "GET", "/nothing")).headers["x-request-id"] for _ in range(50)}
    assert len(ids) == 50


async def test_a_fault_is_logged_and_not_shown(
    registry: CollectorRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError(SECRET)

    with caplog.at_level(logging.ERROR):
        answer = await call(boundary(broken, registry), "GET", "/", headers={"X-Request-Id": "q7"})
    assert (answer.status, answer.json["code"]) == (500, "internal")
    assert SECRET not in answer.body.decode()
    assert SECRET in caplog.text
    assert "q7" in caplog.text


async def test_a_fault_in_the_middle_of_an_answer_cuts_it(registry: CollectorRegistry) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError(SECRET)

    with pytest.raises(ValueError, match="swordfish"):
        await call(boundary(broken, registry), "GET", "/")


def test_of_fastapis_layers_those_are_left_out_that_have_nothing_to_do(app: FastAPI) -> None:
    layer: Any = FastAPI.build_middleware_stack(FastAPI())
    names = []
    while not isinstance(layer, APIRouter):
        names.append(type(layer).__name__)
        layer = layer.app
    of_nobody = ["ServerErrorMiddleware", "ExceptionTelemetryMiddleware", "AppBodyLimitMiddleware"]
    of_questions = ["AsyncExitStackMiddleware"]
    known = [*of_nobody, "ExceptionMiddleware", *of_questions]
    assert names == known, "a new layer of FastAPI: do questions need it?"
    assert isinstance(app.middleware_stack, Boundary)


async def test_questions_go_past_fastapis_router_and_all_else_through_it(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    routed: list[str] = []
    router = app.router.middleware_stack

    async def seen(scope: Scope, receive: Receive, send: Send) -> None:
        routed.append(scope["path"])
        await router(scope, receive, send)

    monkeypatch.setattr(app.router, "middleware_stack", seen)
    asked = await call(app, "POST", "/v1/decisions", {"pod": {}, "node": {}})
    assert (asked.status, routed) == (200, [])
    assert (await call(app, "GET", "/v1/decisions")).status == 405
    assert (await call(app, "GET", "/version")).status == 200
    assert set(routed) == {"/v1/decisions", "/version"}


@pytest.mark.parametrize(
    ("pods", "unread", "threads"),
    [(1, 0, 0), (4000, 0, 1), (1, 200_000, 1)],
    ids=["short", "many pods", "a long body"],
)
async def test_what_takes_long_is_answered_in_a_thread(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, pods: int, unread: int, threads: int
) -> None:
    to_thread, used = asyncio.to_thread, []

    async def counted(*work: Any) -> Any:
        used.append(work)
        return await to_thread(*work)

    monkeypatch.setattr(asyncio, "to_thread", counted)
    many = [{"metadata": {"name": f"p{n}"}} for n in range(pods)]
    body = {"pods": many, "node": {"images": "x" * unread}}
    answer = await call(app, "POST", "/v1/decisions/batch", body)
    assert (len(answer.json["decisions"]), len(used)) == (pods, threads)


async def test_many_whose_bodies_do_not_come_keep_nobody_waiting(
    app: FastAPI, registry: CollectorRegistry
) -> None:
    """Three hundred bodies of a byte: what is asked meanwhile is answered."""
    piece = {"type": "http.request", "body": b"{", "more_body": True}
    stalled = [
        asyncio.create_task(call(app, "POST", "/v1/decisions", messages=[piece]))
        for _ in range(300)
    ]
    await asyncio.sleep(0)
    assert registry.get_sample_value("bailiff_rest_requests_in_flight") == 300
    for path in ("/version", "/healthz", "/readyz", "/metrics"):
        assert (await call(app, "GET", path)).status == 200
    assert (await call(app, "POST", "/v1/decisions", {"pod": {}, "node": {}})).status == 200
    for one in stalled:
        one.cancel()
    await asyncio.gather(*stalled, return_exceptions=True)
    assert registry.get_sample_value("bailiff_rest_requests_in_flight") == 0


async def test_cancelling_goes_through(registry: CollectorRegistry) -> None:
    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(call(boundary(endless, registry), "GET", "/"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert registry.get_sample_value("bailiff_rest_requests_in_flight") == 0


@pytest.mark.parametrize(
    ("method", "path", "labels"),
    [
        ("GET", "/healthz", ("GET", "/healthz", "200")),
        ("HEAD", "/docs", ("HEAD", "/docs", "200")),
        ("GET", "/v1/decisions", ("GET", "/v1/decisions", "405")),
        ("GET", "/any/%2e%2e/thing", ("GET", "", "404")),
        ("BREW", "/healthz", ("OTHER", "/healthz", "405")),
        ("GET", "/v1/nodes/n/decisions", ("GET", "/v1/nodes/{name}/decisions", "404")),
    ],
)
async def test_requests_are_counted_by_template(
    app: FastAPI, registry: CollectorRegistry, method: str, path: str, labels: tuple[str, ...]
) -> None:
    await call(app, method, path)
    named = dict(zip(("method", "route", "status"), labels, strict=True))
    assert registry.get_sample_value("bailiff_rest_requests_total", named) == 1
    del named["status"]
    assert registry.get_sample_value("bailiff_rest_request_duration_seconds_count", named) == 1


@pytest.mark.parametrize("path", ["/healthz", "/docs", "/metrics", "/openapi.json", "/nothing"])
async def test_head_tells_the_length_and_sends_nothing(app: FastAPI, path: str) -> None:
    get, head = await call(app, "GET", path), await call(app, "HEAD", path)
    assert (head.status, head.body) == (get.status, b"")
    if path not in ("/metrics", "/nothing"):  # those differ from one request to the next
        assert head.headers["content-length"] == get.headers["content-length"]


async def test_websockets_are_closed(app: FastAPI) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await app({**scope_of("GET", "/v1/decisions", {}), "type": "websocket"}, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]
