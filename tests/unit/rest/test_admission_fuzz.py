"""Random AdmissionReviews: never a 5xx, never a wrong uid, never a fault behind an answer."""

from __future__ import annotations

import asyncio
import copy
import functools
import json
from collections.abc import Iterable
from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from bailiff.kinds import Node, Pod, Taint
from tests.harness.admission import app_of, hooks, request_of
from tests.harness.changes import ShownSource
from tests.harness.device_kinds import claim, on, slice_of, using
from tests.harness.faces.asgi import call
from tests.harness.fuzzing import fuzzed
from tests.harness.kinds import node_of, pod_of

HOOKS = {hook.path: hook for hook in hooks()}
NODE: Node = node_of("node-1", Taint(key="a", effect="NoExecute"))
POD: Pod = pod_of("web-0", node="node-1")
DEVICES = (claim("c", on("a")), using("c"), slice_of(a=()))


@functools.cache
def app(_loop: asyncio.AbstractEventLoop) -> tuple[FastAPI, CollectorRegistry]:
    """Of one event loop, as a process has it, and its metrics."""
    registry = CollectorRegistry()
    return app_of(source=ShownSource(NODE, POD, *DEVICES), registry=registry), registry


WORDS = ["", "node-1", "web-0", "NoExecute", "Exists", "1", "2026-01-01T00:00:00Z", "a.com/gpu"]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(WORDS),
    st.text(max_size=5),
)
KEYS = st.one_of(
    st.sampled_from(["metadata", "spec", "tolerations", "taints", "containers", "key", "name"]),
    st.text(max_size=5),
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
OBJECTS: dict[str, Any] = {
    "pods": {
        "kind": "Pod",
        "metadata": {"name": "web-0", "namespace": "shop", "ownerReferences": []},
        "spec": {
            "nodeName": "node-1",
            "tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 5}],
            "containers": [{"resources": {"requests": {"example.com/gpu": "1"}}}],
        },
    },
    "pods/binding": {
        "kind": "Binding",
        "metadata": {"name": "web-0"},
        "target": {"kind": "Node", "name": "node-1"},
    },
    "pods/eviction": {
        "kind": "Eviction",
        "metadata": {"name": "web-0", "namespace": "shop"},
        "deleteOptions": {"gracePeriodSeconds": 5},
    },
    "nodes": {
        "kind": "Node",
        "metadata": {"name": "node-1", "annotations": {}},
        "spec": {"taints": [{"key": "a", "effect": "NoExecute"}]},
    },
    "devicetaintrules.resource.k8s.io": {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "recall", "annotations": {}},
        "spec": {
            "deviceSelector": {"driver": "gpu.example.com"},
            "taint": {"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"},
        },
    },
    "resourceslices.resource.k8s.io": {
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": "gpu.example.com",
            "pool": {"name": "pool", "generation": 1},
            "devices": [{"name": "a", "taints": [{"key": "a", "effect": "NoExecute"}]}],
        },
    },
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all that a JSON value holds."""
    inner: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    return [path, *(one for key, part in inner for one in places(part, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value = copy.deepcopy(value)
    place = value
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return value


@st.composite
def reviews(draw: st.DrawFn, hook: str) -> Any:
    """Nearly right: some places of a review hold anything."""
    target = draw(st.sampled_from(sorted(HOOKS[hook].targets)))
    plain, _, sub = target.partition("/")
    plural, _, group = plain.partition(".")
    seen = OBJECTS.get(target, {"metadata": {"name": "x"}, "spec": {}})
    review: Any = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": request_of(
            resource={"group": group, "version": "v1", "resource": plural},
            subResource=sub,
            operation=draw(st.sampled_from(["CREATE", "UPDATE", "DELETE", "CONNECT"])),
            object=draw(st.sampled_from([seen, None])),
            oldObject=draw(st.sampled_from([seen, None])),
            uid=draw(st.text(min_size=1, max_size=40)),
            dryRun=draw(st.booleans()),
        ),
    }
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(places(review)))
        review = replaced(review, path, draw(JSON))
    return review


@pytest.mark.schema
@pytest.mark.parametrize("hook", HOOKS)
@fuzzed(400)
@given(st.data())
async def test_whatever_comes_is_answered(hook: str, data: st.DataObject) -> None:
    review, (served, registry) = data.draw(reviews(hook)), app(asyncio.get_running_loop())
    answer = await call(served, "POST", f"/admission/v1/{hook}", json.dumps(review).encode())
    if answer.status == 200:
        assert answer.json["response"]["uid"] == review["request"]["uid"]
    else:
        assert answer.status in (400, 422)
        assert answer.headers["content-type"] == "application/problem+json"
    labels = {"hook": hook, "result": "failed"}
    assert not registry.get_sample_value("bailiff_admission_requests_total", labels)


@pytest.mark.schema
@pytest.mark.parametrize("hook", HOOKS)
@fuzzed(200)
@given(st.binary(max_size=200))
async def test_so_are_bytes(hook: str, body: bytes) -> None:
    served, _ = app(asyncio.get_running_loop())
    answer = await call(served, "POST", f"/admission/v1/{hook}", body)
    assert answer.status in (400, 422)
