"""Answers about the objects of a cluster."""

import asyncio
from typing import Any

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
from bailiff.decisions import MAX_PODS, SYSTEMS, LiveQuestion, Options
from bailiff.kinds import Pod, Toleration
from bailiff.kinds.meta import Annotations
from bailiff.kinds.node import NodeMeta
from bailiff.lookup import LookUpError, Source
from bailiff.rest_api import RestSettings, create_app
from tests.harness.faces.asgi import call
from tests.harness.faces.rest_face import CLOCK
from tests.harness.kinds import no_execute, node_of, pod_of
from tests.harness.lookups import DictSource, failing

POD_PATH, NODE_PATH = "/v1/namespaces/default/pods/web-0/decision", "/v1/nodes/node-1/decisions"
BEARS = RestSettings()
TAINTED = node_of("node-1", no_execute("k"))


def app_on(source: Source | None, settings: RestSettings = BEARS) -> FastAPI:
    return create_app(settings, CLOCK, CollectorRegistry(), Options(), source)


async def test_one_pod(app: FastAPI, source: DictSource) -> None:
    source.add(pod_of("web-0", "node-1", Toleration(key="k", toleration_seconds=9)), TAINTED)
    answer = await call(app, "GET", POD_PATH)
    decision = answer.json["decision"]
    assert (answer.status, decision["verdict"]) == (200, "EVICT_AT")
    assert decision["evictAt"] == "2026-05-04T12:00:09Z"
    assert decision["findings"][0]["trace"][0]["subject"]["addedFrom"] == "now"


async def test_a_note_is_not_believed_where_nothing_shows_that_it_is_the_latest(
    app: FastAPI, source: DictSource
) -> None:
    noted = '[{"key": "k", "effect": "NoExecute", "time": "2026-05-04T11:59:00Z"}]'
    metadata = NodeMeta(name="node-1", annotations=Annotations(taints_first_observed=noted))
    node = replace(TAINTED, metadata=metadata)
    pod = pod_of("web-0", "node-1", Toleration(key="k", toleration_seconds=90))
    source.add(pod, node)
    live = (await call(app, "GET", POD_PATH)).json["decision"]
    assert live["evictAt"] == "2026-05-04T12:01:30Z"
    # Who sends an object may have left managedFields out, as kubectl does.
    body = {"pod": to_builtins(pod), "node": to_builtins(node)}
    sent = (await call(app, "POST", "/v1/decisions", body)).json["decision"]
    assert sent["evictAt"] == "2026-05-04T12:00:30Z"


@pytest.mark.parametrize(("node", "reason"), [("", "PodNotBound"), ("node-9", "NodeGone")])
async def test_a_pod_without_its_node(
    app: FastAPI, source: DictSource, node: str, reason: str
) -> None:
    source.add(pod_of("web-0", node))
    answer = await call(app, "GET", POD_PATH)
    decision = answer.json["decision"]
    assert (answer.status, decision["verdict"], decision["reason"]) == (200, "KEEP", reason)


async def test_a_node_and_its_pods(app: FastAPI, source: DictSource) -> None:
    source.add(TAINTED, pod_of("b", "node-1"), pod_of("a", "node-1", Toleration(operator="Exists")))
    answer = await call(app, "GET", NODE_PATH)
    given = [(d["pod"]["name"], d["verdict"]) for d in answer.json["decisions"]]
    assert given == [("b", "EVICT_NOW"), ("a", "KEEP")]


@pytest.mark.parametrize(
    ("query", "traced"),
    [("", (True, False)), ("?explain=true", (True, True)), ("?explain=false", (False, False))],
)
async def test_explain(
    app: FastAPI, source: DictSource, query: str, traced: tuple[bool, bool]
) -> None:
    source.add(pod_of("web-0", "node-1"), TAINTED)
    one = (await call(app, "GET", POD_PATH + query)).json["decision"]
    (many,) = (await call(app, "GET", NODE_PATH + query)).json["decisions"]
    assert tuple("trace" in decision["findings"][0] for decision in (one, many)) == traced


@pytest.mark.parametrize("path", [POD_PATH, NODE_PATH])
async def test_a_misspelt_parameter_is_refused(app: FastAPI, path: str) -> None:
    answer = await call(app, "GET", f"{path}?explan=true")
    assert (answer.status, answer.json["code"]) == (422, "invalid_field")
    assert answer.json["errors"][0]["path"] == "query.explan"


@pytest.mark.parametrize("query", ["?explain=yes", "?explain=", "?explain=1", "?explain=True"])
async def test_explain_is_a_boolean(app: FastAPI, query: str) -> None:
    answer = await call(app, "GET", POD_PATH + query)
    assert (answer.status, answer.json["errors"][0]["path"]) == (422, "query.explain")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotFoundError("no", status=404, reason="NotFound"), 404, "not_found"),
        (NotFoundError("<html>", status=404), 502, "cluster_failed"),
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
async def test_failures_of_the_cluster(error: ClusterError, status: int, code: str) -> None:
    answer = await call(app_on(failing(get_pods=error)), "GET", POD_PATH)
    assert (answer.status, answer.json["code"]) == (status, code)
    assert "Pod default/web-0" in answer.json["detail"]
    assert ("retry-after" in answer.headers) == (code == "cluster_unavailable")


