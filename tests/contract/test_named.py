"""One object by its name: how settings are followed in a ConfigMap, and labels of a Namespace."""

from __future__ import annotations

import asyncio
import json

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import PatchType, Request
from tests.harness.api import NAMESPACES, Bench, name_of
from tests.harness.objects import Object, config_map

pytestmark = pytest.mark.parity

MAPS: k8s.Resource[Object] = k8s.Resource("", "v1", "configmaps", dict)
PATIENCE = 10


async def test_a_config_map_is_listed_by_name(bench: Bench) -> None:
    for name in ("a", "b"):
        await bench.cluster.create(MAPS, config_map(name, x="1"), bench.namespace)
    listing = await bench.cluster.list(
        MAPS, namespace=bench.namespace, field_selector="metadata.name=b"
    )
    assert [name_of(one) for one in listing.items] == ["b"]


async def test_a_namespace_is_listed_by_name_and_label(bench: Bench) -> None:
    by_name = f"metadata.name={bench.namespace}"
    by_label = f"kubernetes.io/metadata.name={bench.namespace}"
    for selector in ({"field_selector": by_name}, {"label_selector": by_label}):
        listing = await bench.cluster.list(NAMESPACES, **selector)
        assert [name_of(one) for one in listing.items] == [bench.namespace]


@pytest.mark.parametrize("kind", ["configmap", "namespace"])
async def test_changes_of_one_by_name_are_watched(bench: Bench, kind: str) -> None:
    resource, name, namespace = NAMESPACES, bench.namespace, ""
    if kind == "configmap":
        resource, name, namespace = MAPS, "a", bench.namespace
        await bench.cluster.create(MAPS, config_map("a"), namespace)
    listing = await bench.cluster.list(
        resource, namespace=namespace, field_selector=f"metadata.name={name}"
    )
    if kind == "configmap":
        await bench.cluster.create(MAPS, config_map("other"), namespace)
    patch = {"metadata": {"labels": {"x": "y"}}}
    await bench.cluster.patch(resource, name, namespace, patch, patch_type=PatchType.MERGE)
    query = {
        "watch": "1",
        "fieldSelector": f"metadata.name={name}",
        "resourceVersion": listing.resource_version,
        "timeoutSeconds": "1",
    }
    async with asyncio.timeout(PATIENCE):
        lines = await bench.cluster.send(Request("GET", resource.path(namespace), query))
    events = [json.loads(line) for line in lines.splitlines()]
    assert [(e["type"], name_of(e["object"])) for e in events] == [("MODIFIED", name)]
    assert events[0]["object"]["metadata"]["labels"]["x"] == "y"
