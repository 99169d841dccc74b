"""Whole processes that trace to a collector: an eviction and a question, as it sees them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from bailiff.rest_api.examples.nodes import ONE_POD
from tests.harness.kube.programs import free_port
from tests.harness.scripted_server import kubeconfig
from tests.harness.tracing import KEPT, TRACE, Collector
from tests.harness.transcripts import running_up

pytestmark = pytest.mark.process

FLEET = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: demo}}
- apiVersion: v1
  kind: Node
  metadata: {name: mine}
  spec: {taints: [{key: maintenance, effect: NoExecute, timeAdded: "2026-01-01T00:00:00Z"}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: a, namespace: demo, uid: 5a1c}
  spec: {nodeName: mine, containers: [{name: c, image: "example.com/c:1"}]}
"""
PATH = "/api/v1/namespaces/{namespace}"
CALLS = [
    f"PATCH {PATH}/pods/{{name}}/status",
    f"DELETE {PATH}/pods/{{name}}",
    f"POST {PATH}/events",
]


@pytest.fixture
def collector(monkeypatch):
    with Collector().serving() as serving:
        monkeypatch.setenv("BAILIFF_TRACING_ENDPOINT", serving.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret")
        monkeypatch.setenv("BAILIFF_LOG_FORMAT", "json")
        yield serving


def ask(port):
    headers = {"content-type": "application/json", "traceparent": KEPT}
    body = json.dumps(ONE_POD["timed"].body).encode()
    url = f"http://127.0.0.1:{port}/v1/decisions"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=10) as answer:
        assert answer.status == 200


def test_an_eviction_and_a_question_as_a_collector_sees_them(tmp_path, collector):
    (tmp_path / "fleet.yaml").write_text(FLEET)
    with running_up(tmp_path, "--fleet", str(tmp_path / "fleet.yaml")) as up:
        ask(up.ports["8080"])
        root = collector.wait_for("evict")
        metrics = f"http://127.0.0.1:{up.ports['8081']}/metrics"
        with urllib.request.urlopen(metrics, timeout=10) as answer:
            assert 'bailiff_tracing_spans_total{fate="exported"}' in answer.read().decode()
    # What was not sent yet is sent at the end.
    spans = collector.spans()
    question = next(one for one in spans if one.name == "POST /v1/decisions")
    assert (question.trace, question.service) == (TRACE, "bailiff-api")
    assert next(one for one in spans if one.name == "decide").parent == question.span
    of_eviction = {one.name: one for one in spans if one.trace == root.trace}
    assert sorted(of_eviction) == sorted(["evict", "wait", "attempt", *CALLS])
    assert (root.service, root.parent, root.failed) == ("bailiff-worker", "", False)
    assert root.attributes["k8s.pod.name"] == "a"
    assert root.attributes["bailiff.outcome"] == "deleted"
    attempt = of_eviction["attempt"]
    assert {of_eviction[name].parent for name in ("wait", "attempt")} == {root.span}
    assert {of_eviction[name].parent for name in CALLS} == {attempt.span}
    assert {of_eviction[name].attributes["http.response.status_code"] for name in CALLS} <= {
        200,
        201,
    }
    # A millisecond: two clocks tell when it fell due.
    assert root.start - 10**6 <= of_eviction["wait"].start
    assert of_eviction["wait"].start <= attempt.start <= attempt.end <= root.end
    assert collector.headers[0]["authorization"] == "Bearer s3cret"
    logged = [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert f'"trace_id": "{root.trace}"' in "".join(logged).replace('":"', '": "')
    assert "s3cret" not in "".join(logged)


def test_an_agent_that_traces_begins_and_ends(tmp_path, collector):
    config = kubeconfig(tmp_path, free_port())
    command = ("agent", "--node", "a", "--shadow", "--status-port", "0", "--kubeconfig", config)
    log = tmp_path / "log"
    with log.open("w") as stderr:
        agent = subprocess.Popen([sys.executable, "-m", "bailiff", *command], stderr=stderr)
    try:
        deadline = time.monotonic() + 30
        while not (started := re.search(r'"status":"(http://[^"]+)"', log.read_text())):
            assert agent.poll() is None, log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        url = f"{started[1]}/metrics"
        with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - our own
            assert "# TYPE bailiff_tracing_spans_total counter" in answer.read().decode()
        agent.send_signal(signal.SIGTERM)
        assert agent.wait(timeout=30) == 0
    finally:
        agent.kill()
        agent.wait()
    assert "s3cret" not in log.read_text()
