"""The API server keeps objects that nest deeper than Python can follow; they are read all the same.

Anybody who may write a pod may do that to it.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

import pytest

from bailiff import cluster as k8s
from bailiff.clock import SystemClock
from bailiff.cluster import ClusterSettings, ListWatch, PatchType, Replaced, Request, Resource
from tests.harness.api import Api, Bench, name_of

LEVELS = 1_500
DEEP = b'{"f:metadata":{"f:labels":%s{}%s}}' % (b'{"f:a":' * LEVELS, b"}" * LEVELS)
PATCH = (
    b'{"metadata":{"managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1",'
    b'"time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":%s}]}}' % DEEP
)


async def make_deep(api: Api, resource: Resource[Any], name: str, namespace: str) -> None:
    async with await api.connect() as cluster:
        await cluster.patch(resource, name, namespace, PATCH, patch_type=PatchType.MERGE)
        stored = await cluster.send(Request("GET", resource.path(namespace, name)))
    assert stored.count(b'"f:a"') == LEVELS


# The demo cluster takes no such object.
@pytest.mark.kube_apiserver
@pytest.mark.parametrize("initial_events", [True, False], ids=["initial events", "pages"])
@pytest.mark.parametrize("of", ["pod", "node"])
async def test_deep_managed_fields_hide_nothing(
    api: Api, bench: Bench, of: str, initial_events: bool
) -> None:
    pod = of == "pod"
    name = name_of(await bench.pod()) if pod else await bench.node()
    namespace = bench.namespace if pod else ""
    resource: Resource[Any] = cast("Resource[Any]", k8s.PODS if pod else k8s.NODES)
    await make_deep(api, resource, name, namespace)
    settings = replace(ClusterSettings(), watch_initial_events=initial_events)
    async with await api.connect(settings) as cluster:
        assert (await cluster.get(resource, name, namespace)).metadata.name == name
        watch = ListWatch(cluster, resource, SystemClock())
        async with aclosing(watch.events()) as events:
            whole = await anext(events)
    assert isinstance(whole, Replaced)
    assert name in {one.metadata.name for one in whole.items}
    assert name not in {one.metadata.name for one in whole.unreadable}
