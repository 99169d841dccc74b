"""Answers about the objects of a cluster."""

import asyncio

import pytest
from fastapi import FastAPI
from msgspec import to_builtins
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from bailiff.cluster.errors import (
    BadRequestError,
    ClusterError,
    ConfigError,
    ForbiddenError,
    NotFoundError,
    RequestTimeoutError,
    ResponseError,
    ServerError,
    TooManyRequestsError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.decisions import MAX_PODS, Options
from bailiff.kinds import Node, Toleration
from bailiff.kinds.meta import Annotations
from bailiff.kinds.node import NodeMeta
from bailiff.rest_api import RestSettings, create_app
from tests.harness.faces.asgi import call
from tests.harness.faces.rest_face import CLOCK, DictReader
from tests.harness.kinds import no_execute, node_of, pod_of

POD_PATH, NODE_PATH = "/v1/namespaces/default/pods/web-0/decision", "/v1/nodes/node-1/decisions"
TAINTED = node_of("node-1", no_execute("k"))


async def test_one_pod(app: FastAPI, reader: DictReader) -> None:
    reader.pods["default/web-0"] = pod_of(
        "web-0", "node-1", Toleration(key="k", toleration_seconds=9)
    )
    reader.nodes["node-1"] = TAINTED
    answer = await call(app, "GET", POD_PATH)
    decision = answer.json["decision"]
    assert (answer.status, decision["verdict"]) == (200, "EVICT_AT")
    assert decision["evictAt"] == "2026-05-04T12:00:09Z"
    assert decision["findings"][0]["trace"][0]["subject"]["addedFrom"] == "now"


async def test_a_note_is_not_believed_where_nothing_shows_that_it_is_the_latest(
    app: FastAPI, reader: DictReader
) -> None:
    noted = '[{"key": "k", "effect": "NoExecute", "time": "2026-05-04T11:59:00Z"}]'
    metadata = NodeMeta(name="node-1", annotations=Annotations(taints_first_observed=noted))
    reader.nodes["node-1"] = replace(TAINTED, metadata=metadata)
    pod = pod_of("web-0", "node-1", Toleration(key="k", toleration_seconds=90))
    reader.pods["default/web-0"] = pod
    live = (await call(app, "GET", POD_PATH)).json["decision"]
    assert live["evictAt"] == "2026-05-04T12:01:30Z"
    # Who sends an object may have left managedFields out, as kubectl does.
    body = {"pod": to_builtins(pod), "node": to_builtins(reader.nodes["node-1"])}
    sent = (await call(app, "POST", "/v1/decisions", body)).json["decision"]
    assert sent["evictAt"] == "2026-05-04T12:00:30Z"


@pytest.mark.parametrize(("node", "reason"), [("", "PodNotBound"), ("node-9", "NodeGone")])
async def test_a_pod_without_its_node(
    app: FastAPI, reader: DictReader, node: str, reason: str
) -> None:
    reader.pods["default/web-0"] = pod_of("web-0", node)
    answer = await call(app, "GET", POD_PATH)
    decision = answer.json["decision"]
    assert (answer.status, decision["verdict"], decision["reason"]) == (200, "KEEP", reason)


async def test_a_node_and_its_pods(app: FastAPI, reader: DictReader) -> None:
    reader.nodes["node-1"] = TAINTED
    reader.on_node["node-1"] = (
        pod_of("b", "node-1"),
        pod_of("a", "node-1", Toleration(operator="Exists")),
    )
    answer = await call(app, "GET", NODE_PATH)
    given = [(d["pod"]["name"], d["verdict"]) for d in answer.json["decisions"]]
    assert given == [("b", "EVICT_NOW"), ("a", "KEEP")]


@pytest.mark.parametrize(
    ("query", "traced"),
    [("", (True, False)), ("?explain=true", (True, True)), ("?explain=false", (False, False))],
)
async def test_explain(
    app: FastAPI, reader: DictReader, query: str, traced: tuple[bool, bool]
) -> None:
    reader.pods["default/web-0"] = pod_of("web-0", "node-1")
    reader.nodes["node-1"] = TAINTED
    reader.on_node["node-1"] = (pod_of("web-0", "node-1"),)
    one = (await call(app, "GET", POD_PATH + query)).json["decision"]
    (many,) = (await call(app, "GET", NODE_PATH + query)).json["decisions"]
    assert tuple("trace" in decision["findings"][0] for decision in (one, many)) == traced


@pytest.mark.parametrize("query", ["?explain=yes", "?explain=", "?explain=1", "?explain=True"])
async def test_explain_is_a_boolean(app: FastAPI, query: str) -> None:
    answer = await call(app, "GET", POD_PATH + query)
    assert (answer.status, answer.json["errors"][0]["path"]) == (422, "query.explain")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotFoundError("no", status=404), 404, "not_found"),
        (ForbiddenError("no", status=403), 502, "cluster_forbidden"),
        (UnauthorizedError("no", status=401), 502, "cluster_forbidden"),
        (UnreachableError("refused"), 503, "cluster_unavailable"),
        (RequestTimeoutError("slow"), 503, "cluster_unavailable"),
        (ServerError("ill", status=500), 503, "cluster_unavailable"),
        (TooManyRequestsError("busy", status=429), 503, "cluster_unavailable"),
        (ResponseError("too long"), 502, "cluster_failed"),
        (BadRequestError("what", status=400), 502, "cluster_failed"),
        (ConfigError("no kubeconfig"), 502, "cluster_failed"),
    ],
)
async def test_failures_of_the_cluster(
    app: FastAPI, reader: DictReader, error: ClusterError, status: int, code: str
) -> None:
    reader.pods["default/web-0"] = error
    answer = await call(app, "GET", POD_PATH)
    assert (answer.status, answer.json["code"]) == (status, code)
    assert "pod default/web-0" in answer.json["detail"]
    assert ("retry-after" in answer.headers) == (code == "cluster_unavailable")


