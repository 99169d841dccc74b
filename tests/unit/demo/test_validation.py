from __future__ import annotations

import pytest

from tests.unit.demo.api import PODS, Client, Json, node, pod, workload

TOLERATIONS: list[tuple[Json, str]] = [
    ({"key": "a", "operator": "Has"}, "operator"),
    ({"key": "a", "operator": "Gt", "value": "1"}, "operator"),
    ({"operator": "Equal", "value": "x"}, "operator"),
    ({"key": "a", "operator": "Exists", "value": "x"}, "operator"),
    ({"key": "a", "effect": "NoExec"}, "effect"),
    ({"key": "a", "effect": "NoSchedule", "tolerationSeconds": 5}, "effect"),
    ({"key": "a", "tolerationSeconds": 5}, "effect"),
    ({"key": "a b"}, "key"),
]


@pytest.mark.parametrize(("toleration", "field"), TOLERATIONS)
async def test_wrong_tolerations(api: Client, toleration: Json, field: str) -> None:
    status = await api.refused("POST", PODS, pod(tolerations=[toleration]))
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert status["details"]["causes"][0]["field"] == f"spec.tolerations[0].{field}"
    assert status["message"].startswith('Pod "a" is invalid: spec.tolerations[0]')


TAINTS: list[tuple[list[Json], str]] = [
    ([{"key": "a"}], "spec.taints[0].effect"),
    ([{"key": "a", "effect": "Evict"}], "spec.taints[0].effect"),
    ([{"key": "", "effect": "NoExecute"}], "spec.taints[0].key"),
    ([{"key": "a", "value": "b c", "effect": "NoExecute"}], "spec.taints[0].value"),
    ([{"key": "a", "effect": "NoExecute"}] * 2, "spec.taints[1]"),
]


@pytest.mark.parametrize(("taints", "field"), TAINTS)
async def test_wrong_taints(api: Client, taints: list[Json], field: str) -> None:
    status = await api.refused("POST", "/api/v1/nodes", node(taints=taints))
    assert status["code"] == 422
    assert [cause["field"] for cause in status["details"]["causes"]] == [field]


WRONG_PODS: list[tuple[Json, str]] = [
    (pod("A_b"), "metadata.name"),
    (pod("x" * 254), "metadata.name"),
    ({"spec": pod()["spec"]}, "metadata.name"),
    (pod(containers=[]), "spec.containers"),
    (pod(containers=[{"image": "i"}]), "spec.containers[0].name"),
    (pod(containers=[{"name": "c"}]), "spec.containers[0].image"),
    (pod(containers=[{"name": "c", "image": "i"}] * 2), "spec.containers[1].name"),
    (pod(restartPolicy="Sometimes"), "spec.restartPolicy"),
    (pod(terminationGracePeriodSeconds=-1), "spec.terminationGracePeriodSeconds"),
    ({**pod(), "metadata": {"name": "a", "labels": {"k": "v v"}}}, "metadata.labels"),
    ({**pod(), "metadata": {"name": "a", "finalizers": ["no slash?"]}}, "metadata.finalizers[0]"),
]


@pytest.mark.parametrize(("body", "field"), WRONG_PODS)
async def test_wrong_pods(api: Client, body: Json, field: str) -> None:
    status = await api.refused("POST", PODS, body)
    assert status["code"] == 422
    assert field in [cause["field"] for cause in status["details"]["causes"]]


WRONG_TYPES: list[Json] = [
    pod(tolerations="all"),
    pod(tolerations=[{"tolerationSeconds": "5"}]),
    pod(tolerations=[{"tolerationSeconds": 2**63}]),
    pod(containers={"a": 1}),
    pod(nodeName=5),
    {**pod(), "metadata": {"name": "a", "deletionTimestamp": "2026-01-01"}},
    {**pod(), "metadata": {"name": "a", "labels": {"k": 1}}},
    {**pod(), "metadata": "a"},
    {**pod(), "metadata": {"name": "a", "creationTimestamp": "yesterday"}},
    {**pod(), "kind": "Node"},
    {**pod(), "apiVersion": "v2"},
    {**pod(), "metadata": {"name": "a", "namespace": "other"}},
    {**pod(), "metadata": {"name": "a", "resourceVersion": "5"}},
]


