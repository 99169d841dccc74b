"""The chart's Job and its API as whole processes, called as webhooks by a real API server.

As in test_processes.py; the addresses of Services are nobody's here, so the webhooks are called at
the process' own port.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import sys

import pytest
import yaml

from bailiff.certificates import BUNDLED
from bailiff.certificates.renewing import SECRETS
from bailiff.cluster import PatchType
from tests.harness.api import NAMESPACES, PODS
from tests.harness.helm.chart import CHART, container_of, run
from tests.harness.helm.processes import running
from tests.harness.kube.tokens import token_of
from tests.harness.objects import config_map, object_of, pod_object
from tests.harness.pausing import WHOLE
from tests.harness.working import until

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver, pytest.mark.process]

PREFIX = "node.kubernetes.io"


@pytest.fixture
async def elsewhere(cluster):
    """A namespace that is not the release's own."""
    name = f"elsewhere-{secrets.token_hex(4)}"
    labels = {"hooked": "yes"}
    body = object_of("Namespace", name) | {"metadata": {"name": name, "labels": labels}}
    await cluster.create(NAMESPACES, body)
    return name


def values(namespace):
    hooked = {"enabled": True, "namespaceSelector": {"matchLabels": {"hooked": "yes"}}}
    place = {"namespace": namespace}
    return {
        "api": {"readCluster": False},
        "tls": {"rotation": {"enabled": True}},
        "webhooks": {
            "mutatePods": hooked,
            "validateEvictions": hooked,
            "validateNodes": {"enabled": True},
        },
        "worker": {
            "enabled": False,
            "policies": {
                "pause": place,
                "blastRadius": {"maxPods": 1},
                "overTime": {
                    "store": place,
                    "budgets": [{"name": "all", "evictions": 1, "seconds": 3600}],
                },
            },
        },
    }


@pytest.fixture
async def release(kube_apiserver, helm, bench, tmp_path):
    """The objects of a release with webhooks; the certificate is made, as its Job does."""
    file = tmp_path / "values.yaml"
    file.write_text(json.dumps(values(bench.namespace)))
    helm("install", str(CHART), "--values", str(file))
    where = ("--namespace", bench.namespace, "--kubeconfig", str(kube_apiserver.kubeconfig))
    shown = run("helm", "get", "manifest", "bailiff", *where).stdout
    objects = [found for found in yaml.safe_load_all(shown) if found]
    await renew(kube_apiserver, bench, objects)
    made = await bench.cluster.get(SECRETS, "bailiff-certificate", bench.namespace)
    return [made if o["kind"] == "Secret" else o for o in objects]


async def account(server, bench, component):
    token = await token_of(bench.cluster, bench.namespace, f"bailiff-{component}")
    return server.write_kubeconfig(f"{component}-{bench.namespace}", {"token": token})


async def renew(server, bench, objects, *more):
    """What the Job runs, as the account that it runs as."""
    own = await account(server, bench, "tls")
    args = [one for one in container_of(objects, "tls")["args"] if one != "--in-cluster"]
    command = [sys.executable, "-m", "bailiff", *args, f"--kubeconfig={own}", *more]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
async def api(kube_apiserver, bench, release, tmp_path):
    """The API's process, called by the webhooks that helm has registered."""
    own = await account(kube_apiserver, bench, "api")
    with running(release, "api", own, tmp_path) as process:

        async def is_ready():
            assert not process.program.exited, process.program.tail()
            return await process.probe("/readyz") == (200, "ok")

        await until(is_ready)
        for kind, resource in BUNDLED.items():
            await call_at(bench, kind, resource, process.ports["admission"])
        yield process


async def call_at(bench, kind, resource, port):
    name = f"{bench.namespace}-bailiff-api"
    found = await bench.cluster.get(resource, name)
    changes = []
    for index, one in enumerate(found["webhooks"]):
        where = f"/webhooks/{index}/clientConfig"
        url = f"https://localhost:{port}{one['clientConfig']['service']['path']}"
        assert one["clientConfig"]["caBundle"], kind
        changes += [
            {"op": "remove", "path": f"{where}/service"},
            {"op": "add", "path": f"{where}/url", "value": url},
        ]
    await bench.cluster.patch(resource, name, "", changes, patch_type=PatchType.JSON)


async def kubectl(server, *command):
    where = ("--kubeconfig", str(server.kubeconfig))
    return await asyncio.to_thread(run, "kubectl", *where, *command)


async def test_what_the_chart_registers_is_answered_by_what_it_runs(
    kube_apiserver, bench, elsewhere, api, cluster
):
    node = await bench.node()
    for name in ("a", "b"):
        await cluster.create(PODS, pod_object(name, nodeName=node), elsewhere)
    await until(lambda: tolerates(cluster, elsewhere))
    # Two pods are more than the policies let go unacknowledged, and RBAC lets them be seen.
    await until(lambda: is_refused(kube_apiserver, node, "2 pods"))
    notice = json.dumps({"by": "anna", "reason": "moving"})
    pause = config_map("bailiff-pause", paused=notice)
    await cluster.create(WHOLE, pause, bench.namespace)
    refused = await evict(kube_apiserver, elsewhere, "a")
    assert "TooManyRequests" in refused
    assert "paused by anna" in refused
    await cluster.delete(WHOLE, "bailiff-pause", bench.namespace)
    await until(lambda: is_evicted(kube_apiserver, elsewhere, "a"))
    # One in an hour, counted in the ConfigMap that the chart has made.
    assert "budget all (1 evictions in 3600 s)" in await evict(kube_apiserver, elsewhere, "b")


async def tolerates(cluster, namespace):
    """What kube-apiserver adds by itself unless it is told not to is no proof."""
    body = pod_object("p")
    body["spec"]["containers"][0]["resources"] = {
        part: {"example.com/gpu": "1"} for part in ("requests", "limits")
    }
    made = await cluster.create(PODS, body, namespace, dry_run=True)
    keys = {one.get("key") for one in made["spec"]["tolerations"]}
    return {"example.com/gpu", f"{PREFIX}/not-ready"} <= keys


async def is_refused(server, node, why):
    done = await kubectl(server, "taint", "node", node, "x=y:NoExecute", "--dry-run=server")
    return (
        done.returncode != 0 and "validate-nodes.bailiff.dev" in done.stderr and why in done.stderr
    )


async def evict(server, namespace, pod):
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": namespace},
    }
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction"
    done = await asyncio.to_thread(
        run,
        *("kubectl", "--kubeconfig", str(server.kubeconfig), "create", "--raw", path, "-f", "-"),
        given=json.dumps(body),
    )
    return done.stderr


async def is_evicted(server, namespace, pod):
    return await evict(server, namespace, pod) == ""


async def test_the_job_does_no_more_than_is_due(kube_apiserver, bench, release):
    assert "nothing to do: it is good" in await renew(kube_apiserver, bench, release)
    said = await renew(kube_apiserver, bench, release, "--force", "--settle-seconds=0")
    issued, *told = said.rstrip("\n").split("; ")
    assert issued == "Secret bailiff-certificate: issued: told to"
    name = f"{bench.namespace}-bailiff-api"
    assert told == [
        f"caBundle written in {kind}WebhookConfiguration {name}"
        for kind in ("Mutating", "Validating")
    ]
