"""The real API server, with the kinds that the Prometheus operator and cert-manager bring."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING

import pytest

from bailiff.cluster import (
    AlreadyExistsError,
    Cluster,
    NotFoundError,
    Request,
    Resource,
    TooManyRequestsError,
    connect,
)
from tests.harness.api import NAMESPACES, Bench
from tests.harness.helm.chart import run
from tests.harness.helm.stand_ins import (
    CERTIFICATES,
    POD_MONITORS,
    PROMETHEUS_RULES,
    SERVICE_MONITORS,
)
from tests.harness.kube.fixtures import kube_apiserver
from tests.harness.objects import object_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from tests.harness.kube.apiserver import KubeApiserver

__all__ = ["kube_apiserver"]

CRDS: Resource = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", dict, namespaced=False
)


@pytest.fixture
async def cluster(kube_apiserver: KubeApiserver) -> AsyncIterator[Cluster]:
    """The API server, as administrator."""
    async with await connect(kube_apiserver.kubeconfig) as client:
        yield client


@pytest.fixture
async def bench(cluster: Cluster) -> AsyncIterator[Bench]:
    """A fresh namespace, cleared away at the end."""
    bench = await Bench.set_up(cluster)
    yield bench
    await bench.clear_away()


@pytest.fixture
def helm(kube_apiserver: KubeApiserver, bench: Bench) -> Iterator[Callable[..., str]]:
    """Runs helm upon a release in a namespace of its own; gone in the end."""

    def _helm(command: str, *arguments: str) -> str:
        done = run(
            *("helm", command, "bailiff", *arguments),
            *("--namespace", bench.namespace, "--kubeconfig", str(kube_apiserver.kubeconfig)),
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    yield _helm
    _helm("uninstall")


@pytest.fixture
async def strict_namespace(cluster: Cluster) -> str:
    """A namespace that takes only pods of the Pod Security Standard "restricted"."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    name = f"strict-{secrets.token_hex(4)}"
    body = object_of("Namespace", name) | {"metadata": {"name": name, "labels": labels}}
    await cluster.create(NAMESPACES, body)
    return name


@pytest.fixture
async def monitors(cluster: Cluster) -> None:
    """The kinds of the Prometheus operator and of cert-manager are served and described."""
    for kind in (SERVICE_MONITORS, POD_MONITORS, PROMETHEUS_RULES, CERTIFICATES):
        with contextlib.suppress(AlreadyExistsError):
            await cluster.create(CRDS, kind)
        spec = kind["spec"]
        group = f"apis/{spec['group']}/v1"
        for path in (group, f"{group}/{spec['names']['plural']}", f"openapi/v3/{group}"):
            await _served(cluster, f"/{path}")


async def _served(cluster: Cluster, path: str) -> None:
    """Wait for it; the API server comes to know a new kind in its own time."""
    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(NotFoundError, TooManyRequestsError):
                await cluster.send(Request("GET", path))
                return
            await asyncio.sleep(0.1)
