"""Paths, methods, media types, sizes, discovery, and that nothing ever ends in a 500."""

from __future__ import annotations

from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from bailiff_demo import DemoCluster, DemoSettings
from bailiff_demo.resources import RESOURCES, Resource
from tests.unit.demo.api import MERGE, PODS, Client, HandClock, pod

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
    ("POST", PODS, b"\x00", {"type": "application/vnd.kubernetes.protobuf"}, 400),
    ("POST", PODS, b"k8s\x00\xff\xff", {"type": "application/vnd.kubernetes.protobuf"}, 400),
    ("POST", PODS, b"k8s\x00", {"type": "application/vnd.kubernetes.protobuf"}, 415),
    ("PATCH", f"{PODS}/a", {}, {"type": "application/json"}, 415),
    ("PATCH", f"{PODS}/a", {}, {"type": "application/apply-patch+cbor"}, 415),
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

    settings = DemoSettings(max_body_bytes=1000)
    async with (
        DemoCluster(lively=False, settings=settings) as cluster,
        aiohttp.ClientSession() as session,
    ):
        big = pod() | {"metadata": {"name": "a", "annotations": {"x": "y" * 1000}}}
        api = Client(cluster, session)
        status = await api.refused("POST", PODS, big)
        assert (status["code"], status["reason"]) == (413, "RequestEntityTooLarge")

        async def chunks() -> Any:
            for _ in range(20):
                yield b" " * 100

        # Without a length the bound holds while reading.
        headers = {"content-type": "application/json", **api.bearer}
        address = cluster.url + PODS
        async with session.post(address, data=chunks(), headers=headers, ssl=api.context) as reply:
            assert reply.status == 413


async def test_discovery(api: Client) -> None:
    assert (await api.get("/api"))["versions"] == ["v1"]
    groups = [g["name"] for g in (await api.get("/apis"))["groups"]]
    assert "apps" in groups
    assert (await api.get("/apis/apps"))["preferredVersion"]["groupVersion"] == "apps/v1"
    listed = {r["name"]: r for r in (await api.get("/api/v1"))["resources"]}
    assert listed["pods"]["shortNames"] == ["po"]
    assert listed["pods/eviction"]["kind"] == "Eviction"
    assert (await api.get("/version"))["gitVersion"].startswith("v1.37.")
    for path in ("/healthz", "/livez", "/readyz"):
        assert (await api.send("GET", path)).raw == b"ok"


async def test_discovery_names_every_resource(api: Client) -> None:
    for resource in RESOURCES:
        listed = (await api.get(resource.root))["resources"]
        (entry,) = [one for one in listed if one["name"] == resource.plural]
        assert (entry["kind"], entry["namespaced"]) == (resource.kind, resource.namespaced)


METHODS = {"create": "POST", "get": "GET", "list": "GET", "watch": "GET"} | {
    "delete": "DELETE",
    "patch": "PATCH",
    "update": "PUT",
}


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.root)
async def test_every_verb_that_is_advertised_is_served(api: Client, resource: Resource) -> None:
    namespace = "/namespaces/default" if resource.namespaced else ""
    listed = (await api.get(resource.root))["resources"]
    for entry in listed:
        plural, _, subresource = entry["name"].partition("/")
        if plural != resource.plural:
            continue
        for verb in entry["verbs"]:
            path = f"{resource.root}{namespace}/{plural}"
            if subresource or verb not in ("create", "list", "watch"):
                path = f"{path}/none/{subresource}".rstrip("/")
            reply = await api.send(METHODS[verb], path, {})
            assert reply.status != 405, (verb, path)


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


async def test_the_date_of_an_answer_is_the_second_that_it_is_in(
    api: Client, clock: HandClock
) -> None:
    for seconds in (0.4, 0.7, 0.3):
        clock.instant += timedelta(seconds=seconds)
        reply = await api.send("GET", PODS)
        second = clock.instant.replace(microsecond=0)
        assert parsedate_to_datetime(reply.headers["date"]) == second
