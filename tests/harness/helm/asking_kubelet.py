"""A kubelet that asks the API server who may read from it, as a real one does.

Source: pkg/kubelet/server/auth.go: a path is a subresource of the kubelet's own node.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bailiff.cluster import Resource
from tests.harness.fake_kubelet import answering

if TYPE_CHECKING:
    import asyncio

    from bailiff.cluster import Cluster
    from tests.harness.fake_kubelet import Behaviour

_TOKENS: Resource[dict[str, Any]] = Resource(
    "authentication.k8s.io", "v1", "tokenreviews", dict, namespaced=False
)
_ACCESS: Resource[dict[str, Any]] = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", dict, namespaced=False
)
_BEARER = re.compile(rb"Authorization: Bearer (\S+)", re.IGNORECASE)
_SUBRESOURCES = {b" /stats/": "stats", b" /configz": "configz"}


def asking(cluster: Cluster, node: str, behaviour: Behaviour) -> Behaviour:
    """403 for whoever may not read this of the node, 401 for whom nobody knows.

    Args:
        cluster: whose API server is asked, as somebody who may ask.
        node: the kubelet's.
        behaviour: for all others.
    """

    async def behave(head: bytes, writer: asyncio.StreamWriter) -> None:
        found = _BEARER.search(head)
        user = None if found is None else await _user(cluster, found[1].decode())
        if user is None:
            return await answering(b"Unauthorized", "401 Unauthorized")(head, writer)
        part = next(name for path, name in _SUBRESOURCES.items() if path in head)
        if not await _may(cluster, user, node, part):
            refusal = f"Forbidden (user={user}, verb=get, resource=nodes, subresource(s)=[{part}])"
            return await answering(refusal.encode(), "403 Forbidden")(head, writer)
        return await behaviour(head, writer)

    return behave


async def _user(cluster: Cluster, token: str) -> str | None:
    body = {"spec": {"token": token}}
    told = (await cluster.create(_TOKENS, _of(body, "authentication.k8s.io", "TokenReview")))[
        "status"
    ]
    return str(told["user"]["username"]) if told.get("authenticated") else None


async def _may(cluster: Cluster, user: str, node: str, subresource: str) -> bool:
    attributes = {"resource": "nodes", "subresource": subresource, "verb": "get", "name": node}
    body = {"spec": {"user": user, "resourceAttributes": attributes}}
    told = await cluster.create(_ACCESS, _of(body, "authorization.k8s.io", "SubjectAccessReview"))
    return bool(told["status"]["allowed"])


def _of(body: dict[str, Any], group: str, kind: str) -> dict[str, Any]:
    return body | {"apiVersion": f"{group}/v1", "kind": kind}
