from __future__ import annotations

import pytest

from tests.unit.demo.api import JSON_PATCH, MERGE, PODS, STRATEGIC, Client, Json, node, pod

A = f"{PODS}/a"


async def test_a_new_pod_is_filled_in_as_a_server_does(api: Client) -> None:
    made = await api.post(PODS, pod(tolerations=[{"key": "x", "operator": "Exists"}]))
    assert made["kind"] == "Pod"
    assert made["metadata"]["namespace"] == "default"
    assert made["metadata"]["generation"] == 1
    assert made["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert made["spec"]["terminationGracePeriodSeconds"] == 30
    assert made["spec"]["restartPolicy"] == "Always"
    assert made["status"] == {"phase": "Pending"}
    default = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    assert made["spec"]["tolerations"] == [
        {"key": "x", "operator": "Exists"},
        {"key": "node.kubernetes.io/not-ready", **default},
        {"key": "node.kubernetes.io/unreachable", **default},
    ]
    assert await api.get(A) == made


@pytest.mark.parametrize(
    "toleration", [{"operator": "Exists"}, {"key": "node.kubernetes.io/not-ready"}]
)
async def test_default_tolerations_respect_what_is_there(api: Client, toleration: Json) -> None:
    made = await api.post(PODS, pod(tolerations=[toleration]))
    keys = [t.get("key") for t in made["spec"]["tolerations"]]
    assert keys.count("node.kubernetes.io/not-ready") == int("key" in toleration)


async def test_a_new_node_starts_as_not_ready(api: Client) -> None:
    made = await api.post("/api/v1/nodes", node())
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    assert made["spec"]["taints"] == [taint]
    assert "generation" not in made["metadata"]


async def test_names_are_generated(api: Client) -> None:
    body = pod() | {"metadata": {"generateName": "web-"}}
    first, second = [await api.post(PODS, body) for _ in range(2)]
    assert first["metadata"]["name"] != second["metadata"]["name"]
    assert first["metadata"]["name"].startswith("web-")


async def test_a_name_is_taken_once(api: Client) -> None:
    await api.post(PODS, pod())
    status = await api.refused("POST", PODS, pod())
    assert (status["code"], status["reason"]) == (409, "AlreadyExists")
    assert status["message"] == 'pods "a" already exists'
    assert status["details"] == {"name": "a", "kind": "pods"}


async def test_a_namespace_must_be_there(api: Client) -> None:
    status = await api.refused("POST", "/api/v1/namespaces/none/pods", pod())
    assert status["message"] == 'namespaces "none" not found'


async def test_an_ending_namespace_takes_nothing_new(api: Client) -> None:
    await api.post("/api/v1/namespaces", {"metadata": {"name": "x"}})
    gone = await api.delete("/api/v1/namespaces/x")
    assert gone["status"]["phase"] == "Terminating"
    status = await api.refused("POST", "/api/v1/namespaces/x/pods", pod())
    assert status["code"] == 403
    assert status["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert (await api.refused("DELETE", "/api/v1/namespaces/x"))["code"] == 409


async def test_a_write_against_an_old_version_conflicts(api: Client) -> None:
    old = await api.post(PODS, pod())
    await api.patch(A, {"metadata": {"labels": {"x": "1"}}})
    status = await api.refused("PUT", A, old)
    assert (status["code"], status["reason"]) == (409, "Conflict")
    assert "the object has been modified" in status["message"]
    version = {"metadata": {"resourceVersion": old["metadata"]["resourceVersion"]}}
    assert (await api.refused("PATCH", A, version, type=MERGE))["code"] == 409


async def test_a_put_without_version_overwrites_pods_but_not_leases(api: Client) -> None:
    made = await api.post(PODS, pod())
    del made["metadata"]["resourceVersion"]
    made["metadata"]["labels"] = {"x": "1"}
    assert (await api.put(A, made))["metadata"]["labels"] == {"x": "1"}
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    lease: Json = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}
    await api.post(leases, lease)
    assert (await api.refused("PUT", f"{leases}/l", lease))["code"] == 422


async def test_another_uid_is_another_object(api: Client) -> None:
    made = await api.post(PODS, pod())
    made["metadata"]["uid"] = "other"
    status = await api.refused("PUT", A, made)
    assert status["code"] == 409
    assert "Precondition failed: UID in precondition: other" in status["message"]
    status = await api.refused("PATCH", A, {"metadata": {"uid": "other"}}, type=STRATEGIC)
    assert (status["code"], status["details"]["causes"][0]["field"]) == (422, "metadata.uid")


async def test_status_and_spec_have_their_own_endpoints(api: Client) -> None:
    made = await api.post(PODS, pod())
    both = {"spec": {"activeDeadlineSeconds": 9}, "status": {"phase": "Failed"}}
    main = await api.patch(A, both)
    assert main["status"] == made["status"]
    assert main["spec"]["activeDeadlineSeconds"] == 9
    assert main["metadata"]["generation"] == 2
    part = await api.patch(f"{A}/status", {**both, "spec": {"activeDeadlineSeconds": 1}})
    assert part["status"]["phase"] == "Failed"
    assert part["spec"]["activeDeadlineSeconds"] == 9
    assert part["metadata"]["generation"] == 2
    assert await api.get(f"{A}/status") == part


async def test_a_write_that_changes_nothing_is_none(api: Client) -> None:
    made = await api.post(PODS, pod())
    assert await api.patch(A, {"metadata": {"labels": None}}) == made
    assert await api.put(A, made) == made


async def test_the_servers_own_fields_cannot_be_changed(api: Client) -> None:
    made = await api.post(PODS, pod())
    theirs = {"creationTimestamp": "2000-01-01T00:00:00Z", "generation": 7}
    assert await api.patch(A, {"metadata": theirs}) == made


async def test_dry_run_writes_nothing(api: Client) -> None:
    before = api.cluster.store.version
    assert (await api.post(PODS, pod(), dryRun="All"))["metadata"]["uid"]
    assert api.cluster.store.version == before
    made = await api.post(PODS, pod())
    shown = await api.patch(A, {"metadata": {"labels": {"x": "1"}}}, dryRun="All")
    assert shown["metadata"]["labels"] == {"x": "1"}
    await api.delete(A, dryRun="All")
    await api.delete(A, {"dryRun": ["All"]})
    assert await api.get(A) == made
    assert (await api.refused("POST", PODS, pod("b"), dryRun="Some"))["code"] == 422


async def test_untainting_leaves_no_trace(api: Client) -> None:
    await api.post("/api/v1/nodes", node())
    steps = [{"op": "replace", "path": "/spec/taints", "value": []}]
    changed = await api.patch("/api/v1/nodes/n", steps, type=JSON_PATCH)
    assert "taints" not in changed["spec"]


async def test_scale(api: Client) -> None:
    from tests.unit.demo.api import workload

    path = "/apis/apps/v1/namespaces/default/deployments"
    await api.post(path, workload("web"))
    scale = await api.get(f"{path}/web/scale")
    assert (scale["kind"], scale["spec"], scale["status"]["selector"]) == (
        "Scale",
        {"replicas": 1},
        "app=web",
    )
    await api.patch(f"{path}/web/scale", {"spec": {"replicas": 3}})
    scaled = await api.get(f"{path}/web")
    assert (scaled["spec"]["replicas"], scaled["metadata"]["generation"]) == (3, 2)
    assert (
        await api.refused("PATCH", f"{path}/web/scale", {"spec": {"replicas": -1}}, type=MERGE)
    )["code"] == 422


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


async def test_a_pod_has_the_priority_of_its_class(api: Client) -> None:
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    await api.post(classes, {"metadata": {"name": "high"}, "value": 7})
    assert (await api.post(PODS, pod(priorityClassName="high")))["spec"]["priority"] == 7
    assert (await api.post(PODS, pod("b")))["spec"]["priority"] == 0
    status = await api.refused("POST", PODS, pod("c", priorityClassName="none"))
    assert (status["code"], status["reason"]) == (403, "Forbidden")


async def test_what_lives_in_no_namespace_gets_none(api: Client) -> None:
    await api.post("/api/v1/nodes", node())
    patched = await api.patch("/api/v1/nodes/n", {"metadata": {"namespace": "x"}})
    assert "namespace" not in patched["metadata"]
    assert [n["metadata"]["name"] for n in (await api.get("/api/v1/nodes"))["items"]] == ["n"]


async def test_a_grace_period_of_ages_is_still_a_date(api: Client) -> None:
    await api.post(PODS, pod(nodeName="n"))
    deleted = await api.delete(A, {"gracePeriodSeconds": 2**62})
    assert deleted["metadata"]["deletionTimestamp"] > "2100-01-01T00:00:00Z"
