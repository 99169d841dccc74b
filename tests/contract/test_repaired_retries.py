"""5 tries in 50 ms, then forgotten (kubernetes/kubernetes #140639): ours, outcome by outcome.

The row of the table in test_repairs.py that is a table itself. A proxy makes what a quiet API
server does not do on demand; what it does, a right or a policy taken away, is done on the real one.
"""

from __future__ import annotations

import contextlib
import itertools
import json

import pytest

from bailiff.cluster import (
    ClusterError,
    ClusterSettings,
    NotFoundError,
    PatchType,
    Request,
    Resource,
    connect,
)
from tests.harness.api import PODS, name_of, uid_of
from tests.harness.between import fault, go_between, hang
from tests.harness.kube.faulty_proxy import Fault
from tests.harness.objects import KEY, taint, tolerating
from tests.harness.working import (
    attempts,
    is_going,
    messages,
    running_worker,
    skipping,
    until,
)

# A request that hangs is given up after so many seconds.
PATIENCE = 2.0
RETRY_AFTER = 1.0


@contextlib.asynccontextmanager
async def scene(api, bench, folder):
    """A worker by way of the proxy, and a pod that goes as soon as its node is tainted."""
    settings = ClusterSettings(request_timeout=PATIENCE)
    async with (
        go_between(api, folder, settings) as (proxy, cluster),
        running_worker(cluster) as worker,
    ):
        node = await bench.node()
        await bench.pod("db-0", node=node)
        await until(lambda: worker.mirror.pod((bench.namespace, "db-0")))
        yield proxy, worker, node


@pytest.mark.parametrize(
    ("method", "act", "outcome"),
    [
        pytest.param("DELETE", fault(Fault.TOO_MANY), "overloaded", id="429"),
        pytest.param("DELETE", fault(Fault.BROKEN), "unreachable", id="500"),
        pytest.param("DELETE", fault(Fault.UNAVAILABLE), "unreachable", id="503"),
        pytest.param("PATCH", fault(Fault.DROP), "unreachable", id="connection loss"),
        pytest.param("PATCH", fault(Fault.SWALLOW), "unreachable", id="answer lost"),
        pytest.param("PATCH", fault(Fault.TRUNCATE), "unreachable", id="answer cut"),
        pytest.param("PATCH", hang, "unreachable", id="time-out"),
    ],
)
async def test_an_eviction_is_retried_until_resolved(api, bench, tmp_path, method, act, outcome):
    async with scene(api, bench, tmp_path) as (proxy, worker, node):
        proxy.on(method, act, act)
        await bench.taint(node, taint(KEY))
        await until(lambda: is_going(bench, "db-0"))
        await until(lambda: "deleted" in attempts(worker))
        assert attempts(worker) == {outcome: 2, "deleted": 1}
        asked = proxy.requests(method, "db-0")
    assert len(asked) == 3
    if outcome == "overloaded":
        assert all(b.at - a.at >= RETRY_AFTER for a, b in itertools.pairwise(asked))


async def test_a_delete_whose_answer_is_lost_is_not_repeated(api, bench, tmp_path):
    async with scene(api, bench, tmp_path) as (proxy, worker, node):
        pod = await bench.get("db-0")
        proxy.on("DELETE", fault(Fault.SWALLOW))
        await bench.taint(node, taint(KEY))
        await until(lambda: messages(bench, pod))
        await until(lambda: is_going(bench, "db-0"))
        await until(lambda: not worker.pending.get(uid_of(pod)))
        told = await messages(bench, pod)
        assert attempts(worker).get("deleted", 0) == 0
    assert [message.split(" ")[0] for message in told] == ["Marking"]


async def test_an_eviction_is_over_when_there_is_no_such_pod(api, bench, tmp_path):
    async with scene(api, bench, tmp_path) as (proxy, worker, node):
        proxy.on("PATCH", lambda: bench.remove("db-0"))
        await bench.taint(node, taint(KEY))
        await until(lambda: attempts(worker))
        assert attempts(worker) == {"gone": 1}
        assert len(proxy.requests("PATCH", "db-0")) == 1
        assert proxy.requests("DELETE", "db-0") == []


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_a_pod_recreated_before_the_watch_tells_is_not_killed(api, bench, tmp_path, method):
    async with scene(api, bench, tmp_path) as (proxy, worker, node):

        async def recreate():
            await bench.remove("db-0")
            await bench.pod("db-0", node=node, tolerations=[tolerating()])

        proxy.on(method, recreate)
        await bench.taint(node, taint(KEY))
        await until(lambda: attempts(worker))
        assert attempts(worker) == {"replaced": 1}
    found = await bench.get("db-0")
    assert "deletionTimestamp" not in found["metadata"]
    assert "DisruptionTarget" not in str(found["status"])


async def test_a_conflict_is_looked_at_again(api, bench, tmp_path):
    async with scene(api, bench, tmp_path) as (proxy, worker, node):

        async def change():
            body = {"metadata": {"labels": {"changed": "meanwhile"}}}
            await bench.cluster.patch(
                PODS, "db-0", bench.namespace, body, patch_type=PatchType.MERGE
            )

        proxy.on("DELETE", change)
        await bench.taint(node, taint(KEY))
        await until(lambda: is_going(bench, "db-0"))
        await until(lambda: "deleted" in attempts(worker))
        assert attempts(worker) == {"conflict": 1, "deleted": 1}


