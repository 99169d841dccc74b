"""A real API server whose webhooks do not answer, for what it counts of them."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from bailiff.cluster import ClusterError, connect
from tests.harness.api import Bench
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.hook_port import MUTATING, VALIDATING, Registration
from tests.harness.kube.programs import assets, free_port
from tests.harness.objects import object_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.cluster import Resource

_PATIENCE = 30.0


@contextlib.contextmanager
def webhooks_that_fail() -> Iterator[KubeApiserver | None]:
    """The API server, after it has gone on without a webhook, and refused for want of another.

    None where its program is not there.
    """
    if assets() is None:
        yield None
        return
    with KubeApiserver() as server:
        asyncio.run(_fail(server))
        yield server


async def _fail(server: KubeApiserver) -> None:
    """Until a pod is refused; one webhook was left out before."""
    async with await connect(server.kubeconfig) as cluster:
        for kind, path, policy in (
            (MUTATING, "mutate/pods", "Ignore"),
            (VALIDATING, "validate/pods", "Fail"),
        ):
            await cluster.create(kind, _configuration(kind, path, policy, server))
        bench = await Bench.set_up(cluster)
        async with asyncio.timeout(_PATIENCE):
            while True:
                try:
                    await bench.pod()
                except ClusterError:
                    return
                # It comes to know of webhooks in its own time.
                await asyncio.sleep(0.1)


def _configuration(
    kind: Resource[dict[str, Any]], path: str, policy: str, server: KubeApiserver
) -> dict[str, Any]:
    hook = Registration(path=path, resources=["pods"], failure_policy=policy, timeout=1)
    name = "MutatingWebhookConfiguration"
    if kind is VALIDATING:
        name = "ValidatingWebhookConfiguration"
    whole = object_of(name, path.replace("/", "-"))
    whole |= {"apiVersion": "admissionregistration.k8s.io/v1"}
    # Nobody listens there.
    return whole | {"webhooks": [hook.webhook(free_port(), server.tls.ca)]}