@pytest.mark.parametrize(
    ("path", "broken", "permission"),
    [
        (POD_PATH, "pods", "get pods"),
        (POD_PATH, "nodes", "get nodes"),
        (NODE_PATH, "nodes", "get nodes"),
        (NODE_PATH, "on_node", "list pods"),
    ],
)
async def test_the_missing_permission_is_named(
    app: FastAPI, reader: DictReader, path: str, broken: str, permission: str
) -> None:
    reader.pods["default/web-0"] = pod_of("web-0", "node-1")
    reader.nodes["node-1"] = TAINTED
    table: dict[str, object] = getattr(reader, broken)
    table["default/web-0" if broken == "pods" else "node-1"] = ForbiddenError("no", status=403)
    answer = await call(app, "GET", path)
    assert answer.status == 502
    assert permission in answer.json["detail"]


@pytest.mark.parametrize("path", [POD_PATH, NODE_PATH])
async def test_no_cluster(path: str) -> None:
    app = create_app(RestSettings(), CLOCK, CollectorRegistry(), Options(), None)
    answer = await call(app, "GET", path)
    assert (answer.status, answer.json["code"]) == (503, "no_cluster")
    assert "--kubeconfig" in answer.json["detail"]


@pytest.mark.parametrize(
    ("namespace", "name", "where"),
    [
        ("Default", "web", "path.namespace"),
        ("a.b", "web", "path.namespace"),
        ("a" * 64, "web", "path.namespace"),
        ("-a", "web", "path.namespace"),
        ("default", "Web", "path.name"),
        ("default", "a..b", "path.name"),
        ("default", "a-", "path.name"),
        ("default", "a" * 254, "path.name"),
        ("default", "%2e%2e", "path.name"),
        ("default", "a%3Fb", "path.name"),
        ("default", "web%0a", "path.name"),
    ],
)
async def test_names_are_checked_before_anything_is_asked(
    app: FastAPI, namespace: str, name: str, where: str
) -> None:
    answer = await call(app, "GET", f"/v1/namespaces/{namespace}/pods/{name}/decision")
    assert (answer.status, answer.json["errors"][0]["path"]) == (422, where)


@pytest.mark.parametrize(("number", "status"), [(MAX_PODS, 200), (MAX_PODS + 1, 422)])
async def test_a_node_may_have_as_many_pods_as_a_question(
    app: FastAPI, reader: DictReader, number: int, status: int
) -> None:
    reader.nodes["node-1"] = node_of("node-1")
    reader.on_node["node-1"] = (pod_of("web-0", "node-1"),) * number
    live = await call(app, "GET", NODE_PATH)
    body = {"node": {}, "pods": [{"metadata": {"name": "web-0"}}] * number}
    told = await call(app, "POST", "/v1/decisions/batch", body)
    assert (live.status, told.status) == (status, status)
    if status == 422:
        assert live.json["code"] == "too_many_objects"
        assert f"$.pods: at most {MAX_PODS}" in live.json["detail"]


async def test_a_node_too_complex_is_nothing_wrong_with_the_request(
    app: FastAPI, reader: DictReader
) -> None:
    reader.nodes["node-1"] = node_of("node-1", *(no_execute(f"k{i}") for i in range(1001)))
    tolerations = tuple(Toleration(key=f"k{i}") for i in range(1000))
    reader.on_node["node-1"] = (pod_of("web-0", "node-1", *tolerations),)
    answer = await call(app, "GET", NODE_PATH)
    assert (answer.status, answer.json["code"]) == (422, "too_many_objects")
    assert "errors" not in answer.json


class HangingReader(DictReader):
    """A cluster that never answers."""

    async def get_node(self, name: str) -> Node:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.looptime
async def test_reading_is_bounded_in_time_and_number() -> None:
    settings = RestSettings(cluster_timeout_seconds=3, max_cluster_reads=1)
    app = create_app(settings, CLOCK, CollectorRegistry(), Options(), HangingReader())
    answers = await asyncio.gather(*(call(app, "GET", NODE_PATH) for _ in range(3)))
    assert {a.status for a in answers} == {503}
    assert {a.json["code"] for a in answers} == {"cluster_unavailable"}
    assert all("3 s" in a.json["detail"] for a in answers)
