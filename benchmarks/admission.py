"""Admission webhooks: what a review costs, and what creating a pod costs more by it.

`python -m benchmarks.admission`: first `bailiff serve --admission-port` on one core over TLS, asked
by a client on another core that sends so many reviews a second whatever becomes of them, so that
one which waits is counted from when it was due. Then, where KUBEBUILDER_ASSETS has the programs, a
real kube-apiserver that creates pods in two namespaces in turns, of which one is the webhook's.
About 60 s.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import msgspec
import uvloop

from bailiff.cluster import connect
from tests.harness.api import NAMESPACES, PODS
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.hook_port import MUTATING, Registration
from tests.harness.kube.programs import assets
from tests.harness.kube.tls import Tls, make_tls
from tests.harness.objects import object_of, pod_object

if TYPE_CHECKING:
    from collections.abc import Iterator

RATE, SECONDS, CONNECTIONS = 500, 20.0, 16
PODS_CREATED, WARM_UP = 300, 20
# Within which an API server has heard of a webhook.
HEARD_SECONDS = 2.0
LENGTH = re.compile(rb"content-length: (\d+)")
LISTENS = re.compile(rb'"admission": ?"https://127\.0\.0\.1:(\d+)"')


def real_pod() -> dict[str, Any]:
    """About as long as those of a real cluster."""
    mounts = [{"name": f"v{n}", "mountPath": f"/var/run/secrets/{n}/of/the/app"} for n in range(6)]
    env = [{"name": f"SETTING_NUMBER_{n}", "value": "as long as most are"} for n in range(30)]
    resources = {name: {"cpu": "100m", "memory": "128Mi"} for name in ("limits", "requests")}
    container = {
        "name": "app",
        "image": "registry.example/team/application:1.2.3",
        "env": env,
        "volumeMounts": mounts,
        "resources": resources,
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }
    volumes = [{"name": f"v{n}", "emptyDir": {}} for n in range(6)]
    names = ("app", "sidecar")
    containers = [{**container, "name": name} for name in names]
    pod = pod_object("web", containers=containers, volumes=volumes)
    pod["metadata"]["labels"] = {f"label{n}.example.com/name": "value" for n in range(8)}
    owned = {f"f:SETTING{n}": {".": {}, "f:name": {}, "f:value": {}} for n in range(30)}
    pod["metadata"]["managedFields"] = [{"manager": "kubectl", "fieldsV1": {"f:spec": owned}}]
    return pod


def review() -> bytes:
    """A pod that is created, as kube-apiserver asks about it."""
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "name": "web",
        "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {"username": "system:serviceaccount:kube-system:replicaset-controller"},
        "object": real_pod(),
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    whole = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    return msgspec.json.encode(whole)


class Served(NamedTuple):
    """`bailiff serve` with a port for hooks."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """User and system time so far; proc(5)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def serving(tls: Tls, core: int) -> Iterator[Served]:
    ports = ("--rest-port", "0", "--grpc-port", "0", "--health-port", "0", "--admission-port", "0")
    files = ("--tls-cert-file", str(tls.certificate), "--tls-private-key-file", str(tls.key))
    program = [sys.executable, "-m", "bailiff", "serve", *ports, *files, "--lifeline"]
    pinned = ["taskset", "-c", str(core), *program]
    with subprocess.Popen(pinned, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            yield Served(_port(process.stderr), process.pid)
        finally:
            process.stdin.close()


def _port(lines: IO[bytes]) -> int:
    for line in lines:
        found = LISTENS.search(line)
        if found:
            return int(found[1])
    raise RuntimeError("bailiff did not start")


class Connection:
    """One connection, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, request: bytes) -> None:
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = LENGTH.search(head)
        assert length is not None
        answer = await self._reader.readexactly(int(length[1]))
        assert b'"patchType"' in answer


async def load(port: int, tls: Tls, rate: int, seconds: float) -> list[float]:
    """Seconds from when each review was due until it was answered."""
    context = ssl.create_default_context(cafile=tls.ca)
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        free.put_nowait(Connection(*await asyncio.open_connection("127.0.0.1", port, ssl=context)))
    asked, taken = _request(port), []

    async def one(due: float) -> None:
        connection = await free.get()
        await connection.ask(asked)
        taken.append(time.perf_counter() - due)
        free.put_nowait(connection)

    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(int(rate * seconds)):
            due = begun + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(one(due))
    return taken


def _request(port: int) -> bytes:
    body = review()
    head = (
        "POST /admission/v1/mutate/pods?timeout=10s HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def tell(what: str, seconds: list[float]) -> None:
    parts = statistics.quantiles(seconds, n=100)
    print(
        f"{what:44} p50 {parts[49] * 1000:6.2f} ms, p99 {parts[98] * 1000:6.2f} ms,"
        f" most {max(seconds) * 1000:6.2f} ms"
    )


def of_reviews(tls: Tls, rate: int, cores: tuple[int, int]) -> None:
    os.sched_setaffinity(0, {cores[1]})
    with serving(tls, cores[0]) as served:
        uvloop.run(load(served.port, tls, rate, 2.0))
        cpu = served.cpu_seconds()
        seconds = uvloop.run(load(served.port, tls, rate, SECONDS))
        cpu = served.cpu_seconds() - cpu
    print(f"reviews of {len(review())} bytes over TLS on one core, {CONNECTIONS} connections")
    tell(f"{rate} reviews a second", seconds)
    print(f"CPU of a review {cpu / len(seconds) * 1000:.2f} ms, {cpu / SECONDS:.0%} of the core")


async def of_pods(served: Served, tls: Tls, server: KubeApiserver) -> dict[str, list[float]]:
    """Seconds of creating each pod, by namespace."""
    async with await connect(server.kubeconfig) as cluster:
        for name in ("with", "without"):
            await cluster.create(NAMESPACES, object_of("Namespace", name))
        hook = Registration(path="mutate/pods", resources=["pods"], namespace="with")
        webhooks = [hook.webhook(served.port, tls.ca)]
        await cluster.create(MUTATING, {"metadata": {"name": "bench"}, "webhooks": webhooks})
        await asyncio.sleep(HEARD_SECONDS)
        taken: dict[str, list[float]] = {"with": [], "without": []}
        for number in range(WARM_UP + PODS_CREATED):
            for namespace, seconds in taken.items():
                body = {**real_pod(), "metadata": {"name": f"web-{number}"}}
                begun = time.perf_counter()
                made = await cluster.create(PODS, body, namespace)
                seconds.append(time.perf_counter() - begun)
                tolerations = made["spec"].get("tolerations", [])
                assert len(tolerations) == (2 if namespace == "with" else 0)
    return {namespace: seconds[WARM_UP:] for namespace, seconds in taken.items()}


def of_api_server(tls: Tls, cores: tuple[int, int]) -> None:
    os.sched_setaffinity(0, set(cores))
    off = "--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds"
    with KubeApiserver([off]) as server, serving(tls, cores[0]) as served:
        taken = uvloop.run(of_pods(served, tls, server))
    print(f"kube-apiserver creates {PODS_CREATED} pods in turns, one at a time")
    for namespace, seconds in taken.items():
        tell(f"{namespace} the webhook", seconds)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rate", type=int, default=RATE)
    given = arguments.parse_args()
    server_core, client_core = sorted(os.sched_getaffinity(0))[:2]
    cores = server_core, client_core
    with tempfile.TemporaryDirectory() as folder:
        tls = make_tls(Path(folder))
        of_reviews(tls, given.rate, cores)
        if assets() is not None:
            of_api_server(tls, cores)


if __name__ == "__main__":
    main()
