"""Whole processes as the chart starts them, on a real API server on which helm has installed it.

Everything that the chart makes is there: accounts, roles, admission policies, Leases, files. There
is no kubelet, so the containers' processes are started here, with their arguments, variables and
files, and with a kubeconfig of their own account: the configuration that a pod finds in itself
(`BAILIFF_IN_CLUSTER`) needs the pod's own paths and addresses, and is tested in tests/unit/cluster.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
import yaml

from tests.harness.helm.accounts import caller
from tests.harness.helm.chart import CHART, ROOT, run, tool
from tests.harness.helm.processes import Running, running
from tests.harness.kube.tokens import token_of
from tests.harness.objects import KEY, taint
from tests.harness.working import is_going, until

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver, pytest.mark.process]

Start = Callable[[str], AbstractAsyncContextManager[Running]]
FACTS = {"pod": {"metadata": {"name": "web"}}, "node": {"metadata": {"name": "n1"}}}
GUIDE = (ROOT / "docs" / "operate" / "pending.md").read_text()


@pytest.fixture
def start(kube_apiserver, helm, bench, tmp_path) -> Start:
    """Starts the process of a component of a release; it is ready."""
    helm("install", str(CHART))
    where = ("--namespace", bench.namespace, "--kubeconfig", str(kube_apiserver.kubeconfig))
    objects = list(yaml.safe_load_all(run("helm", "get", "manifest", "bailiff", *where).stdout))

    @asynccontextmanager
    async def _start(component: str) -> AsyncIterator[Running]:
        account = f"bailiff-{component}"
        token = await token_of(bench.cluster, bench.namespace, account)
        own = kube_apiserver.write_kubeconfig(f"{account}-{bench.namespace}", {"token": token})
        with running(objects, component, own, tmp_path) as process:
            await until(lambda: is_ready(process))
            yield process

    return _start


async def is_ready(process: Running) -> bool:
    assert not process.program.exited, process.program.tail()
    return await process.probe("/readyz") == (200, "ok")


async def test_the_api_asks_the_cluster_who_asks_and_what_he_may_read(start, bench):
    node = await bench.node(taint(KEY))
    await bench.pod("web", node=node)
    stranger = await caller(bench.cluster, bench.namespace, "stranger")
    reader = await caller(bench.cluster, bench.namespace, "reader", reads=True)
    live = f"/v1/namespaces/{bench.namespace}/pods/web/decision"
    async with start("api") as api:
        assert await api.probe("/healthz") == (200, "ok")
        status, said = await api.get("rest", "/v1/decisions", stranger, json=FACTS)
        assert (status, verdict(said)) == (200, "KEEP")
        status, said = await api.get("rest", live, reader)
        assert (status, verdict(said)) == (200, "EVICT_NOW")
        codes = [(await api.get("rest", live, token))[0] for token in ("", "made-up", stranger)]
        assert codes == [401, 401, 403]
        status, _ = await api.get("rest", "/v1/decisions", json=FACTS)
        assert status == 401


def verdict(said: str) -> str:
    found: str = json.loads(said)["decision"]["verdict"]
    return found


async def test_the_worker_evicts_and_tells_who_may_list_pods(start, bench):
    node = await bench.node()
    await bench.pod("web", node=node)
    await bench.pod("other", node=await bench.node())
    tokens = [
        await caller(bench.cluster, bench.namespace, "stranger"),
        await caller(bench.cluster, bench.namespace, "reader", reads=True),
    ]
    async with start("worker") as worker:
        await bench.taint(node, taint(KEY))
        await until(lambda: is_going(bench, "web"))
        assert not await is_going(bench, "other")
        codes = [(await worker.get("status", "/v1/queue", one))[0] for one in ("", *tokens)]
        assert codes == [401, 403, 200]
        assert (await worker.get("status", "/metrics", tokens[0]))[0] == 403


async def test_the_guide_s_way_to_ask_a_worker_is_right_for_the_defaults(
    start, kube_apiserver, bench, tmp_path
):
    await caller(bench.cluster, bench.namespace, "reader", reads=True)
    async with start("worker") as worker:
        await until(lambda: leads(kube_apiserver, bench.namespace))
        script = as_told(bench.namespace, worker.ports["status"])
        done = shell(
            f"{script}\necho $POD\nask_worker '/v1/queue?limit=1'", kube_apiserver, tmp_path
        )
    pod, _, page = done.partition("\n")
    assert pod == socket.gethostname()
    told = json.loads(page)
    assert (told["leader"], told["synced"], told["notReady"]) == (True, True, [])


def as_told(namespace: str, port: int) -> str:
    """The commands of the guide, but for the forwarding: the worker is on this machine."""
    [block] = re.findall(r"<!-- ask_worker: .*? -->\n```sh\n(.*?)```", GUIDE, re.DOTALL)
    lines = [line for line in block.splitlines() if "port-forward" not in line]
    assert len(lines) == 4
    told = "\n".join(lines).replace("-n bailiff ", f"-n {namespace} ")
    return told.replace("ACCOUNT", "reader").replace("8081", str(port))


def leads(server, namespace: str) -> bool:
    """Whether somebody holds the Lease."""
    where = ("--kubeconfig", str(server.kubeconfig), "--namespace", namespace)
    lease = ("get", "lease", "bailiff-worker-0-of-1", "-o", "jsonpath={.spec.holderIdentity}")
    return bool(run("kubectl", *where, *lease).stdout)


def shell(script: str, server, folder) -> str:
    """What a script prints; its kubectl is the one that the tests build."""
    kubectl = f'kubectl() {{ {tool("kubectl")} --kubeconfig {server.kubeconfig} "$@"; }}'
    done = subprocess.run(
        ["/bin/sh", "-euc", f"{kubectl}\n{script}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
