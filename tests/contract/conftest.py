"""Which API server a contract test meets: both, the real one, or the one there is.

Marked `parity`: both, because the demo cluster has to answer as the real one does, which is the
truth. Marked `kube_apiserver`: the real one alone. Everything else is about Bailiff, which cannot
tell them apart: one server is enough, the real one where there is one.
"""

from __future__ import annotations

import secrets
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from bailiff.cluster import NotFoundError, connect
from tests.harness.api import Api, Bench, forget_by_restart
from tests.harness.clocks import JumpingClock
from tests.harness.device_objects import CLASSES, RULES, SLICES
from tests.harness.gpus import gpus_of
from tests.harness.helm.worker_account import chart_worker
from tests.harness.kube.fixtures import kube_apiserver
from tests.harness.kube.programs import assets
from tests.harness.working import devices_of, running_worker, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bailiff.cluster import Cluster
    from bailiff.worker import Worker
    from tests.harness.gpus import Gpus
    from tests.harness.kube.apiserver import KubeApiserver

__all__ = ["chart_worker", "kube_apiserver"]


@asynccontextmanager
async def _demo(folder: Path) -> AsyncIterator[Api]:
    from bailiff_demo import DemoCluster

    async with DemoCluster(port=0, lively=False) as demo:
        kubeconfig = folder / "demo.kubeconfig"
        kubeconfig.write_text(demo.kubeconfig())

        async def forget() -> None:
            demo.store.forget()

        port = urlsplit(demo.url).port
        assert port is not None
        yield Api("demo", kubeconfig, kubeconfig, port, forget)


def _real(server: KubeApiserver, worker: Path) -> Api:
    async def forget() -> None:
        # Killed: told to end, it waits up to 10 s for watches to do so.
        await forget_by_restart(server.compact, partial(server.restart_apiserver, kill=True))

    return Api("kube-apiserver", server.kubeconfig, worker, server.port, forget)


DEMO = pytest.param("demo", marks=pytest.mark.demo)
REAL = pytest.param("kube-apiserver", marks=pytest.mark.kube_apiserver)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "api" in metafunc.fixturenames:
        metafunc.parametrize("api", _servers(metafunc.definition), indirect=True)


def _servers(test: pytest.Item) -> list[pytest.ParameterSet]:
    if test.get_closest_marker("kube_apiserver"):
        return [REAL]
    if test.get_closest_marker("parity"):
        return [DEMO, REAL]
    return [DEMO if assets() is None else REAL]


@pytest.fixture
async def api(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Api]:
    """The API under test."""
    if request.param == "kube-apiserver":
        server = request.getfixturevalue("kube_apiserver")
        yield _real(server, request.getfixturevalue("chart_worker"))
    else:
        async with _demo(tmp_path) as demo:
            yield demo


@pytest.fixture
async def cluster(api: Api) -> AsyncIterator[Cluster]:
    """The client under test, as administrator."""
    async with await api.connect() as client:
        yield client


@pytest.fixture
async def as_worker(api: Api) -> AsyncIterator[Cluster]:
    """The client under test, as the chart's worker."""
    async with await connect(api.worker_kubeconfig) as client:
        yield client


@pytest.fixture
async def bench(cluster: Cluster) -> AsyncIterator[Bench]:
    """A fresh namespace, cleared away at the end."""
    bench = await Bench.set_up(cluster)
    yield bench
    await bench.clear_away()


@pytest.fixture
def clock() -> JumpingClock:
    """The worker's, so that nobody need wait for its timers."""
    return JumpingClock()


@pytest.fixture
async def worker(as_worker: Cluster, clock: JumpingClock) -> AsyncIterator[Worker]:
    """A worker that has seen everything."""
    async with running_worker(as_worker, clock=clock) as worker:
        await until(lambda: worker.mirror.synced)
        yield worker


@pytest.fixture
async def device_worker(as_worker: Cluster, clock: JumpingClock) -> AsyncIterator[Worker]:
    """The same, for devices too."""
    async with running_worker(as_worker, devices=True, clock=clock) as worker:
        await until(lambda: worker.mirror.synced and devices_of(worker).ready)
        yield worker


@pytest.fixture
async def gpus(bench: Bench) -> AsyncIterator[Gpus]:
    """A node with devices."""
    async with gpus_of(bench) as gpus:
        yield gpus


@pytest.fixture
async def name(bench: Bench) -> AsyncIterator[str]:
    """For what lives in no namespace; slices, rules and classes of that name go in the end."""
    name = f"device-{secrets.token_hex(4)}"
    yield name
    for resource in (SLICES, RULES, CLASSES):
        with suppress(NotFoundError):
            await bench.cluster.delete(resource, name, "")
