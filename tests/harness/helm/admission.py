"""The chart's admission policies on a real API server."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from bailiff.cluster import (
    AdmissionDeniedError,
    Cluster,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    Request,
    Resource,
    connect,
)
from tests.harness.helm.chart import Object, render

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from tests.harness.kube.apiserver import KubeApiserver

_GROUP = ("admissionregistration.k8s.io", "v1")
POLICIES: Resource[Object] = Resource(
    *_GROUP, "validatingadmissionpolicies", dict, namespaced=False
)
_KINDS: dict[str, Resource[Object]] = {
    "ValidatingAdmissionPolicy": POLICIES,
    "ValidatingAdmissionPolicyBinding": Resource(
        *_GROUP, "validatingadmissionpolicybindings", dict, namespaced=False
    ),
}
_EVENTS: Resource[Object] = Resource("", "v1", "events", dict)
# As the API server looks for changed policies (apiserver pkg/admission/plugin/policy/generic,
# policyRefreshInterval).
_REFRESH = 1.0


@contextlib.asynccontextmanager
async def admission_in_force(
    server: KubeApiserver,
    account: Path,
    namespace: str,
    values: Mapping[str, Any] | None = None,
) -> AsyncIterator[None]:
    """As `hold_admission`; they go in the end, for they are the whole cluster's."""
    try:
        await hold_admission(server, account, namespace, values)
        yield
    finally:
        async with await connect(server.kubeconfig) as cluster:
            for kind, obj in reversed(_made(namespace, values)):
                with contextlib.suppress(NotFoundError):
                    await cluster.send(Request("DELETE", kind.path("", obj["metadata"]["name"])))


async def hold_admission(
    server: KubeApiserver,
    account: Path,
    namespace: str,
    values: Mapping[str, Any] | None = None,
) -> None:
    """Let the chart's policies hold.

    Args:
        server: where.
        account: a kubeconfig of the worker's account, by which is seen that they hold.
        namespace: where the chart is installed.
        values: of the chart.
    """
    async with await connect(server.kubeconfig) as cluster:
        for kind, obj in _made(namespace, values):
            await cluster.create(kind, obj)
    async with await connect(account) as own:
        await _until_they_hold(own, namespace)


def _made(
    namespace: str, values: Mapping[str, Any] | None
) -> list[tuple[Resource[Object], Object]]:
    """What is made, the policies first: a binding of nothing is nothing."""
    objects = render(values=values, namespace=namespace)
    return [
        (resource, obj)
        for kind, resource in _KINDS.items()
        for obj in objects
        if obj["kind"] == kind
    ]


async def _until_they_hold(own: Cluster, namespace: str) -> None:
    """An Event that nobody may write tells; it is refused from some moment on."""
    body = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": "probe-", "namespace": namespace},
        "involvedObject": {"kind": "Pod", "namespace": namespace, "name": "none"},
        "reportingComponent": "somebody-else",
        "source": {"component": "somebody-else"},
    }
    async with asyncio.timeout(60):
        while True:
            try:
                await own.create(_EVENTS, body, namespace, dry_run=True)
            except (AdmissionDeniedError, ForbiddenError, InvalidError):
                break
            await asyncio.sleep(0.1)
    # The others are looked at in the same round, or, where their watch was slower, in the next.
    await asyncio.sleep(1.2 * _REFRESH)
