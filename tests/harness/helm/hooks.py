"""The chart's webhooks on a real API server, called at a server of the test's own."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import ssl
from typing import TYPE_CHECKING, Any

from aiohttp import web

from bailiff.certificates import BUNDLED
from bailiff.cluster import NotFoundError
from bailiff.key_pairs import load_pair
from tests.harness.helm.chart import Object, render

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from bailiff.cluster import Cluster

# All of them, with the rotated certificate.
ALL: dict[str, Any] = {
    "tls": {"rotation": {"enabled": True}},
    "webhooks": {
        "mutatePods": {"enabled": True},
        "validatePods": {"enabled": True},
        "validateBindings": {"enabled": True},
        "validateNodes": {"enabled": True},
        "validateDeviceTaintRules": {"enabled": True},
        "validateResourceSlices": {"enabled": True},
        "validateEvictions": {"enabled": True},
        "validateDeletes": {"enabled": True, "users": ["evictor"]},
    },
}
# As kube-apiserver may not call names of Services, there being no DNS: an address of ours for each.
HOST = "localhost"


def configurations(values: Mapping[str, Any], namespace: str) -> Iterator[Object]:
    """What the chart registers, in the API's own form."""
    objects = render(values=values, namespace=namespace)
    yield from (obj for obj in objects if obj["kind"] in BUNDLED)


class Asked:
    """A webhook's server that allows everything, and keeps what it was asked.

    Attributes:
        reviews: each request, with the path it came by.
        context: what connections are served with from now on.
    """

    def __init__(self) -> None:
        self.reviews: list[tuple[str, Object]] = []
        self.context: ssl.SSLContext | None = None
        self._server: asyncio.Server | None = None

    def serve_with(self, certificate: bytes, key: bytes) -> None:
        """Another certificate for the connections that come now."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        load_pair(context, certificate, key)
        self.context = context
        # The one that listens hands each connection over by the name that it asks for.
        self._front.sni_callback = self._swap

    def _swap(self, connection: Any, _name: object, _context: object) -> None:
        connection.context = self.context

    @contextlib.asynccontextmanager
    async def served(self, certificate: bytes, key: bytes) -> AsyncIterator[str]:
        """Serve; the URL."""
        self._front = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        load_pair(self._front, certificate, key)
        self.serve_with(certificate, key)
        runner = web.ServerRunner(web.Server(self._answer, keepalive_timeout=0.1))
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self._front).start()
            yield f"https://{HOST}:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        review = json.loads(await request.read())["request"]
        self.reviews.append((request.path, review))
        response = {"uid": review["uid"], "allowed": True}
        body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        answer = web.json_response(body | {"response": response})
        # A connection that stands is not verified anew.
        answer.force_close()
        return answer


@contextlib.asynccontextmanager
async def registered(
    cluster: Cluster,
    namespace: str,
    values: Mapping[str, Any],
    url: str,
    change: Callable[[Object], None] = lambda _: None,
) -> AsyncIterator[list[Object]]:
    """The chart's configurations, called at this URL in place of the Service; gone in the end.

    `change` is done to each webhook before it is registered.
    """
    made = list(configurations(values, namespace))
    try:
        for configuration in made:
            for webhook in configuration["webhooks"]:
                path = webhook["clientConfig"].pop("service")["path"]
                webhook["clientConfig"]["url"] = f"{url}{path}"
                change(webhook)
            await cluster.create(BUNDLED[configuration["kind"]], configuration)
        yield made
    finally:
        for configuration in made:
            with contextlib.suppress(NotFoundError):
                await cluster.delete(
                    BUNDLED[configuration["kind"]], configuration["metadata"]["name"]
                )


def believing(authority: bytes) -> Callable[[Object], None]:
    """A change: webhooks believe this authority, and requests fail where they do not."""

    def change(webhook: Object) -> None:
        webhook["clientConfig"]["caBundle"] = base64.b64encode(authority).decode()
        webhook["failurePolicy"] = "Fail"

    return change
