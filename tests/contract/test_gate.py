"""The gate for evictors on a real kube-apiserver: `kubectl drain` through `bailiff serve`."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bailiff.cluster import ClusterError, PatchType
from tests.harness.api import NAMESPACES, PODS
from tests.harness.budgets import evict
from tests.harness.kube.hooks import Ran, kubectl
from tests.harness.kube.replicas import LABEL, Replicas, asked, replicas
from tests.harness.pausing import bailiff
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from tests.harness.api import Api, Bench
    from tests.harness.kube.apiserver import KubeApiserver

pytestmark = pytest.mark.kube_apiserver


@asynccontextmanager
async def gated(
    bench: Bench, server: KubeApiserver, folder: Path, policies: Mapping[str, Any], count: int = 1
) -> AsyncIterator[Replicas]:
    """The namespace of the test is one whose evictions are asked about, from now on."""
    body = {"metadata": {"labels": {LABEL: bench.namespace}}}
    await bench.cluster.patch(NAMESPACES, bench.namespace, "", body, patch_type=PatchType.MERGE)
    async with (
        replicas(server, folder, policies, count=count) as found,
        asked(bench.cluster, server, found, bench.namespace),
    ):
        yield found


async def drain(api: Api, node: str, *more: str) -> Ran:
    return await kubectl(api.kubeconfig, "drain", node, "--force", "--grace-period=0", *more)


async def names(bench: Bench) -> set[str]:
    found = await bench.cluster.list(PODS, namespace=bench.namespace)
    return {one["metadata"]["name"] for one in found.items}


async def filled_node(bench: Bench, *pods: str) -> str:
    node = await bench.node()
    for name in pods:
        await bench.pod(name, node=node)
    return node


async def is_held(bench: Bench, name: str) -> str:
    """Why a pod may not be evicted now; empty where it may. Nothing is evicted."""
    try:
        await evict(bench, name, dry=True)
    except ClusterError as error:
        return error.message
    return ""


async def test_kubectl_drain_waits_while_paused_and_goes_on_after(
    api: Api, bench: Bench, kube_apiserver: KubeApiserver, tmp_path: Path
) -> None:
    node = await filled_node(bench, "a", "b")
    where = ("--namespace", bench.namespace)
    pause = {"pause": {"namespace": bench.namespace}}
    async with gated(bench, kube_apiserver, tmp_path, pause) as found:
        await bailiff(api, "pause", *where, "--reason", "moving racks")

        await until(lambda: is_held(bench, "a"))
        before = sum(found.refusals())
        draining = asyncio.create_task(drain(api, node))
        await until(lambda: sum(found.refusals()) >= before + 2)
        assert await names(bench) == {"a", "b"}
        await bailiff(api, "resume", *where)
        ran = await draining
    assert (ran.code, await names(bench)) == (0, set()), ran.errors
