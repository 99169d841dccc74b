"""Whatever is sent: out comes an object that can be written and lived with, or a refusal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff_demo import DemoCluster, DemoSettings, Fleet
from bailiff_demo.columns import columns_of
from bailiff_demo.controllers import (
    Claims,
    Collector,
    Controller,
    Disruption,
    Kubelet,
    Scheduler,
    Workloads,
)
from bailiff_demo.errors import ApiError
from bailiff_demo.objects import clone
from bailiff_demo.registry import DeleteOptions, Registry, Target, acts, evict
from bailiff_demo.resources import PODS, RESOURCES, Resource
from bailiff_demo.store import Change
from tests.harness.fuzzing import fuzzed
from tests.unit.demo.api import JSON_PATCH, MERGE, STRATEGIC, HandClock, Json, pod
from tests.unit.demo.good_objects import base

_ONE_NODE = Fleet.parse(b"{apiVersion: v1, kind: Node, metadata: {name: n}}")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path into a JSON value."""
    yield path
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in pairs:
        yield from places(inner, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = clone(value)
    parent = copy
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = new
    return copy


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.sampled_from(["", "a", "5%", "-1", "x" * 300, "2026-01-01T00:00:00Z", "²"]),
    st.lists(st.sampled_from([None, 1, "a", {}, [], {"name": "a"}, {"type": "x"}]), max_size=2),
    st.dictionaries(
        st.sampled_from(["a", "name", "key", "type", "matchLabels", "$patch"]),
        st.sampled_from([None, 1, "a", {}, [], True]),
        max_size=2,
    ),
)


@st.composite
def almost_good(draw: st.DrawFn) -> tuple[Resource, Json]:
    """A resource, and a good object of it with one or two places changed to anything."""
    resource = draw(st.sampled_from(RESOURCES))
    obj = base(resource)
    for _ in range(draw(st.integers(0, 2))):
        path = draw(st.sampled_from(sorted(places(obj), key=repr)))
        obj = replaced(obj, path, draw(anything))
        if not isinstance(obj, dict):
            return resource, {"spec": obj}
    return resource, obj


def attempt(act: Callable[[], object]) -> None:
    try:
        act()
    except ApiError as error:
        assert 400 <= error.code < 500, error  # noqa: PT017 - the type alone says too little


def live(registry: Registry) -> None:
    """Let every pretended component see all there is, and act."""
    controllers: list[Controller] = [
        Scheduler(registry),
        Kubelet(registry, DemoSettings(start_seconds=0, stop_seconds=0)),
        Workloads(registry),
        Disruption(registry),
        Claims(registry),
        Collector(registry),
    ]
    for controller in controllers:
        for resource in controller.resources:
            for record in list(registry.store.bucket(resource).records()):
                controller.notice(resource, Change("ADDED", record, None))
        controller.act(1.0)


def read_everything(registry: Registry) -> None:
    now = HandClock().now()
    for resource in RESOURCES:
        records = list(registry.store.bucket(resource).records())
        for record in records:
            json.dumps([column.show(record.object, now) for column in columns_of(resource)])


@pytest.mark.schema
@fuzzed(200)
@given(
    made=almost_good(),
    sent=almost_good(),
    patch=anything,
    media=st.sampled_from([MERGE, STRATEGIC, JSON_PATCH]),
)
def test_any_object(
    made: tuple[Resource, Json], sent: tuple[Resource, Json], patch: Any, media: str
) -> None:
    registry = DemoCluster(lively=False, fleet=_ONE_NODE).registry
    resource, body = made
    namespace = "default" if resource.namespaced else ""
    target = Target(resource, namespace, "a")
    status = Target(resource, namespace, "a", "status" if resource.status else "")
    attempt(lambda: registry.create(resource, namespace, body, manager="a"))
    attempt(lambda: registry.update(status, body, manager="b"))
    good = {"status": base(resource).get("status")}
    attempt(lambda: registry.patch(status, MERGE, good, manager="b"))
    attempt(lambda: registry.patch(target, media, sent[1], manager="c"))
    broken = {"metadata": patch, "spec": patch}
    attempt(lambda: registry.patch(target, media, broken, manager="c"))
    live(registry)
    read_everything(registry)
    attempt(lambda: registry.delete(target, DeleteOptions()))
    live(registry)
    read_everything(registry)


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.api_version)
def test_the_good_objects_are_good(resource: Resource) -> None:
    registry = DemoCluster(lively=False).registry
    target = Target(resource, "default" if resource.namespaced else "", "a")
    typed = {"apiVersion": resource.api_version, "kind": resource.kind}
    registry.apply(target, base(resource) | typed, manager="a")
    if resource.status:
        status = Target(resource, target.namespace, "a", "status")
        registry.apply(status, base(resource) | typed, manager="b")
    registry.delete(target)


@pytest.mark.schema
@fuzzed(200)
@given(first=almost_good(), patch=anything, managed=anything)
def test_any_apply(first: tuple[Resource, Json], patch: Any, managed: Any) -> None:
    registry = DemoCluster(lively=False, fleet=_ONE_NODE).registry
    resource, config = first
    target = Target(resource, "default" if resource.namespaced else "", "a")
    status = Target(resource, target.namespace, "a", "status" if resource.status else "")

    def apply(where: Target, body: Json, manager: str) -> None:
        typed = {"apiVersion": resource.api_version, "kind": resource.kind}
        attempt(lambda: registry.apply(where, clone(body) | typed, manager=manager))

    apply(target, config, "a")
    apply(target, base(resource), "b")
    apply(status, config, "b")
    attempt(lambda: registry.patch(target, MERGE, {"metadata": {"managedFields": managed}}))
    apply(target, {"metadata": {"name": "a"}, "spec": patch}, "a")
    apply(target, {"metadata": {"name": "a"}}, "b")
    live(registry)
    read_everything(registry)


_ACTS: dict[str, Json] = {
    "bind": {"metadata": {"name": "a", "uid": "u", "labels": {"a": "b"}}, "target": {"name": "n"}},
    "evict": {
        "metadata": {"name": "a"},
        "deleteOptions": {
            "gracePeriodSeconds": 5,
            "preconditions": {"uid": "u", "resourceVersion": "5"},
        },
    },
}


@pytest.mark.schema
@fuzzed(150)
@given(data=st.data(), act=st.sampled_from(sorted(_ACTS)))
def test_any_act(data: st.DataObject, act: str) -> None:
    registry = DemoCluster(lively=False).registry
    registry.create(PODS, "default", pod(nodeName="n") if act == "evict" else pod())
    path = data.draw(st.sampled_from([p for p in places(_ACTS[act]) if p]))
    body = replaced(_ACTS[act], path, data.draw(anything))
    target = Target(PODS, "default", "a")
    attempt(lambda: {"bind": acts.bind, "evict": evict}[act](registry, target, body))
    options = body.get("deleteOptions", {}) if act == "evict" else {}
    if isinstance(options, dict):
        attempt(lambda: registry.delete(target, DeleteOptions.parse(options)))
    read_everything(registry)
