"""Bailiff's hooks on a port of their own, and an API server that is told to call them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from bailiff.bootstrap.admission import hook_server
from bailiff.bootstrap.choices import AdmissionChoice
from bailiff.clock import SystemClock
from bailiff.cluster import Cluster, Resource
from bailiff.decisions import Options
from bailiff.rest_api import RestSettings, create_app
from bailiff.serving import Edge, EdgeSettings, ServingTls, TlsFiles
from bailiff.webhooks import Admission, AdmissionMetrics
from tests.harness.admission import SETTINGS, hooks

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.webhooks import AdmissionSettings, Hook
    from tests.harness.kube.tls import Tls

# Seconds between two looks at the files of TLS.
_LOOK_EVERY = 0.05
_GROUP = ("admissionregistration.k8s.io", "v1")
MUTATING: Resource[dict[str, Any]] = Resource(
    *_GROUP, "mutatingwebhookconfigurations", dict, namespaced=False
)
VALIDATING: Resource[dict[str, Any]] = Resource(
    *_GROUP, "validatingwebhookconfigurations", dict, namespaced=False
)


class HookPort:
    """The port, as `bailiff serve --admission-port` opens it.

    Args:
        tls: to serve with, read again when the files change.
        asked: hooks; none: all that a process without a cluster has.
        settings: how they answer.
        hook_ca: vouches for who calls; None: nobody need show a certificate.

    Attributes:
        registry: its metrics.
        tls: what is in force.
        port: once it listens.
    """

    def __init__(
        self,
        tls: Tls,
        asked: Sequence[Hook] = (),
        settings: AdmissionSettings = SETTINGS,
        hook_ca: Path | None = None,
    ) -> None:
        self.registry, clock = CollectorRegistry(), SystemClock()
        self.ca = tls.ca
        files = TlsFiles(tls.certificate, tls.key, hook_ca=hook_ca)
        self.tls = ServingTls(files, self.registry, _LOOK_EVERY)
        bounds = RestSettings()
        app = create_app(bounds, clock, self.registry, Options())
        admission = Admission(
            asked or hooks(settings), settings, clock, AdmissionMetrics(self.registry)
        )
        edge = Edge.of(EdgeSettings(), self.registry)
        self.server = hook_server(AdmissionChoice(port=0), app, admission, bounds, edge, self.tls)
        self.port = 0

    async def start(self) -> None:
        """Listen."""
        self.port = await self.server.start()

    async def stop(self) -> None:
        """Be gone."""
        await self.server.stop(1)

    def count(self, hook: str, result: str) -> float:
        """Reviews of a hook that came to this."""
        labels = {"hook": hook, "result": result}
        name = "bailiff_admission_requests_total"
        return self.registry.get_sample_value(name, labels) or 0.0


@contextlib.asynccontextmanager
async def listening(*arguments: Any, **named: Any) -> AsyncIterator[HookPort]:
    """A HookPort that listens meanwhile."""
    port = HookPort(*arguments, **named)
    await port.start()
    following = asyncio.create_task(port.tls.run())
    try:
        yield port
    finally:
        following.cancel()
        await port.stop()


@dataclass(frozen=True, kw_only=True)
class Registration:
    """One webhook, as an operator registers it."""

    path: str
    resources: Sequence[str]
    operations: Sequence[str] = ("CREATE", "UPDATE")
    groups: Sequence[str] = ("",)
    versions: Sequence[str] = ("v1",)
    failure_policy: str = "Fail"
    timeout: int = 5
    namespace: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    def webhook(self, port: int, authority: Path) -> dict[str, Any]:
        """As it stands in a configuration."""
        ca = base64.b64encode(authority.read_bytes()).decode()
        url = f"https://127.0.0.1:{port}/admission/v1/{self.path}"
        labels = {"kubernetes.io/metadata.name": self.namespace} if self.namespace else {}
        return {
            "name": f"{self.path.replace('/', '.')}.bailiff.dev",
            "clientConfig": {"url": url, "caBundle": ca},
            "rules": [
                {
                    "operations": list(self.operations),
                    "apiGroups": list(self.groups),
                    "apiVersions": list(self.versions),
                    "resources": list(self.resources),
                }
            ],
            "namespaceSelector": {"matchLabels": labels},
            "sideEffects": "NoneOnDryRun",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": self.failure_policy,
            "timeoutSeconds": self.timeout,
            **self.more,
        }


@contextlib.asynccontextmanager
async def registered(
    cluster: Cluster, port: HookPort, *webhooks: Registration, kind: Resource[Any] = MUTATING
) -> AsyncIterator[None]:
    """Have the API server call; it begins to a moment later, and for a while goes on after."""
    name = f"bailiff-{secrets.token_hex(4)}"
    body = {
        "metadata": {"name": name},
        "webhooks": [one.webhook(port.port, port.ca) for one in webhooks],
    }
    await cluster.create(kind, body)
    try:
        yield
    finally:
        await cluster.delete(kind, name)