@pytest.mark.parametrize("error", LookUpError.__subclasses__())
async def test_whatever_a_look_up_may_raise_is_a_problem(
    app: FastAPI, source: DictSource, error: type[LookUpError]
) -> None:
    source.errors[Pod] = error("what to do about it")
    answer = await call(app, "GET", POD_PATH)
    assert answer.status in {404, 422, 502, 503}
    assert answer.json["detail"] == "what to do about it"


@pytest.mark.parametrize(
    ("path", "permission"),
    [
        (POD_PATH, "get pods"),
        (POD_PATH, "get nodes"),
        (NODE_PATH, "get nodes"),
        (NODE_PATH, "list pods"),
    ],
)
async def test_the_missing_permission_is_named(path: str, permission: str) -> None:
    refused = {permission.replace(" ", "_"): ForbiddenError("no", status=403)}
    source = failing(pod_of("web-0", "node-1"), TAINTED, **refused)
    answer = await call(app_on(source), "GET", path)
    assert (answer.status, answer.json["code"]) == (502, "cluster_forbidden")
    assert f"permission to {permission}" in answer.json["detail"]


@pytest.mark.parametrize("path", [POD_PATH, NODE_PATH])
async def test_no_cluster(path: str) -> None:
    answer = await call(app_on(None), "GET", path)
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
    app: FastAPI, source: DictSource, number: int, status: int
) -> None:
    source.add(node_of("node-1"), *(pod_of("web-0", "node-1"),) * number)
    live = await call(app, "GET", NODE_PATH)
    body = {"node": {}, "pods": [{"metadata": {"name": "web-0"}}] * number}
    told = await call(app, "POST", "/v1/decisions/batch", body)
    assert (live.status, told.status) == (status, status)
    if status == 422:
        assert live.json["code"] == "too_many_objects"
        assert f"$.pods: at most {MAX_PODS}" in live.json["detail"]


async def test_a_node_too_complex_is_nothing_wrong_with_the_request(
    app: FastAPI, source: DictSource
) -> None:
    source.add(node_of("node-1", *(no_execute(f"k{i}") for i in range(1001))))
    tolerations = tuple(Toleration(key=f"k{i}") for i in range(1000))
    source.add(pod_of("web-0", "node-1", *tolerations))
    answer = await call(app, "GET", NODE_PATH)
    assert (answer.status, answer.json["code"]) == (422, "too_many_objects")
    assert "errors" not in answer.json


class HangingSource(DictSource):
    """A cluster that never answers."""

    async def get(self, *_: object) -> Any:
        await asyncio.Event().wait()


@pytest.mark.looptime
async def test_reading_is_bounded_in_time_and_number() -> None:
    settings = RestSettings(cluster_timeout_seconds=3, max_cluster_reads=1, max_queue_age_seconds=5)
    app = app_on(HangingSource(), settings)
    answers = await asyncio.gather(*(call(app, "GET", NODE_PATH) for _ in range(3)))
    assert {a.status for a in answers} == {503}
    assert {a.json["code"] for a in answers} == {"cluster_unavailable"}
    assert all("3 s" in a.json["detail"] for a in answers)


@pytest.mark.looptime
async def test_who_waits_too_long_for_a_turn_is_told_to_come_back() -> None:
    settings = RestSettings(max_cluster_reads=1, max_queue_age_seconds=2)
    app = app_on(HangingSource(), settings)
    asked = [asyncio.create_task(call(app, "GET", NODE_PATH)) for _ in range(2)]
    answers = await asyncio.gather(*asked)
    assert [a.json["code"] for a in answers] == ["cluster_unavailable", "overloaded"]
    assert answers[1].headers["retry-after"] == "1"


class OneAtATime(DictSource):
    """A cluster that takes a second for a node; it counts how many wait for theirs."""

    waiting = most = 0

    async def get(self, kind: type[Any], name: str, namespace: str = "") -> Any:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await asyncio.sleep(1)
        self.waiting -= 1
        return await super().get(kind, name, namespace)


@pytest.mark.looptime
@pytest.mark.parametrize("at_a_time", [1, 2])
async def test_as_many_read_at_a_time_as_is_set(at_a_time: int) -> None:
    source = OneAtATime()
    source.add(TAINTED)
    app = app_on(source, RestSettings(max_cluster_reads=at_a_time, max_queue_age_seconds=60))
    answers = await asyncio.gather(*(call(app, "GET", NODE_PATH) for _ in range(4)))
    assert {a.status for a in answers} == {200}
    assert source.most == at_a_time


@pytest.mark.parametrize("question", SYSTEMS.live_questions.values(), ids=lambda one: one.name)
def test_every_live_question_of_the_table_is_asked_here(
    app: FastAPI, question: LiveQuestion[Any]
) -> None:
    operation = app.openapi()["paths"][f"/v1/{question.path}"]["get"]
    told = (operation["operationId"], operation["summary"], operation["description"])
    assert told == (question.name, question.summary, question.description)
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema["$ref"].endswith(f"/{question.asks.answer.__name__}")
