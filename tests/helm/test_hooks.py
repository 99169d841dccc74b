"""Which requests the API server sends to the chart's webhooks, and which it spares them."""

from __future__ import annotations

import asyncio
import json
import secrets
from datetime import UTC, datetime, timedelta

import pytest

from bailiff.certificates import issue
from bailiff.cluster import ClusterError, PatchType, Request
from tests.harness.api import NAMESPACES, NODES, PODS
from tests.harness.device_objects import RULES, SLICES, device_taint, rule, slice_of
from tests.harness.helm.chart import run
from tests.harness.helm.hooks import ALL, Asked, believing, registered
from tests.harness.objects import KEY, object_of, pod_object, taint
from tests.harness.working import until

pytestmark = pytest.mark.helm
on_a_server = pytest.mark.kube_apiserver

LABEL = {"metadata": {"labels": {"a": "b"}}}


@pytest.fixture
async def elsewhere(cluster):
    """A namespace that is not the release's own."""
    name = f"elsewhere-{secrets.token_hex(4)}"
    await cluster.create(NAMESPACES, object_of("Namespace", name))
    return name


@pytest.fixture
async def asked(cluster, bench, elsewhere):
    """The hooks that a request was sent to, by their paths; all of the chart's are in force."""
    one = issue(("localhost",), datetime.now(UTC), timedelta(days=1))
    server = Asked()
    async with (
        server.served(one.certificate, one.key) as url,
        registered(cluster, bench.namespace, ALL, url, believing(one.authority)),
    ):
        node = await bench.node()

        async def are_in_force():
            await cluster.create(PODS, pod_object("p", nodeName=node), elsewhere, dry_run=True)
            return len(paths(server)) == 2

        await until(are_in_force)

        async def _asked(doing):
            server.reviews.clear()
            await doing
            return paths(server)

        yield _asked


def paths(server):
    return sorted({path.removeprefix("/admission/v1/") for path, _ in server.reviews})


@on_a_server
async def test_pods(cluster, bench, elsewhere, asked):
    node = await bench.node()
    bound, mirror = pod_object("bound", nodeName=node), pod_object("mirror", nodeName=node)
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    both = ["mutate/pods", "validate/pods"]
    assert await asked(cluster.create(PODS, pod_object("free"), elsewhere)) == both[:1]
    assert await asked(cluster.create(PODS, bound, elsewhere)) == both
    assert await asked(cluster.create(PODS, mirror, elsewhere, dry_run=True)) == both[:1]
    # What happens to them afterwards is mostly this.
    assert await asked(cluster.patch(PODS, "free", elsewhere, LABEL)) == []
    status = {"status": {"phase": "Running"}}
    assert await asked(cluster.patch(PODS, "free", elsewhere, status, subresource="status")) == []
    image = {"spec": {"containers": [{"name": "main", "image": "registry.example/new"}]}}
    assert await asked(cluster.patch(PODS, "free", elsewhere, image)) == both[:1]
    binding = {"metadata": {"name": "free"}, "target": {"kind": "Node", "name": node}}
    path = PODS.path(elsewhere, "free", "binding")
    bind = Request("POST", path, {}, json.dumps(binding).encode())
    assert await asked(cluster.send(bind)) == ["validate/bindings"]


@on_a_server
@pytest.mark.parametrize("of", ["release", "kube-system"])
async def test_pods_of_the_release_and_of_kubernetes_are_made_unasked(cluster, bench, asked, of):
    namespace = bench.namespace if of == "release" else of
    for pod in (pod_object("p"), pod_object("p", nodeName=await bench.node())):
        assert await asked(cluster.create(PODS, pod, namespace, dry_run=True)) == []


@on_a_server
async def test_nodes_only_where_their_taints_change(cluster, bench, asked, kube_apiserver):
    node = await bench.node()
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    tainted = {"spec": {"taints": [taint(KEY)]}}
    assert await asked(cluster.patch(NODES, node, "", ready, subresource="status")) == []
    assert await asked(cluster.patch(NODES, node, "", LABEL)) == []
    assert await asked(cluster.patch(NODES, node, "", tainted)) == ["validate/nodes"]
    assert await asked(cluster.patch(NODES, node, "", ready, subresource="status")) == []
    assert await asked(cluster.patch(NODES, node, "", {"spec": {"taints": None}})) == [
        "validate/nodes"
    ]
    for user in ("system:serviceaccount:kube-system:node-controller", own(bench, "worker")):
        assert await asked(taint_as(kube_apiserver, user, node)) == []


