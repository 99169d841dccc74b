"""A `bailiff serve` that asks who asks knows kube-scheduler by its certificate, and nobody else."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING

import pytest

from tests.harness.api import Bench, name_of
from tests.harness.kube.programs import Program, free_port
from tests.harness.kube.scheduler import (
    kube_scheduler,
    of_guide,
    ready_node,
    register,
    unregister,
)
from tests.harness.kube.tls import ClientCertificate
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.harness.api import Api
    from tests.harness.kube.apiserver import KubeApiserver
    from tests.harness.objects import Object

pytestmark = pytest.mark.kube_apiserver

PROGRAM = "tests/contract/test_extender.py"


@contextlib.asynccontextmanager
async def served(server: KubeApiserver, folder: Path) -> AsyncIterator[int]:
    """The process, with TLS, which has the cluster say who may ask what; its REST port."""
    port, tls = free_port(), server.tls
    options = {
        "--kubeconfig": server.kubeconfig,
        "--rest-port": port,
        "--grpc-port": 0,
        "--health-port": 0,
        "--tls-cert-file": tls.certificate,
        "--tls-private-key-file": tls.key,
        "--client-ca-file": tls.ca,
    }
    flags = [f"{name}={value}" for name, value in options.items()]
    command = ["-m", "bailiff", "serve", *flags, "--authentication-token-webhook"]
    program = Program("serve", command, folder, sys.executable)
    program.start()
    try:
        await until(lambda: program.exited or "decision API starts" in program.tail())
        assert program.running, program.tail()
        yield port
    finally:
        await asyncio.to_thread(program.stop)


def configured(port: int, server: KubeApiserver, own: ClientCertificate) -> Object:
    """As the guide has it, over TLS with this certificate."""
    configuration = of_guide(PROGRAM)
    (extender,) = configuration["extenders"]
    files = {"caFile": server.tls.ca, "certFile": own.certificate, "keyFile": own.key}
    extender |= {
        "urlPrefix": f"https://127.0.0.1:{port}/scheduler/extender/v1",
        "enableHTTPS": True,
        "tlsConfig": {name: str(path) for name, path in files.items()},
        "ignorable": False,
        "httpTimeout": "30s",
    }
    return configuration


@pytest.mark.parametrize(
    ("user", "is_let_in"), [("system:kube-scheduler", True), ("somebody", False)]
)
async def test_kube_scheduler_s_own_account_is_let_in(
    api: Api,
    bench: Bench,
    kube_apiserver: KubeApiserver,
    tmp_path: Path,
    user: str,
    is_let_in: bool,
) -> None:
    own, node = ClientCertificate(tmp_path), ready_node(f"{bench.namespace}-a")
    own.rotate(kube_apiserver.tls, user=user, groups=())
    await register(bench.cluster, [node])
    try:
        async with served(kube_apiserver, tmp_path) as port:
            configuration = configured(port, kube_apiserver, own)
            async with kube_scheduler(api.kubeconfig, configuration, tmp_path) as program:
                await bench.pod("web")

                async def is_told() -> bool:
                    found = await bench.get("web")
                    return bool(found["spec"].get("nodeName") or "code 403" in program.tail())

                await until(is_told)
                placed = (await bench.get("web"))["spec"].get("nodeName", "")
        assert placed == (name_of(node) if is_let_in else "")
    finally:
        await unregister(bench.cluster, [node])
