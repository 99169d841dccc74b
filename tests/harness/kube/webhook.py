"""A validating admission webhook on loopback that answers as a test wants, with any HTTP code.

A ValidatingAdmissionPolicy can deny, but hardly with a code of its choice; a webhook may answer
any from 400 up, and the API server passes it on (apiserver's `admission/plugin/webhook/errors`,
ToStatusErr).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Container
from typing import TYPE_CHECKING, Any

from aiohttp import web

from bailiff.cluster import Cluster, ClusterError, Resource
from bailiff.worker.systems.node_taints.annotator import ANNOTATION
from tests.harness.working import until

if TYPE_CHECKING:
    from tests.harness.kube.tls import Tls

# An AdmissionReview's `request`, and the Status to deny it with.
Review = dict[str, Any]
Denial = dict[str, Any]

_CONFIGURATIONS: Resource[dict[str, Any]] = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    dict,
    namespaced=False,
)


class Webhook:
    """The webhook.

    Args:
        tls: of the API server; its certificate is good for every port of 127.0.0.1.
        judge: says how a request is denied; None lets it pass. Dry runs are asked about too.

    Attributes:
        opened: it answers nobody before this is set.
        asked: about how many requests.
        denied: how many requests were denied, by the object's name.
        denied_in: likewise, by its namespace.
    """

    def __init__(self, tls: Tls, judge: Callable[[Review], Denial | None]) -> None:
        self._tls = tls
        self.judge = judge
        self.opened = asyncio.Event()
        self.opened.set()
        self.asked = 0
        self.denied: Counter[str] = Counter()
        self.denied_in: Counter[str] = Counter()

    @contextlib.asynccontextmanager
    async def registered(
        self, cluster: Cluster, name: str, operation: str, resource: str
    ) -> AsyncIterator[None]:
        """Serve, and have the API server ask about `DELETE` of `pods`, or the like.

        It begins to ask a moment later: see `in_force`.
        """
        async with self._served() as url:
            client = {"url": url, "caBundle": base64.b64encode(self._tls.ca.read_bytes()).decode()}
            body = _configuration(name, client, operation, resource)
            await cluster.create(_CONFIGURATIONS, body)
            try:
                yield
            finally:
                await cluster.delete(_CONFIGURATIONS, name)

    @contextlib.asynccontextmanager
    async def _served(self) -> AsyncIterator[str]:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self._tls.certificate, self._tls.key)
        runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
            yield f"https://127.0.0.1:{runner.addresses[0][1]}/"
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        review: Review = (await request.json())["request"]
        self.asked += 1
        await self.opened.wait()
        denial = self.judge(review)
        response: dict[str, Any] = {"uid": review["uid"], "allowed": denial is None}
        if denial is not None:
            self.denied[review["name"]] += 1
            self.denied_in[review.get("namespace", "")] += 1
            response["status"] = denial
        body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        return web.json_response(body | {"response": response})


def with_code(code: int) -> Denial:
    """A denial as most webhooks write it."""
    return {"code": code, "message": "nobody goes before noon"}


def as_if_gone(review: Review) -> Denial:
    """A denial that looks like the API server's own answer about a pod that does not exist."""
    name = review["name"]
    details = {"name": name, "kind": "pods"}
    message = f'pods "{name}" not found'
    return {"code": 404, "reason": "NotFound", "message": message, "details": details}


def keeping_annotations(nodes: Container[str]) -> Callable[[Review], Denial | None]:
    """Deny that what these nodes once say of their taints is changed or taken away."""

    def judge(review: Review) -> Denial | None:
        before, after = (_annotation(review[which]) for which in ("oldObject", "object"))
        kept = review["name"] in nodes and before is not None and before != after
        return with_code(403) if kept else None

    return judge


def _annotation(node: dict[str, Any]) -> str | None:
    found: str | None = (node["metadata"].get("annotations") or {}).get(ANNOTATION)
    return found


async def in_force(probe: Callable[[], Awaitable[object]]) -> None:
    """Wait until a request that is to be denied is denied."""

    async def denied() -> bool:
        try:
            await probe()
        except ClusterError:
            return True
        return False

    await until(denied)


def _configuration(
    name: str, client: dict[str, str], operation: str, resource: str
) -> dict[str, Any]:
    rule = {
        "operations": [operation],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": [resource],
    }
    webhook = {
        "name": f"{name}.example.com",
        "clientConfig": client,
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        # What became of the webhook must not decide a test.
        "failurePolicy": "Ignore",
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook],
    }
