"""Probes, version, metrics."""

import pytest
from fastapi import FastAPI

import bailiff
from tests.harness.faces.asgi import call


async def test_healthy_and_ready(app: FastAPI) -> None:
    for path in ("/healthz", "/readyz"):
        answer = await call(app, "GET", path)
        assert (answer.status, answer.json) == (200, {"status": "ok"})


async def test_not_ready_once_stopping(app: FastAPI) -> None:
    app.state.services.stopping = True
    answer = await call(app, "GET", "/readyz")
    assert (answer.status, answer.json["code"]) == (503, "stopping")
    assert (await call(app, "GET", "/healthz")).status == 200


async def test_version(app: FastAPI) -> None:
    answer = await call(app, "GET", "/version")
    assert answer.json == {"version": bailiff.__version__, "kubernetes": "1.36.2"}


async def test_metrics_in_both_formats(app: FastAPI) -> None:
    await call(app, "GET", "/healthz")
    plain = await call(app, "GET", "/metrics")
    assert plain.headers["content-type"].startswith("text/plain")
    sample = 'bailiff_rest_requests_total{method="GET",route="/healthz",status="200"} 1.0'
    assert sample in plain.body.decode()
    wants = {"Accept": "application/openmetrics-text; version=1.0.0"}
    openmetrics = await call(app, "GET", "/metrics", headers=wants)
    assert openmetrics.headers["content-type"].startswith("application/openmetrics-text")
    assert openmetrics.body.endswith(b"# EOF\n")


@pytest.mark.parametrize("version", ["abc", "1", "1.x", "", "0.0.4.9", "9" * 5000])
async def test_metrics_for_who_wants_a_version_that_is_none(app: FastAPI, version: str) -> None:
    wants = {"Accept": f"application/openmetrics-text; version={version}"}
    assert (await call(app, "GET", "/metrics", headers=wants)).status == 200
