"""A system that is registered is found over REST, with nothing else changed."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bailiff.access import Guard
from bailiff.decisions import Options
from bailiff.rest_api import RestSettings, create_app
from tests.harness.faces.asgi import call
from tests.harness.faces.rest_face import CLOCK, NOW
from tests.harness.kinds import pod_of
from tests.harness.lookups import DictSource
from tests.harness.made_up_system import LIGHTS_OUT, NAME, THREE_SYSTEMS, dark_node
from tests.harness.reviewing import guard_by_file

NODE = {
    "metadata": {"name": "n"},
    "spec": {"taints": [{"key": LIGHTS_OUT, "effect": "NoSchedule", "timeAdded": NOW.isoformat()}]},
}
POD = {"metadata": {"name": "shop"}, "spec": {"nodeName": "n"}}
OUT_AT = "2026-05-04T12:01:00Z"
REPORT = {NAME: {"outAt": OUT_AT, "pods": 1}}


def face(guard: Guard | None = None) -> FastAPI:
    source = DictSource.of(pod_of("shop", "n"), dark_node("n", NOW))
    registry = CollectorRegistry()
    return create_app(
        RestSettings(), CLOCK, registry, Options(), source, THREE_SYSTEMS, guard=guard
    )


@pytest.fixture
def app() -> FastAPI:
    return face()


@pytest.fixture
def guarded(tmp_path: Path) -> FastAPI:
    return face(guard_by_file(tmp_path))


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/decisions", {"pod": POD, "node": NODE}),
        ("POST", "/v1/decisions", {"pod": POD, "node": NODE, "systems": [NAME]}),
        ("POST", "/v1/decisions/batch", {"pods": [POD], "node": NODE}),
        ("GET", "/v1/namespaces/default/pods/shop/decision", {}),
        ("GET", "/v1/nodes/n/decisions", {}),
    ],
)
async def test_its_word_and_its_report_are_told(
    app: FastAPI, method: str, path: str, body: dict[str, object]
) -> None:
    answer = await call(app, method, path, body)
    (decision,) = answer.json.get("decisions") or [answer.json["decision"]]
    assert (decision["decidedBy"], decision["evictAt"]) == (NAME, OUT_AT)
    assert decision["findings"][-1]["reason"] == "LightsOut"
    assert decision["eviction"]["gracePeriodSeconds"] == 7
    assert answer.json["reports"] == REPORT


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        ("/v1/decisions", "good", 200),
        ("/v1/decisions", "bad", 401),
        ("/v1/decisions/by-light", "good", 200),
        ("/v1/decisions/by-light", "bad", 401),
        ("/v1/decisions/by-dark", "good", 404),
        ("/v1/decisions/by-dark", "bad", 401),
    ],
)
async def test_whoever_is_known_may_ask_it(
    guarded: FastAPI, path: str, token: str, status: int
) -> None:
    headers = {"authorization": f"Bearer {token}"}
    answer = await call(guarded, "POST", path, {"pod": POD, "node": NODE}, headers)
    assert answer.status == status
    if status == 200:
        assert answer.json["decision"]["decidedBy"] == NAME


async def test_its_trace_has_its_own_subject(app: FastAPI) -> None:
    answer = await call(app, "POST", "/v1/decisions", {"pod": POD, "node": NODE})
    (step,) = answer.json["decision"]["findings"][-1]["trace"]
    assert step["subject"] == {"kind": "lights", "outAt": OUT_AT}


def test_the_document_tells_of_it(app: FastAPI) -> None:
    schemas = app.openapi()["components"]["schemas"]
    assert schemas["Subject"]["discriminator"]["mapping"]["lights"].endswith("/LightsSubject")
    assert schemas["Reports"]["properties"][NAME]["$ref"].endswith("/LightsReport")
    assert schemas["LightsReport"]["properties"]["pods"]["description"]


def test_the_document_tells_who_may_ask_its_question(app: FastAPI) -> None:
    operation = app.openapi()["paths"]["/v1/decisions/by-light"]["post"]
    assert "security" not in operation  # that of the whole document
    assert "401" in operation["responses"]
