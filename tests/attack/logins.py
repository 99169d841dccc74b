"""What processes log in to the API server with, and what their callers have who are asked for it.

On a secured stage all of that is the chart's: the accounts and their rights, a token of the cluster
for who asks, and TLS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bailiff.cluster import Cluster, Resource, connect
from tests.attack.access import Access
from tests.harness.api import NAMESPACES
from tests.harness.helm.accounts import log_in
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.tls import make_tls
from tests.harness.kube.tokens import ACCOUNTS, token_of
from tests.harness.objects import Object, object_of

_RBAC = ("rbac.authorization.k8s.io", "v1")
_ROLES: Resource[Object] = Resource(*_RBAC, "clusterroles", dict, namespaced=False)
_BINDINGS: Resource[Object] = Resource(*_RBAC, "clusterrolebindings", dict, namespaced=False)
_NAMESPACE, _CALLER, _GUEST = "bailiff", "caller", "guest"


@dataclass(frozen=True)
class Logins:
    """Kubeconfigs by who has them, and how what they run is secured.

    Attributes:
        namespace: of the worker's Lease.
        flags: of both processes.
        access: of their callers; None: nobody is asked who it is.
    """

    admin: Path
    api: Path
    worker: Path
    namespace: str
    flags: Sequence[str] = ()
    access: Access | None = None


async def secure(server: KubeApiserver, folder: Path) -> Logins:
    """Have a cluster in which the chart is installed, and callers of it."""
    tls = make_tls(folder)
    flags = (
        f"--tls-cert-file={tls.certificate}",
        f"--tls-private-key-file={tls.key}",
        "--authentication-token-webhook",
    )
    async with await connect(server.kubeconfig) as cluster:
        await cluster.create(NAMESPACES, object_of("Namespace", _NAMESPACE))
        api, worker = [await log_in(server, one, _NAMESPACE) for one in ("api", "worker")]
        await _add_callers(cluster)
        token, guest = [await _token(cluster, account) for account in (_CALLER, _GUEST)]
    return Logins(
        server.kubeconfig, api, worker, _NAMESPACE, flags, Access(str(tls.ca), token, guest)
    )


async def fresh_tokens(cluster: Cluster, number: int) -> Sequence[str]:
    """Tokens of the healthy caller that nobody has shown yet."""
    return [await _token(cluster, _CALLER) for _ in range(number)]


async def _token(cluster: Cluster, account: str) -> str:
    return await token_of(cluster, _NAMESPACE, account, "bailiff")


async def _add_callers(cluster: Cluster) -> None:
    """One who may read pods, and one who may nothing."""
    for account in (_CALLER, _GUEST):
        await cluster.create(ACCOUNTS, object_of("ServiceAccount", account), _NAMESPACE)
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
    await cluster.create(_ROLES, {"metadata": {"name": _CALLER}, "rules": [rule]})
    await cluster.create(_BINDINGS, _binding())


def _binding() -> Mapping[str, Any]:
    return {
        "metadata": {"name": _CALLER},
        "roleRef": {"apiGroup": _RBAC[0], "kind": "ClusterRole", "name": _CALLER},
        "subjects": [{"kind": "ServiceAccount", "name": _CALLER, "namespace": _NAMESPACE}],
    }
