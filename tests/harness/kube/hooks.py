"""Bailiff's hooks over TLS on loopback, registered at a real kube-apiserver; and kubectl."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

from prometheus_client import CollectorRegistry

from bailiff.cluster import Resource
from bailiff.serving import HttpServer, ServingTls, TlsFiles
from tests.harness.kube.programs import assets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from starlette.types import ASGIApp

    from bailiff.cluster import Cluster
    from tests.harness.kube.tls import Tls

CONFIGURATIONS: Resource[dict[str, Any]] = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    dict,
    namespaced=False,
)


class Registered(NamedTuple):
    """One hook, and what the API server is to ask it about.

    Attributes:
        path: below `/admission/v1/`.
        resources: as of a rule.
        operations: as of a rule.
        group: of the resources.
        selectors: `objectSelector` or `namespaceSelector`, since others share the API server.
        policy: the failurePolicy.
    """

    path: str
    resources: Sequence[str]
    operations: Sequence[str] = ("CREATE", "UPDATE")
    group: str = ""
    selectors: Mapping[str, Any] = {}
    policy: str = "Fail"

    def webhook(self, url: str, ca: bytes) -> dict[str, Any]:
        """As it stands in a configuration."""
        rule = {
            "operations": list(self.operations),
            "apiGroups": [self.group],
            "apiVersions": ["v1"],
            "resources": list(self.resources),
        }
        return {
            "name": f"{self.path.replace('/', '.')}.bailiff.dev",
            "clientConfig": {
                "url": f"{url}/admission/v1/{self.path}",
                "caBundle": base64.b64encode(ca).decode(),
            },
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": self.policy,
            "timeoutSeconds": 5,
            **self.selectors,
        }


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, tls: Tls) -> AsyncIterator[str]:
    """An application over TLS, with a certificate that is good for every port of 127.0.0.1."""
    files = TlsFiles(tls.certificate, tls.key, None, clients_must=False)
    http = HttpServer(app, "127.0.0.1", 0, tls=ServingTls(files, CollectorRegistry()))
    port = await http.start()
    try:
        yield f"https://127.0.0.1:{port}"
    finally:
        await http.stop(grace=1)


@contextlib.asynccontextmanager
async def registered(
    cluster: Cluster, name: str, app: ASGIApp, tls: Tls, *hooks: Registered
) -> AsyncIterator[str]:
    """Serve, and have the API server ask; it begins to a moment later. Yields the URL."""
    async with serving(app, tls) as url:
        ca = tls.ca.read_bytes()
        body = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": [one.webhook(url, ca) for one in hooks],
        }
        await cluster.create(CONFIGURATIONS, body)
        try:
            yield url
        finally:
            await cluster.delete(CONFIGURATIONS, name)


class Ran(NamedTuple):
    """What a program came to.

    Attributes:
        code: its exit code.
        out: what it said.
        warnings: what it warned of, line by line.
        errors: what else it said on standard error.
    """

    code: int
    out: str
    warnings: list[str]
    errors: str


async def kubectl(kubeconfig: Path, *arguments: str, given: str = "") -> Ran:
    """Run the real kubectl, with something on its standard input."""
    folder = assets()
    assert folder is not None
    program = await asyncio.create_subprocess_exec(
        folder / "kubectl",
        "--kubeconfig",
        kubeconfig,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await program.communicate(given.encode())
    lines = err.decode().splitlines()
    warnings = [one.removeprefix("Warning: ") for one in lines if one.startswith("Warning: ")]
    errors = "\n".join(one for one in lines if not one.startswith("Warning: "))
    assert program.returncode is not None
    return Ran(program.returncode, out.decode(), warnings, errors)
