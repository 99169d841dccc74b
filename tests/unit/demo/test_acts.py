"""Binding and eviction."""

from __future__ import annotations

from tests.unit.embedded.api import PODS, Client, Json, pod

A = f"{PODS}/a"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
EVICTION: Json = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}}


async def test_binding_sets_node_and_condition(api: Client) -> None:
    made = await api.post(PODS, pod())
    await api.post(f"{A}/binding", {"metadata": {"name": "a"}, "target": {"name": "n"}})
    bound = await api.get(A)
    assert bound["spec"]["nodeName"] == "n"
    time = made["metadata"]["creationTimestamp"]
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": time}
    assert bound["status"]["conditions"] == [condition]


async def test_a_pod_is_bound_once_and_only_the_right_one(api: Client) -> None:
    await api.post(PODS, pod())
    other = {"metadata": {"name": "a", "uid": "other"}, "target": {"name": "n"}}
    assert (await api.refused("POST", f"{A}/binding", other))["code"] == 409
    assert (await api.refused("POST", f"{A}/binding", {"metadata": {"name": "a"}}))["code"] == 422
    await api.post(f"{A}/binding", {"target": {"name": "n"}})
    status = await api.refused("POST", f"{A}/binding", {"target": {"name": "m"}})
    assert status["code"] == 409
    assert 'pod a is already assigned to node "n"' in status["message"]


async def running(api: Client) -> None:
    await api.post(PODS, pod(nodeName="n") | {"metadata": {"name": "a", "labels": {"app": "x"}}})
    ready = {"type": "Ready", "status": "True"}
    await api.patch(f"{A}/status", {"status": {"phase": "Running", "conditions": [ready]}})


async def budget(api: Client, **status: int) -> None:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}
    await api.post(BUDGETS, {"metadata": {"name": "b"}, "spec": spec})
    if status:
        body = {"status": {"observedGeneration": 1, **status}}
        await api.patch(f"{BUDGETS}/b/status", body)


async def test_an_eviction_marks_and_deletes(api: Client) -> None:
    await running(api)
    reply = await api.send("POST", f"{A}/eviction", EVICTION)
    assert (reply.status, reply.body["status"]) == (201, "Success")
    evicted = await api.get(A)
    assert evicted["metadata"]["deletionTimestamp"]
    mark = evicted["status"]["conditions"][-1]
    assert (mark["type"], mark["reason"]) == ("DisruptionTarget", "EvictionByEvictionAPI")


async def test_a_budget_that_is_spent_answers_429(api: Client) -> None:
    await running(api)
    await budget(api, disruptionsAllowed=0, currentHealthy=1, desiredHealthy=1, expectedPods=1)
    status = await api.refused("POST", f"{A}/eviction", EVICTION)
    assert (status["code"], status["reason"]) == (429, "TooManyRequests")
    (cause,) = status["details"]["causes"]
    assert cause["reason"] == "DisruptionBudget"
    assert cause["message"] == "The disruption budget b needs 1 healthy pods and has 1 currently"
    assert "deletionTimestamp" not in (await api.get(A))["metadata"]


async def test_a_budget_not_yet_counted_answers_429_with_a_time(api: Client) -> None:
    await running(api)
    await budget(api)
    reply = await api.send("POST", f"{A}/eviction", EVICTION)
    assert (reply.status, reply.headers["retry-after"]) == (429, "10")


async def test_a_budget_is_spent_by_an_eviction(api: Client) -> None:
    await running(api)
    await budget(api, disruptionsAllowed=2, currentHealthy=3, desiredHealthy=1)
    await api.post(f"{A}/eviction", EVICTION, dryRun="All")
    assert (await api.get(f"{BUDGETS}/b"))["status"]["disruptionsAllowed"] == 2
    await api.post(f"{A}/eviction", EVICTION)
    status = (await api.get(f"{BUDGETS}/b"))["status"]
    assert status["disruptionsAllowed"] == 1
    assert list(status["disruptedPods"]) == ["a"]


async def test_a_pod_that_does_not_run_needs_no_budget(api: Client) -> None:
    await running(api)
    await budget(api, disruptionsAllowed=0)
    await api.patch(f"{A}/status", {"status": {"phase": "Failed"}})
    await api.post(f"{A}/eviction", EVICTION)
    assert (await api.send("GET", A)).status == 404


async def test_an_eviction_keeps_preconditions(api: Client) -> None:
    await running(api)
    body = {**EVICTION, "deleteOptions": {"preconditions": {"uid": "other"}}}
    assert (await api.refused("POST", f"{A}/eviction", body))["code"] == 409
    assert "conditions" in (await api.get(A))["status"]
    version = (await api.get(A))["metadata"]["resourceVersion"]
    body = {**EVICTION, "deleteOptions": {"preconditions": {"resourceVersion": version}}}
    await api.post(f"{A}/eviction", body)
    other = {**EVICTION, "metadata": {"name": "b"}}
    assert (await api.refused("POST", f"{A}/eviction", other))["code"] == 400
