"""Agents and the pods of other nodes: a real API server knows by their tokens where they run."""

from __future__ import annotations

import json
import secrets

import pytest

from bailiff.cluster import AdmissionDeniedError, ForbiddenError, Request, Resource, connect
from tests.harness.api import NODES, PODS
from tests.harness.helm.accounts import log_in
from tests.harness.helm.chart import render
from tests.harness.kube.tokens import ACCOUNTS
from tests.harness.objects import node_object, pod_object
from tests.harness.scripted_server import kubeconfig
from tests.harness.working import until

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver]

ADMISSION = ("admissionregistration.k8s.io", "v1")
KINDS: dict[str, Resource] = {
    kind: Resource(*ADMISSION, plural, dict, namespaced=False)
    for kind, plural in (
        ("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
        ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
    )
}
CHOSEN = {"agent": {"enabled": True, "mode": "act"}}


async def token_on(bench, account: str, pod) -> str:
    """As the kubelet asks for it, for this pod."""
    meta = pod["metadata"]
    bound = {"kind": "Pod", "apiVersion": "v1", "name": meta["name"], "uid": meta["uid"]}
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"boundObjectRef": bound},
    }
    path = ACCOUNTS.path(meta["namespace"], account, "token")
    answer = await bench.cluster.send(Request("POST", path, body=json.dumps(body).encode()))
    return str(json.loads(answer)["status"]["token"])


async def test_an_agent_may_delete_the_pods_of_its_own_node_alone(kube_apiserver, bench, tmp_path):
    namespace = bench.namespace
    await log_in(kube_apiserver, "agent", namespace, None, CHOSEN)
    for one in render(values=CHOSEN, namespace=namespace):
        labels = one["metadata"].get("labels", {})
        if one["kind"] in KINDS and labels.get("app.kubernetes.io/component") == "agent":
            await bench.cluster.create(KINDS[one["kind"]], one)
    mine, other = (f"n-{secrets.token_hex(3)}" for _ in range(2))
    for name in (mine, other):
        await bench.cluster.create(NODES, node_object(name))

    async def add(node: str, **spec):
        body = pod_object(f"p-{secrets.token_hex(3)}", nodeName=node, **spec)
        return await bench.cluster.create(PODS, body, namespace)

    agent = await add(mine, serviceAccountName="bailiff-agent")
    token = await token_on(bench, "bailiff-agent", agent)
    path = kubeconfig(tmp_path, kube_apiserver.port, ca=kube_apiserver.tls.ca, token=token)
    async with await connect(path) as own:
        theirs = (await add(other))["metadata"]["name"]

        async def denied() -> bool:
            try:
                await own.delete(PODS, theirs, namespace, dry_run=True)
            except (AdmissionDeniedError, ForbiddenError) as error:
                return "their own node" in error.message
            return False

        # A policy counts a moment after it was written.
        await until(denied)
        ours = (await add(mine))["metadata"]["name"]
        await own.delete(PODS, ours, namespace, grace_period_seconds=0)