@pytest.mark.parametrize("body", WRONG_TYPES)
async def test_what_is_no_such_object_is_400(api: Client, body: Json) -> None:
    status = await api.refused("POST", PODS, body)
    assert (status["code"], status["reason"]) == (400, "BadRequest")


CHANGES: list[tuple[Json, int]] = [
    ({"spec": {"nodeName": "n"}}, 422),
    ({"spec": {"restartPolicy": "Never"}}, 422),
    # The default tolerations, all that it has, come back with the write.
    ({"spec": {"tolerations": []}}, 200),
    ({"spec": {"tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}]}}, 200),
    ({"spec": {"containers": [{"name": "c", "image": "other"}]}}, 200),
    ({"spec": {"activeDeadlineSeconds": 5}}, 200),
    ({"metadata": {"annotations": {"a": "b"}}}, 200),
]


@pytest.mark.parametrize(("change", "code"), CHANGES)
async def test_what_of_a_pod_may_change(api: Client, change: Json, code: int) -> None:
    await api.post(PODS, pod())
    reply = await api.send(
        "PATCH", f"{PODS}/a", change, type="application/strategic-merge-patch+json"
    )
    assert reply.status == code


async def test_a_tolerations_seconds_may_change(api: Client) -> None:
    made = await api.post(PODS, pod())
    tolerations = made["spec"]["tolerations"]
    tolerations[0]["tolerationSeconds"] = 5
    tolerations.append({"key": "new", "operator": "Exists"})
    changed = await api.patch(f"{PODS}/a", {"spec": {"tolerations": tolerations}})
    assert changed["spec"]["tolerations"] == tolerations


WRONG_OTHERS: list[tuple[str, Json, str]] = [
    (
        "apps/v1/namespaces/default/deployments",
        {"metadata": {"name": "a"}, "spec": {}},
        "spec.selector",
    ),
    (
        "apps/v1/namespaces/default/daemonsets",
        workload("a", selector={"matchLabels": {"b": "c"}}),
        "spec.template.metadata.labels",
    ),
    ("apps/v1/namespaces/default/statefulsets", workload("a", replicas=-1), "spec.replicas"),
    (
        "policy/v1/namespaces/default/poddisruptionbudgets",
        {"metadata": {"name": "a"}, "spec": {"minAvailable": "5x"}},
        "spec.minAvailable",
    ),
    (
        "policy/v1/namespaces/default/poddisruptionbudgets",
        {"metadata": {"name": "a"}, "spec": {"minAvailable": 1, "maxUnavailable": 1}},
        "spec",
    ),
]


@pytest.mark.parametrize(("path", "body", "field"), WRONG_OTHERS)
async def test_wrong_objects_of_other_kinds(api: Client, path: str, body: Json, field: str) -> None:
    status = await api.refused("POST", f"/apis/{path}", body)
    assert status["code"] == 422
    assert field in [cause["field"] for cause in status["details"]["causes"]]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/apis/apps/v1/namespaces/default/deployments", workload("a", replicas=3_000_000_000)),
        (
            "/apis/apps/v1/namespaces/default/deployments",
            workload("a", strategy={"rollingUpdate": "x"}),
        ),
        ("/api/v1/namespaces/default/events", {"metadata": {"name": "e"}, "source": "x"}),
        (
            "/api/v1/nodes",
            node(taints=[{"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-01"}]),
        ),
    ],
)
async def test_what_would_break_its_readers_is_400(api: Client, path: str, body: Json) -> None:
    assert (await api.refused("POST", path, body))["code"] == 400
