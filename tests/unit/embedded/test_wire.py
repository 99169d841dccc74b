"""Paths, methods, media types, sizes, discovery, and that nothing ever ends in a 500."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bailiff.embedded import EmbeddedCluster, EmbeddedSettings
from bailiff.embedded.errors import ApiError
from bailiff.embedded.http.discovery import aggregated
from bailiff.embedded.registry import DeleteOptions, Target, acts
from bailiff.embedded.resources import BY_ID, RESOURCES
from bailiff.embedded.resources import PODS as POD_RESOURCE
from tests.unit.embedded.api import JSON_PATCH, MERGE, PODS, STRATEGIC, Client, pod

REFUSED: list[tuple[str, str, Any, dict[str, str], int]] = [
    ("GET", "/nowhere", None, {}, 404),
    ("GET", "/api/v2", None, {}, 404),
    ("GET", "/api/v1/widgets", None, {}, 404),
    ("GET", "/apis/apps/v1/namespaces/default/pods", None, {}, 404),
    ("GET", f"{PODS}/a/log", None, {}, 404),
    ("GET", f"{PODS}/a/status/more", None, {}, 404),
    ("GET", f"{PODS}/none", None, {}, 404),
    ("PATCH", f"{PODS}/none", {}, {"type": MERGE}, 404),
    ("PUT", f"{PODS}/none", pod("none"), {}, 404),
    ("DELETE", f"{PODS}/none", None, {}, 404),
    ("POST", "/version", {}, {}, 405),
    ("PUT", PODS, pod(), {}, 405),
    ("POST", f"{PODS}/a", pod(), {}, 405),
    ("POST", "/api/v1/pods", pod(), {}, 405),
    ("GET", f"{PODS}/a/binding", None, {}, 405),
    ("DELETE", f"{PODS}/a/status", None, {}, 405),
    ("GET", PODS, None, {"accept": "application/vnd.kubernetes.protobuf"}, 406),
    ("GET", PODS, None, {"accept": "text/html"}, 406),
    ("POST", PODS, b"\x00", {"type": "application/vnd.kubernetes.protobuf"}, 415),
    ("PATCH", f"{PODS}/a", {}, {"type": "application/json"}, 415),
    ("PATCH", f"{PODS}/a", {}, {"type": "application/apply-patch+yaml"}, 415),
    ("POST", PODS, b"{", {}, 400),
    ("POST", PODS, b'"pod"', {}, 400),
    ("POST", PODS, b"[" * 5000, {}, 400),
    ("POST", PODS, b'{"a":' * 200 + b"1" + b"}" * 200, {}, 400),
    ("PUT", f"{PODS}/a", pod("b"), {}, 400),
    ("PATCH", f"{PODS}/a", [], {"type": MERGE}, 404),
]


@pytest.mark.parametrize(("method", "path", "body", "query", "code"), REFUSED)
async def test_refusals_are_status_objects(
    api: Client, method: str, path: str, body: Any, query: dict[str, str], code: int
) -> None:
    status = await api.refused(method, path, body, **query)
    assert status["code"] == code
    assert status["status"] == "Failure"
    assert status["reason"]


async def test_protobuf_preferred_but_json_accepted_gets_json(api: Client) -> None:
    accept = "application/vnd.kubernetes.protobuf,application/json"
    assert (await api.get(PODS, accept=accept))["kind"] == "PodList"


async def test_bodies_are_bounded() -> None:
    import aiohttp

    settings = EmbeddedSettings(max_body_bytes=1000)
    async with (
        EmbeddedCluster(pretend=False, settings=settings) as cluster,
        aiohttp.ClientSession() as session,
    ):
        big = pod() | {"metadata": {"name": "a", "annotations": {"x": "y" * 1000}}}
        status = await Client(cluster, session).refused("POST", PODS, big)
        assert (status["code"], status["reason"]) == (413, "RequestEntityTooLarge")

        async def chunks() -> Any:
            for _ in range(20):
                yield b" " * 100

        # Without a length the bound holds while reading.
        async with session.post(cluster.url + PODS, data=chunks()) as reply:
            assert reply.status == 413


async def test_discovery(api: Client) -> None:
    assert (await api.get("/api"))["versions"] == ["v1"]
    groups = [g["name"] for g in (await api.get("/apis"))["groups"]]
    assert groups[0] == "events.k8s.io"
    assert "apps" in groups
    assert (await api.get("/apis/apps"))["preferredVersion"]["groupVersion"] == "apps/v1"
    listed = {r["name"]: r for r in (await api.get("/api/v1"))["resources"]}
    assert listed["pods"]["shortNames"] == ["po"]
    assert listed["pods/eviction"]["kind"] == "Eviction"
    assert (await api.get("/version"))["gitVersion"].startswith("v1.36.2+")
    for path in ("/healthz", "/livez", "/readyz"):
        assert (await api.send("GET", path)).raw == b"ok"


async def test_aggregated_discovery_names_every_resource(api: Client) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    reply = await api.send("GET", "/apis", accept=accept)
    assert reply.headers["content-type"] == accept
    found = {
        (group["metadata"].get("name", ""), resource["resource"])
        for part in (aggregated(core=True), reply.body)
        for group in part["items"]
        for version in group["versions"]
        for resource in version["resources"]
    }
    assert found == {(r.group, r.plural) for r in RESOURCES}


async def test_openapi_says_that_the_server_validates(api: Client) -> None:
    index = await api.get("/openapi/v3")
    for resource in RESOURCES:
        root = "apis" if resource.group else "api"
        url = index["paths"][f"{root}/{resource.api_version}"]["serverRelativeURL"]
        document = await api.get(url.partition("?")[0])
        kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
        (operation,) = [
            path["patch"]
            for path in document["paths"].values()
            if path["patch"]["x-kubernetes-group-version-kind"] == kind
        ]
        assert "fieldValidation" in [p["name"] for p in operation["parameters"]]


scalars = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.sampled_from(["", "a", "5%"])
)
field_names = st.sampled_from(
    [
        "metadata",
        "name",
        "generateName",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
        "uid",
        "namespace",
        "resourceVersion",
        "deletionTimestamp",
        "spec",
        "status",
        "taints",
        "tolerations",
        "key",
        "effect",
        "operator",
        "tolerationSeconds",
        "containers",
        "initContainers",
        "image",
        "resources",
        "limits",
        "requests",
        "cpu",
        "nodeName",
        "replicas",
        "selector",
        "matchLabels",
        "matchExpressions",
        "values",
        "template",
        "strategy",
        "updateStrategy",
        "rollingUpdate",
        "type",
        "affinity",
        "nodeAffinity",
        "conditions",
        "phase",
        "minAvailable",
        "maxUnavailable",
        "holderIdentity",
        "leaseDurationSeconds",
        "involvedObject",
        "preconditions",
        "target",
        "deleteOptions",
        "gracePeriodSeconds",
        "volumes",
        "ports",
        "series",
        "source",
        "value",
        "persistentVolumeClaimRetentionPolicy",
        "containerStatuses",
        "state",
        "running",
        "terminated",
        "disruptionsAllowed",
    ]
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(field_names, inner, max_size=5),
    max_leaves=25,
)
objects = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries({"name": st.just("a")}, optional={"labels": anything})
        | anything,
        "spec": anything,
        "status": anything,
        "value": anything,
        "involvedObject": anything,
    },
)


@hypothesis_settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    resource=st.sampled_from(RESOURCES),
    body=objects,
    patch=anything,
    media_type=st.sampled_from([MERGE, STRATEGIC, JSON_PATCH]),
    subresource=st.sampled_from(["", "status"]),
)
def test_any_object_is_taken_or_refused(
    resource: Any, body: Any, patch: Any, media_type: str, subresource: str
) -> None:
    """Whatever is sent, what comes out is an object that can be written, or a refusal."""
    registry = EmbeddedCluster(pretend=False).registry
    namespace = "default" if resource.namespaced else ""
    target = Target(resource, namespace, "a", subresource if resource.status else "")
    for act in (
        lambda: registry.create(resource, namespace, body),
        lambda: registry.patch(target, media_type, {"spec": patch, "status": patch}),
        lambda: registry.update(target, body),
        lambda: registry.delete(target, DeleteOptions.parse({"preconditions": {}})),
    ):
        try:
            act()
        except ApiError as error:
            assert 400 <= error.code < 500  # noqa: PT017 - the type alone says too little
    for record in registry.store.bucket(resource).records():
        json.loads(record.body)


@hypothesis_settings(max_examples=200, deadline=None)
@given(body=st.dictionaries(field_names, anything, max_size=4))
def test_any_act_is_done_or_refused(body: Any) -> None:
    registry = EmbeddedCluster(pretend=False).registry
    registry.create(POD_RESOURCE, "default", pod())
    target = Target(BY_ID["pods"], "default", "a")
    for act in (acts.bind, acts.evict):
        try:
            act(registry, target, body)
        except ApiError as error:
            assert 400 <= error.code < 500  # noqa: PT017 - the type alone says too little
