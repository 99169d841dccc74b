"""Many evictors at once through two replicas of the gate, under a budget over time; and whoever
deletes pods for other reasons meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bailiff.cluster import ClusterError, ClusterSettings, NotFoundError, PatchType, Resource
from bailiff.decisions.policies.over_time import digest_of
from tests.harness.api import NAMESPACES, PODS
from tests.harness.budgets import evict
from tests.harness.kube.programs import Program, assets
from tests.harness.kube.replicas import LABEL, asked, replicas
from tests.harness.kube.tls import ClientCertificate
from tests.harness.objects import config_map, container, object_of
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.harness.api import Api, Bench
    from tests.harness.kube.apiserver import KubeApiserver

pytestmark = pytest.mark.kube_apiserver

BUDGET = 10
# 200 tries at once: by `kubectl drain`, by descheduler, and one by one.
DRAINED, DESCHEDULED, ALONE = 60, 20, 120
DEPLOYMENTS: Resource[Any] = Resource("apps", "v1", "deployments", dict)
JOBS: Resource[Any] = Resource("batch", "v1", "jobs", dict)
CONFIG_MAPS: Resource[Any] = Resource("", "v1", "configmaps", dict)
CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "job-controller",
    "ttl-after-finished-controller",
    "garbage-collector-controller",
    "namespace-controller",
)
DESCHEDULER = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "old",
            "pluginConfig": [
                {"name": "DefaultEvictor", "args": {}},
                {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 1}},
            ],
            "plugins": {"deschedule": {"enabled": ["PodLifeTime"]}},
        }
    ],
}


@contextlib.asynccontextmanager
async def running(program: Program) -> AsyncIterator[Program]:
    program.start()
    try:
        yield program
    finally:
        await asyncio.to_thread(program.stop)


def logged_in(server: KubeApiserver, folder: Path, user: str, *groups: str) -> str:
    """A kubeconfig of this user."""
    own = folder / user.replace(":", "-")
    own.mkdir()
    certificate = ClientCertificate(own)
    certificate.rotate(server.tls, user=user, groups=groups)
    files = {"client-certificate": str(certificate.certificate), "client-key": str(certificate.key)}
    return str(server.write_kubeconfig(own.name, files))


def controllers(server: KubeApiserver, folder: Path) -> Program:
    """A kube-controller-manager whose controllers have accounts of their own, as in a cluster."""
    arguments = [
        f"--kubeconfig={logged_in(server, folder, 'system:kube-controller-manager')}",
        f"--controllers={','.join(CONTROLLERS)}",
        *("--use-service-account-credentials", "--leader-elect=false", "--secure-port=0"),
    ]
    return Program("kube-controller-manager", arguments, folder)


def descheduler(server: KubeApiserver, folder: Path) -> Program:
    policy = folder / "descheduler.yaml"
    policy.write_text(yaml.safe_dump(DESCHEDULER))
    arguments = [
        f"--kubeconfig={logged_in(server, folder, 'descheduler', 'system:masters')}",
        *(f"--policy-config-file={policy}", "--descheduling-interval=5s"),
        *("--secure-port=0", "--disable-metrics", "--v=6"),
    ]
    return Program("descheduler", arguments, folder)


def drain(server: KubeApiserver, folder: Path, node: str) -> Program:
    kubeconfig = logged_in(server, folder, "drain", "system:masters")
    arguments = ["drain", node, "--force", "--grace-period=0", "--kubeconfig", kubeconfig, "-v6"]
    return Program("kubectl", arguments, folder)


async def evict_alone(api: Api, bench: Bench) -> None:
    """As many evictions at once as there are pods to be evicted so."""
    async with await api.connect(ClusterSettings(max_requests=ALONE)) as cluster:
        tries = [cluster.evict(f"alone-{one}", bench.namespace) for one in range(ALONE)]
        await asyncio.gather(*tries, return_exceptions=True)


def was_refused(program: Program) -> bool:
    """Whether an eviction of its was answered with 429."""
    return re.search(r"/eviction.*429", program.log.read_text()) is not None


async def label(bench: Bench, namespace: str) -> None:
    body = {"metadata": {"labels": {LABEL: bench.namespace}}}
    await bench.cluster.patch(NAMESPACES, namespace, "", body, patch_type=PatchType.MERGE)


async def pods_of(bench: Bench, namespace: str = "", **labels: str) -> dict[str, str]:
    """The names of pods by UID."""
    found = await bench.cluster.list(PODS, namespace=namespace or bench.namespace)
    return {
        one["metadata"]["uid"]: one["metadata"]["name"]
        for one in found.items
        if labels.items() <= one["metadata"].get("labels", {}).items()
    }


async def fill(bench: Bench, node: str, prefix: str, count: int) -> None:
    """Pods that have an owner, so that descheduler may take them."""
    owner = await bench.cluster.create(CONFIG_MAPS, config_map(prefix), bench.namespace)
    owned = {"apiVersion": "v1", "kind": "ConfigMap", "name": prefix}
    owners = [owned | {"uid": owner["metadata"]["uid"]}]
    pods = [
        bench.pod(f"{prefix}-{one}", node=node, ownerReferences=owners, labels={"app": prefix})
        for one in range(count)
    ]
    await asyncio.gather(*pods)


def template(app: str, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [container()], **spec},
    }


async def roll_out(bench: Bench) -> None:
    """A Deployment of which all pods are replaced."""
    spec = {
        "replicas": 3,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": {"app": "rolled"}},
        "template": template("rolled"),
    }
    body = object_of("Deployment", "rolled", spec=spec) | {"apiVersion": "apps/v1"}
    await bench.cluster.create(DEPLOYMENTS, body, bench.namespace)
    before: dict[str, str] = {}

    async def has_three() -> bool:
        before.update(await pods_of(bench, app="rolled"))
        return len(before) == 3

    await until(has_three)
    change = {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}}
    merge = PatchType.MERGE
    await bench.cluster.patch(DEPLOYMENTS, "rolled", bench.namespace, change, patch_type=merge)

    async def is_rolled() -> bool:
        now = await pods_of(bench, app="rolled")
        return len(now) == 3 and not now.keys() & before.keys()

    await until(is_rolled)


async def clean_up_a_job(bench: Bench) -> None:
    """A Job that has ended, and whose pods are collected with it."""
    spec = {"ttlSecondsAfterFinished": 0, "template": template("job", restartPolicy="Never")}
    body = object_of("Job", "job", spec=spec) | {"apiVersion": "batch/v1"}
    await bench.cluster.create(JOBS, body, bench.namespace)
    await until(lambda: pods_of(bench, app="job"))
    for pod in (await pods_of(bench, app="job")).values():
        status = {"status": {"phase": "Succeeded"}}
        await bench.cluster.patch(PODS, pod, bench.namespace, status, subresource="status")

    async def is_gone() -> bool:
        return not await pods_of(bench, app="job")

    await until(is_gone)


async def delete_a_namespace(bench: Bench) -> None:
    name = f"{bench.namespace}-gone"
    await bench.cluster.create(NAMESPACES, object_of("Namespace", name))
    await label(bench, name)
    for one in range(3):
        body = object_of("Pod", f"p{one}", spec={"containers": [container()]})
        await bench.cluster.create(PODS, body, name)
    await bench.cluster.delete(NAMESPACES, name)

    async def is_gone() -> bool:
        try:
            await bench.cluster.get(NAMESPACES, name)
        except NotFoundError:
            return True
        return False

    await until(is_gone)


async def refusal(bench: Bench, name: str) -> str:
    """Why a pod may not be evicted now; empty where it may. Nothing is evicted."""
    try:
        await evict(bench, name, dry=True)
    except ClusterError as error:
        return error.message
    return ""


@pytest.mark.skipif(
    assets() is not None and not (assets() / "descheduler").exists(),  # type: ignore[operator]
    reason="descheduler is not built: make test-assets",
)
async def test_two_hundred_tries_never_pass_the_budget_and_nobody_else_is_held(
    api: Api, bench: Bench, kube_apiserver: KubeApiserver, tmp_path: Path
) -> None:
    drained, other = await bench.node(), await bench.node()
    await fill(bench, drained, "drained", DRAINED)
    await fill(bench, other, "descheduled", DESCHEDULED)
    await fill(bench, "", "alone", ALONE)
    before = await pods_of(bench)
    await label(bench, bench.namespace)
    store = {"namespace": bench.namespace, "name": "counts"}
    budget = {"name": "all", "evictions": BUDGET, "seconds": 3600}
    # By the pod that is protected the test sees that the API server has begun to ask.
    policies = {"protection": True, "overTime": {"store": store, "budgets": [budget]}}
    await bench.pod("guard", annotations={"bailiff.dev/do-not-evict": "true"})
    folder = tmp_path
    async with (
        replicas(kube_apiserver, folder, policies, "--gate-delete-user", "admin") as found,
        asked(bench.cluster, kube_apiserver, found, bench.namespace),
        running(controllers(kube_apiserver, folder)),
    ):
        await until(lambda: refusal(bench, "guard"))
        async with (
            running(drain(kube_apiserver, folder, drained)) as one,
            running(descheduler(kube_apiserver, folder)) as another,
        ):
            await evict_alone(api, bench)
            await until(lambda: was_refused(one) and was_refused(another))
            await asyncio.gather(roll_out(bench), clean_up_a_job(bench), delete_a_namespace(bench))
        left = before.keys() & (await pods_of(bench)).keys()
        # Whoever was counted, and told too late that it may go, has taken a place all the same.
        counts = await bench.cluster.get(CONFIG_MAPS, "counts", bench.namespace)
        text = counts["data"]["all"]
        assert text.count(":") - 3 == BUDGET
        assert 0 < len(before) - len(left) <= BUDGET
        assert min(found.refusals()) > 0
        bound = [uid for uid in left if not before[uid].startswith("alone")]
        uncounted = next(before[uid] for uid in bound if digest_of(uid) not in text)
        with pytest.raises(ClusterError, match="policy over_time: budget all"):
            await bench.cluster.delete(PODS, uncounted, bench.namespace)
        assert sum(found.refusals("validate/deletes")) == 1, found.tail()
