"""Every way to ask wrongly, and what is said to it."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.rest_api import RestSettings, create_app
from bailiff.serving import ByteBudget, threads
from tests.harness.faces.asgi import Answer, call
from tests.harness.faces.rest_face import CLOCK

ONE, BATCH, PREVIEW = "/v1/decisions", "/v1/decisions/batch", "/v1/previews/taint-change"
# Of a pod alone, with nothing beside it that could be long.
SHORT = "/v1/pressure/admission"
JSON = {"Content-Type": "application/json"}
SECONDS = "$.pod.spec.tolerations[0].tolerationSeconds"
OVERFLOW = b'{"pod":{"spec":{"tolerations":[{"tolerationSeconds":9223372036854775808}]}},"node":{}}'


def check(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.json["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == status
    assert answer.json["type"] == f"urn:bailiff:problem:{code}"
    assert answer.json["title"]
    assert answer.json["detail"]
    assert answer.json["requestId"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("path", "body", "status", "code", "where"),
    [
        (ONE, b"", 400, "malformed_body", "$"),
        (ONE, b"{", 400, "malformed_body", "$"),
        (ONE, b"\xff\xfe", 400, "malformed_body", "$"),
        (ONE, b'{"pod":{"metadata":{"name":"\\ud800"}},"node":{}}', 400, "malformed_body", "$"),
        (ONE, b"[" * 100_000, 400, "malformed_body", "$"),
        (ONE, b'{"x":' * 5000 + b"1" + b"}" * 5000, 400, "malformed_body", "$"),
        (ONE, b"null", 422, "invalid_field", "$"),
        (ONE, b"[]", 422, "invalid_field", "$"),
        (ONE, b"{}", 422, "invalid_field", "$.pod"),
        (ONE, b'{"pod":{}}', 422, "invalid_field", "$"),
        (ONE, b'{"pod":{},"node":null}', 422, "invalid_field", "$"),
        (
            ONE,
            b'{"pod":{"metadata":{"name":7}},"node":{}}',
            422,
            "invalid_field",
            "$.pod.metadata.name",
        ),
        (ONE, OVERFLOW, 422, "invalid_field", SECONDS),
        (ONE, b'{"pod":{},"node":{},"now":"yesterday"}', 422, "invalid_field", "$.now"),
        (ONE, b'{"pod":{},"node":{},"now":"2026-01-01T00:00:00"}', 422, "invalid_field", "$.now"),
        (BATCH, b'{"node":{},"pods":7}', 422, "invalid_field", "$.pods"),
        (BATCH, b'{"node":{},"pods":[' + b"{}," * 20_000 + b"{}]}", 422, "invalid_field", "$.pods"),
        (ONE, b'{"pod":{},"node":{},"systems":["x"]}', 422, "invalid_field", "$.systems[0]"),
        (PREVIEW, b'{"node":{},"pods":[]}', 422, "invalid_field", "$.addTaints"),
        (ONE, b'{"pod":{},"node":{},"sytems":["x"]}', 422, "invalid_field", "$.sytems"),
        (ONE, b'{"pod":{},"node":{},"sytems":null}', 422, "invalid_field", "$.sytems"),
        (
            BATCH,
            b'{"node":{},"options":{"explan":true}}',
            422,
            "invalid_field",
            "$.options.explan",
        ),
        (
            ONE,
            b'{"pod":{},"node":{},"nodeTaints":{"boundat":null}}',
            422,
            "invalid_field",
            "$.nodeTaints.boundat",
        ),
        (
            PREVIEW,
            b'{"node":{},"removeTaints":[{"key":"a","efect":"NoExecute"}]}',
            422,
            "invalid_field",
            "$.removeTaints[0].efect",
        ),
    ],
)  # fmt: skip - a table
async def test_bodies(
    app: FastAPI, path: str, body: bytes, status: int, code: str, where: str
) -> None:
    answer = await call(app, "POST", path, body)
    check(answer, status, code)
    (error,) = answer.json["errors"]
    assert error["path"] == where
    assert error["reason"] in answer.json["detail"]
    assert answer.json["instance"] == path


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/vnd.kubernetes.protobuf"},
        {**JSON, "Content-Encoding": "gzip"},
    ],
)
async def test_media_types(app: FastAPI, headers: Mapping[str, str]) -> None:
    check(await call(app, "POST", ONE, b"{}", headers), 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "path", ["/", "/nothing", "/v1/decisions/", "/healthz/", "/v1/nodes//decisions", "/assets/x.js"]
)
async def test_unknown_paths(app: FastAPI, path: str) -> None:
    check(await call(app, "GET", path), 404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", ONE, "POST"),
        ("DELETE", BATCH, "POST"),
        ("OPTIONS", ONE, "POST"),
        ("POST", "/healthz", "GET, HEAD"),
        ("PUT", "/v1/nodes/a/decisions", "GET, HEAD"),
        ("NONSENSE", "/docs", "GET, HEAD"),
    ],
)
async def test_wrong_methods(app: FastAPI, method: str, path: str, allow: str) -> None:
    answer = await call(app, method, path)
    check(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == allow


def bounded(budget: ByteBudget | None = None, **settings: float) -> FastAPI:
    return create_app(
        RestSettings(**settings),  # type: ignore[arg-type]  # a test's shorthand
        CLOCK,
        CollectorRegistry(),
        Options(),
        budget=budget,
    )


@pytest.mark.parametrize(
    ("length", "sent"), [("100", b" " * 100), ("11", b""), (None, b" " * 11), ("1", b" " * 11)]
)
async def test_too_long_by_what_is_announced_or_sent(length: str | None, sent: bytes) -> None:
    headers = JSON if length is None else {**JSON, "Content-Length": length}
    answer = await call(bounded(max_body_bytes=10), "POST", SHORT, sent, headers)
    check(answer, 413, "body_too_large")
    assert answer.headers["connection"] == "close"


async def test_too_long_in_pieces() -> None:
    piece = {"type": "http.request", "body": b" " * 6, "more_body": True}
    answer = await call(bounded(max_body_bytes=10), "POST", SHORT, messages=[piece, piece])
    check(answer, 413, "body_too_large")


@pytest.mark.parametrize(("path", "told"), [(BATCH, True), (SHORT, False)])
async def test_who_does_not_announce_a_long_body_learns_to(path: str, told: bool) -> None:
    app = bounded(max_body_bytes=10, max_batch_body_bytes=10, max_long_body_bytes=100)
    answer = await call(app, "POST", path, b" " * 11, JSON)
    check(answer, 413, "body_too_large")
    assert ("100 where Content-Length" in answer.json["detail"]) == told


LONG = b'{"node":{},"pods":[]}' + b" " * 200_000


async def test_what_takes_long_waits_for_its_turn_and_not_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = bounded(max_threads=1, max_queue_age_seconds=0.05)
    first, others = asyncio.Event(), asyncio.Event()

    async def thread(work: Callable[..., bytes], *arguments: bytes) -> bytes:
        first.set()
        await others.wait()
        return work(*arguments)

    monkeypatch.setattr(threads, "in_thread", thread)
    working = asyncio.create_task(call(app, "POST", BATCH, LONG))
    await first.wait()
    refused = await call(app, "POST", BATCH, LONG)
    check(refused, 503, "overloaded")
    assert refused.headers["retry-after"] == "1"
    # What needs no thread is not refused for those that do.
    assert (await call(app, "POST", ONE, {"pod": {}, "node": {}})).status == 200
    waiting = asyncio.create_task(call(app, "POST", BATCH, LONG))
    await asyncio.sleep(0)
    others.set()
    assert [(await one).status for one in (working, waiting)] == [200, 200]


@pytest.mark.parametrize(("most", "status"), [(6 * len(LONG), 200), (2 * len(LONG), 503)])
async def test_what_takes_long_takes_its_bytes_meanwhile(most: int, status: int) -> None:
    budget = ByteBudget(most)
    app = bounded(budget=budget)
    assert (await call(app, "POST", BATCH, LONG)).status == status
    assert budget.taken == 0


async def test_a_long_answer_that_could_not_be_kept_is_not_given() -> None:
    pods = [{"metadata": {"name": f"pod-{n}"}} for n in range(1000)]
    body = {"pods": pods, "node": {}}
    answer = await call(bounded(budget=ByteBudget(1_000)), "POST", BATCH, body)
    check(answer, 503, "overloaded")


async def test_a_batch_may_be_longer_than_one_question() -> None:
    app = bounded(max_body_bytes=10, max_batch_body_bytes=100)
    body = b'{"node":{},"pods":[]}'
    assert (await call(app, "POST", BATCH, body)).status == 200
    assert (await call(app, "POST", SHORT, body)).status == 413


async def test_a_client_that_hangs_up_is_not_answered(
    app: FastAPI, registry: CollectorRegistry
) -> None:
    piece = {"type": "http.request", "body": b"{", "more_body": True}
    answer = await call(app, "POST", ONE, messages=[piece, {"type": "http.disconnect"}])
    assert answer.status == 0
    labels = {"method": "POST", "route": ONE, "status": "499"}
    assert registry.get_sample_value("bailiff_rest_requests_total", labels) == 1


async def test_a_name_that_no_object_can_have(app: FastAPI) -> None:
    check(await call(app, "GET", "/v1/nodes/Node_1/decisions"), 422, "invalid_field")