# What follows needs an API server that can say no: the demo one has no rights or policies.

_RBAC = ("rbac.authorization.k8s.io", "v1")
_ADMISSION = ("admissionregistration.k8s.io", "v1")
RESOURCES = {
    "ServiceAccount": Resource("", "v1", "serviceaccounts", dict),
    "ClusterRole": Resource(*_RBAC, "clusterroles", dict, namespaced=False),
    "ClusterRoleBinding": Resource(*_RBAC, "clusterrolebindings", dict, namespaced=False),
    "ValidatingAdmissionPolicy": Resource(
        *_ADMISSION, "validatingadmissionpolicies", dict, namespaced=False
    ),
    "ValidatingAdmissionPolicyBinding": Resource(
        *_ADMISSION, "validatingadmissionpolicybindings", dict, namespaced=False
    ),
}
READING = [
    {"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["list", "watch"]},
    # A node is read anew where the watch has been silent, as on a clock that skips.
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["nodes", "pods/status"], "verbs": ["patch"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
]
DELETING = {"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}


@pytest.fixture
async def server(kube_apiserver, bench):
    """The real one; `put` makes an object there that is taken away in the end."""
    made = []

    async def put(kind, name, **parts):
        resource = RESOURCES[kind]
        version = f"{resource.group}/{resource.version}".lstrip("/")
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}} | parts
        await bench.cluster.create(resource, body, bench.namespace if resource.namespaced else "")
        made.append((resource, name))

    yield put
    for resource, name in reversed(made):
        if not resource.namespaced:
            with contextlib.suppress(NotFoundError):
                await bench.cluster.delete(resource, name)


# Seconds; whoever was denied once has tried again by then.
NEXT_TRY = 10


async def denied(bench, worker, pod):
    """Wait for a denial; the Events that tell it."""
    await until(lambda: attempts(worker).get("denied"))

    async def told():
        return await messages(bench, pod, "EvictionDenied")

    await until(told)
    return await told()


@pytest.mark.kube_apiserver
async def test_a_right_that_is_missing_is_told_and_waited_for(
    api, bench, clock, server, kube_apiserver
):
    name = f"{bench.namespace}-worker"
    await server("ServiceAccount", "worker")
    await server("ClusterRole", name, rules=READING)
    await server(
        "ClusterRoleBinding",
        name,
        roleRef={"apiGroup": _RBAC[0], "kind": "ClusterRole", "name": name},
        subjects=[{"kind": "ServiceAccount", "name": "worker", "namespace": bench.namespace}],
    )
    path = RESOURCES["ServiceAccount"].path(bench.namespace, "worker", "token")
    asked = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}).encode()
    token = json.loads(await bench.cluster.send(Request("POST", path, body=asked)))["status"]
    own = kube_apiserver.write_kubeconfig(name, {"token": token["token"]})
    async with await connect(own) as cluster, running_worker(cluster, clock=clock) as worker:
        await until(lambda: worker.mirror.synced)
        node = await bench.node(taint(KEY))
        pod = await bench.pod("db-0", node=node)
        [message] = await denied(bench, worker, pod)
        assert 'cannot delete resource "pods"' in message
        await bench.cluster.patch(
            RESOURCES["ClusterRole"],
            name,
            "",
            {"rules": [*READING, DELETING]},
            patch_type=PatchType.MERGE,
        )
        await skipping(clock, NEXT_TRY, lambda: is_going(bench, "db-0"))
        assert len(await messages(bench, pod, "EvictionDenied")) == 1


@pytest.mark.kube_apiserver
async def test_a_webhook_that_denies_is_told_and_outlived(api, bench, clock, server, as_worker):
    """A policy, which is what the API server has for a webhook without a server of its own."""
    name = f"{bench.namespace}-no-deletions"
    await server(
        "ValidatingAdmissionPolicy",
        name,
        spec={
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["DELETE"],
                        "resources": ["pods"],
                    }
                ]
            },
            "validations": [{"expression": "false", "message": "nobody goes before noon"}],
        },
    )
    await server(
        "ValidatingAdmissionPolicyBinding",
        name,
        spec={
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": bench.namespace}
                }
            },
        },
    )
    node = await bench.node()
    pod = await bench.pod("db-0", node=node)

    async def in_force():
        try:
            await bench.cluster.delete(PODS, name_of(pod), bench.namespace, dry_run=True)
        except ClusterError:
            return True
        return False

    await until(in_force)
    async with running_worker(as_worker, clock=clock) as worker:
        await bench.taint(node, taint(KEY))
        [message] = await denied(bench, worker, pod)
        assert "nobody goes before noon" in message
        assert not await is_going(bench, "db-0")
        await bench.cluster.delete(RESOURCES["ValidatingAdmissionPolicyBinding"], name)
        await skipping(clock, NEXT_TRY, lambda: is_going(bench, "db-0"))
        assert len(await messages(bench, pod, "EvictionDenied")) == 1
        await until(lambda: attempts(worker).get("deleted") == 1)
