"""Several `bailiff serve` processes behind one port, and an API server that asks them."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any

import yaml

from tests.harness.kube.hooks import CONFIGURATIONS, Registered
from tests.harness.kube.plain_http import call
from tests.harness.kube.programs import Program, free_port
from tests.harness.kube.relay import Relay
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from bailiff.cluster import Cluster
    from tests.harness.kube.apiserver import KubeApiserver

# By which namespaces are told apart whose requests the API server asks about.
LABEL = "gate"


class Spread(Relay):
    """Passes one connection to the first port, the next to the second, and so on."""

    def __init__(self, *targets: int) -> None:
        super().__init__(targets[0])
        self._turns = cycle(targets)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._target = next(self._turns)
        await super()._pass(reader, writer)


@dataclass(frozen=True)
class Replicas:
    """The processes, the port before them, their policies' file, and who vouches for them."""

    programs: tuple[Program, ...]
    spread: Spread
    policies: Path
    ca: Path

    def tail(self) -> str:
        """The ends of their logs."""
        return "\n".join(one.tail() for one in self.programs)

    def refusals(self, hook: str = "validate/evictions") -> list[int]:
        """How many requests of this hook each has refused."""
        return [_counted(one, self.ca, hook, "denied") for one in self.programs]

    def reviews(self, hook: str = "validate/evictions") -> int:
        """How many requests of this hook they have allowed or refused."""
        results = ("allowed", "denied")
        return sum(_counted(one, self.ca, hook, r) for one in self.programs for r in results)


@contextlib.asynccontextmanager
async def replicas(
    server: KubeApiserver,
    folder: Path,
    policies: Mapping[str, Any],
    *options: str,
    kubeconfig: Path | None = None,
    count: int = 2,
) -> AsyncIterator[Replicas]:
    """So many of them, listening."""
    file = folder / "policies.yaml"
    head = {"apiVersion": "bailiff.dev/v1", "kind": "WorkerPolicies"}
    file.write_text(yaml.safe_dump(head | dict(policies)))
    ports = [free_port() for _ in range(count)]
    programs = [
        Program(
            f"serve-{port}",
            [
                *("-m", "bailiff", "serve", "--rest-port", "0", "--grpc-port", "0"),
                *("--health-port", "0", "--admission-port", str(port)),
                *("--kubeconfig", str(kubeconfig or server.kubeconfig), "--policies", str(file)),
                *("--tls-cert-file", str(server.tls.certificate)),
                *("--tls-private-key-file", str(server.tls.key), *options),
            ],
            folder,
            sys.executable,
        )
        for port in ports
    ]
    try:
        for one in programs:
            one.start()
        async with Spread(*ports) as spread:
            found = Replicas(tuple(programs), spread, file, server.tls.ca)
            for one, port in zip(programs, ports, strict=True):
                await until(partial(_listens_or_ended, one, port))
                assert one.running, one.tail()
            yield found
    finally:
        await asyncio.gather(*(asyncio.to_thread(one.stop) for one in programs))


@contextlib.asynccontextmanager
async def asked(
    cluster: Cluster, server: KubeApiserver, found: Replicas, label: str
) -> AsyncIterator[None]:
    """The API server asks about evictions and deletes in namespaces of this label."""
    within = {"namespaceSelector": {"matchLabels": {LABEL: label}}}
    hooks = (
        Registered("validate/evictions", ("pods/eviction",), ("CREATE",), selectors=within),
        Registered("validate/deletes", ("pods",), ("DELETE",), selectors=within),
    )
    url, ca = f"https://127.0.0.1:{found.spread.port}", server.tls.ca.read_bytes()
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": f"gate-{label}"},
        "webhooks": [one.webhook(url, ca) for one in hooks],
    }
    await cluster.create(CONFIGURATIONS, body)
    try:
        yield
    finally:
        await cluster.delete(CONFIGURATIONS, f"gate-{label}")


def _counted(program: Program, ca: Path, hook: str, result: str) -> int:
    """By its metrics; the log leaves out what is told too often."""
    port = re.search(r'"rest": "https://127\.0\.0\.1:(\d+)"', program.log.read_text())
    assert port is not None, program.tail()
    _, metrics = call(int(port[1]), "/metrics", ca=ca)
    sample = rf'^bailiff_admission_requests_total\{{hook="{hook}",result="{result}"\}} (\S+)$'
    found = re.search(sample, metrics.decode(), re.MULTILINE)
    return int(float(found[1])) if found else 0


async def _listens_or_ended(program: Program, port: int) -> bool:
    if program.exited:
        return True
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