@on_a_server
async def test_rules_and_slices_only_where_they_may_evict(cluster, bench, asked):
    name = f"rule-{bench.namespace}"
    rules, slices = ["validate/devicetaintrules"], ["validate/resourceslices"]
    assert await asked(cluster.create(RULES, rule(name, "None"))) == []
    evicting = {"spec": {"taint": {"key": KEY, "effect": "NoExecute"}}}
    assert await asked(merge(cluster, RULES, name, evicting)) == rules
    assert await asked(merge(cluster, RULES, name, LABEL)) == []
    await cluster.delete(RULES, name)
    made = slice_of(name)
    assert await asked(cluster.create(SLICES, made)) == []
    devices = [{**one, "taints": [device_taint()]} for one in made["spec"]["devices"]]
    assert await asked(merge(cluster, SLICES, name, {"spec": {"devices": devices}})) == slices
    pool = made["spec"]["pool"] | {"generation": 2}
    generation = {"spec": {"pool": pool}}
    assert await asked(merge(cluster, SLICES, name, generation)) == []
    await cluster.delete(SLICES, name)


@on_a_server
async def test_evictions_of_everybody_and_deletes_of_those_that_are_named(
    cluster, bench, elsewhere, asked, kube_apiserver
):
    node = await bench.node()
    for name in ("a", "b", "c", "d"):
        await cluster.create(PODS, pod_object(name, nodeName=node), elsewhere)
    await cluster.create(PODS, pod_object("unbound"), elsewhere)
    assert await asked(cluster.evict("a", elsewhere, dry_run=True)) == ["validate/evictions"]
    assert await asked(cluster.evict("a", elsewhere)) == ["validate/evictions"]
    assert await asked(cluster.delete(PODS, "b", elsewhere, dry_run=True)) == []
    delete = ("delete", "pod", "-n", elsewhere, "--wait=false")
    assert await asked(kubectl_as(kube_apiserver, "evictor", *delete, "b")) == ["validate/deletes"]
    assert await asked(kubectl_as(kube_apiserver, own(bench, "worker"), *delete, "c")) == []
    # Nothing of them is left to end.
    assert await asked(kubectl_as(kube_apiserver, "evictor", *delete, "unbound")) == []
    forced = (*delete, "d", "--grace-period=0", "--force")
    assert await asked(kubectl_as(kube_apiserver, "evictor", *forced)) == []
    # kube-apiserver fills in the pod's own grace period before it asks, so 0 is no force here.
    at_once = pod_object("f", nodeName=node, terminationGracePeriodSeconds=0)
    await cluster.create(PODS, at_once, elsewhere)
    assert await asked(kubectl_as(kube_apiserver, "evictor", *delete, "f")) == ["validate/deletes"]
    await cluster.create(PODS, pod_object("e"), bench.namespace)
    assert await asked(cluster.evict("e", bench.namespace)) == []


@on_a_server
@pytest.mark.parametrize("policy", ["Ignore", "Fail"])
async def test_one_that_is_down_does_as_its_failure_policy_says(cluster, bench, elsewhere, policy):
    values = {"webhooks": {"mutatePods": {"enabled": True, "failurePolicy": policy}}}

    def nothing_there(webhook):
        webhook["timeoutSeconds"] = 1

    values["tls"] = ALL["tls"]
    where = "https://localhost:1"
    async with registered(cluster, bench.namespace, values, where, nothing_there):
        if policy == "Ignore":
            await cluster.create(PODS, pod_object("p"), elsewhere)
        else:
            await until(lambda: refused(cluster, elsewhere))
        # The release's own pods come up all the same.
        await cluster.create(PODS, pod_object("p"), bench.namespace)


async def refused(cluster, namespace):
    try:
        await cluster.create(PODS, pod_object("p"), namespace, dry_run=True)
    except ClusterError as error:
        return "mutate-pods.bailiff.dev" in str(error)
    return False


def own(bench, component):
    return f"system:serviceaccount:{bench.namespace}:bailiff-{component}"


async def taint_as(server, user, node):
    await kubectl_as(server, user, "taint", "node", node, f"{secrets.token_hex(4)}=:NoExecute")


async def kubectl_as(server, user, *command):
    who = ("--as", user, "--as-group", "system:masters")
    where = ("--kubeconfig", str(server.kubeconfig))
    # The webhooks are answered meanwhile.
    done = await asyncio.to_thread(run, "kubectl", *where, *who, *command)
    assert done.returncode == 0, done.stderr


async def merge(cluster, resource, name, body):
    await cluster.patch(resource, name, "", body, patch_type=PatchType.MERGE)
