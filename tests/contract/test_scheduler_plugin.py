"""kube-scheduler with the plugin of examples/scheduler-plugin: the worker evicts when it said."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from bailiff.clock import SystemClock
from bailiff.cluster import NotFoundError
from bailiff.decisions import Options
from bailiff.grpc_api import GrpcSettings, create_server
from tests.harness.api import NODES, PODS, Bench, name_of, uid_of
from tests.harness.go_examples import built, passes
from tests.harness.kube.programs import free_port
from tests.harness.kube.scheduler import (
    MERGE,
    kube_scheduler,
    of_guide,
    ready_node,
    register,
    unregister,
)
from tests.harness.objects import pod_object, taint, tolerating
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bailiff.worker import Worker
    from tests.harness.api import Api
    from tests.harness.clocks import JumpingClock
    from tests.harness.objects import Object

pytestmark = pytest.mark.kube_apiserver

PROGRAM = "tests/contract/test_scheduler_plugin.py"
UNTIL = "bailiff.dev/residency-until"
# Kubernetes notes the binding by the second.
WITHIN = timedelta(seconds=1)
# By the taint of a node: for how many seconds pods tolerate it.
SECONDS = {"spot": 600, "brief": 60, "gone": 3600}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("scheduler-plugin", tmp_path_factory.mktemp("go"))


def test_its_own_tests(plugin: Path) -> None:
    passes(plugin.parent)


def configured(port: int, **args: str) -> Object:
    """As the guide has it, asked at this port."""
    configuration = of_guide(PROGRAM)
    ((own,),) = (profile["pluginConfig"] for profile in configuration["profiles"])
    assert own["name"] == "Residency"
    own["args"] |= {"address": f"127.0.0.1:{port}", "timeout": "10s", **args}
    return configuration


@contextlib.asynccontextmanager
async def bailiff(port: int = 0) -> AsyncIterator[int]:
    """A decision API; its port."""
    settings = GrpcSettings(port=port)
    server = create_server(settings, SystemClock(), CollectorRegistry(), Options())
    port = await server.start()
    try:
        yield port
    finally:
        await server.stop(0.1)


@contextlib.asynccontextmanager
async def registered(bench: Bench, nodes: list[Object]) -> AsyncIterator[None]:
    await register(bench.cluster, nodes)
    try:
        yield
    finally:
        with contextlib.suppress(NotFoundError):
            await unregister(bench.cluster, nodes)


def node_of(bench: Bench, name: str, *keys: str) -> Object:
    node = ready_node(f"{bench.namespace}-{name}", *(taint(key) for key in keys))
    node["metadata"]["labels"]["kind"] = "-".join(keys) or "none"
    return node


async def pod(bench: Bench, name: str, kind: str = "") -> Object:
    """A pod that tolerates all the taints for a while; where a kind is named, for such nodes."""
    selector = {"nodeSelector": {"kind": kind}} if kind else {}
    tolerations = [tolerating(seconds, key) for key, seconds in SECONDS.items()]
    made = pod_object(name, tolerations=tolerations, **selector)
    return await bench.cluster.create(PODS, made, bench.namespace)


async def bound(bench: Bench, *names: str) -> list[Object]:
    """These pods, once all of them are."""

    async def all_bound() -> bool:
        return all([(await bench.get(name))["spec"].get("nodeName") for name in names])

    await until(all_bound)
    return [await bench.get(name) for name in names]


def residency(found: Object) -> datetime | None:
    told = found["metadata"].get("annotations", {}).get(UNTIL)
    return None if told in (None, "forever") else datetime.fromisoformat(told)


async def test_the_worker_evicts_when_the_pod_was_told(
    api: Api, bench: Bench, plugin: Path, worker: Worker, clock: JumpingClock, tmp_path: Path
) -> None:
    kinds = {"spot": ("spot",), "brief": ("brief",), "spot-brief": ("spot", "brief"), "none": ()}
    nodes = [
        node_of(bench, f"{kind}-{number}", *keys)
        for kind, keys in kinds.items()
        for number in range(10)
    ]
    async with (
        bailiff() as port,
        registered(bench, nodes),
        kube_scheduler(api.kubeconfig, configured(port), tmp_path, plugin) as program,
    ):
        pods = [f"{kind}-{number}" for kind in kinds for number in range(20)]
        for name in pods:
            await pod(bench, name, kind=name.rpartition("-")[0])
        found = await bound(bench, *pods)
        assert program.running
        stays = {name_of(one): residency(one) for one in found}
        assert [name for name, stay in stays.items() if stay is None] == pods[60:]
        await until(lambda: due(worker).keys() >= {uid_of(one) for one in found[:60]})
        deadlines = {name_of(one): due(worker)[uid_of(one)] for one in found[:60]}
        late = {name: deadlines[name] - (stays[name] or NEVER) for name in pods[:60]}
        assert {name: by for name, by in late.items() if abs(by) > WITHIN} == {}
        clock.skip(60)
        await until(lambda: gone(bench, [name for name in pods[:60] if "brief" in name]))
        assert not await gone(bench, ["spot-0"])


NEVER = datetime.max.replace(tzinfo=UTC)


def due(worker: Worker) -> dict[str, datetime]:
    """Whom the worker is to evict, and when."""
    return {one.uid: one.deadline for one in worker.pending}


async def gone(bench: Bench, names: list[str]) -> bool:
    pods = [await bench.get(name) for name in names]
    return all("deletionTimestamp" in one["metadata"] for one in pods)


async def test_nodes_that_change_come_and_go_are_told(
    api: Api, bench: Bench, plugin: Path, tmp_path: Path
) -> None:
    spot = node_of(bench, "a", "spot")
    async with (
        bailiff() as port,
        registered(bench, [spot]),
        kube_scheduler(api.kubeconfig, configured(port), tmp_path, plugin),
    ):
        await pod(bench, "first")
        (first,) = await bound(bench, "first")
        assert abs((residency(first) or NEVER) - in_(600)) < timedelta(seconds=30)
        taints = {"spec": {"taints": [taint("gone")]}}
        await bench.cluster.patch(NODES, name_of(spot), "", taints, patch_type=MERGE)
        better = node_of(bench, "b")
        await register(bench.cluster, [better])
        await pod(bench, "second", kind="none")
        (second,) = await bound(bench, "second")
        assert second["spec"]["nodeName"] == name_of(better)
        assert second["metadata"]["annotations"][UNTIL] == "forever"
        await unregister(bench.cluster, [better])

        await pod(bench, "third", kind="spot")
        (last,) = await bound(bench, "third")
        assert last["spec"]["nodeName"] == name_of(spot)
        assert abs((residency(last) or NEVER) - in_(3600)) < timedelta(seconds=30)


def in_(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def test_a_node_that_would_evict_too_soon_is_refused(
    api: Api, bench: Bench, plugin: Path, tmp_path: Path
) -> None:
    brief = node_of(bench, "a", "brief")
    async with (
        bailiff() as port,
        registered(bench, [brief]),
        kube_scheduler(api.kubeconfig, configured(port, minimumResidency="5m"), tmp_path, plugin),
    ):
        await pod(bench, "web")
        said = await refused(bench, "web")
        assert "1 node(s) that the pod would be evicted from within 5m0s" in said
        taints = {"spec": {"taints": [taint("spot")]}}
        await bench.cluster.patch(NODES, name_of(brief), "", taints, patch_type=MERGE)
        await bound(bench, "web")


async def refused(bench: Bench, name: str) -> str:
    """Why a pod is not scheduled, once that is told."""
    told: list[str] = []

    async def is_told() -> bool:
        conditions = (await bench.get(name))["status"].get("conditions", [])
        told[:] = [one["message"] for one in conditions if one["status"] == "False"]
        return bool(told)

    await until(is_told)
    return told[0]


@contextlib.asynccontextmanager
async def silent() -> AsyncIterator[int]:
    """Somebody who takes connections and says nothing; the port."""

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_without_bailiff_pods_are_scheduled_or_wait_as_is_chosen(
    api: Api, bench: Bench, plugin: Path, tmp_path: Path
) -> None:
    nodes = [node_of(bench, "a", "spot"), node_of(bench, "b", "shut")]
    port = free_port()
    async with registered(bench, nodes):
        async with (
            silent() as mute,
            kube_scheduler(api.kubeconfig, configured(mute, timeout="200ms"), tmp_path, plugin),
        ):
            await pod(bench, "ignored")
            (ignored,) = await bound(bench, "ignored")
            # Kubernetes' own plugin has looked at the taints.
            assert ignored["spec"]["nodeName"] == name_of(nodes[0])
            assert UNTIL not in ignored["metadata"].get("annotations", {})
        failing = configured(port, onFailure="Fail", timeout="10s")
        async with kube_scheduler(api.kubeconfig, failing, tmp_path, plugin):
            await pod(bench, "waiting")
            assert "no answer from Bailiff" in await refused(bench, "waiting")
            async with bailiff(port):
                (waiting,) = await bound(bench, "waiting")
                assert residency(waiting) is not None
