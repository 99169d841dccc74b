"""Where kube-controller-manager's flags cannot be set: docs/switching-over.md's policy, applied."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import pytest
import yaml

from bailiff.cluster import (
    AlreadyExistsError,
    ForbiddenError,
    InvalidError,
    Request,
    Resource,
    connect,
)
from tests.harness.api import PODS, name_of
from tests.harness.in_tree import kube_controller_manager
from tests.harness.objects import KEY, object_of, taint
from tests.harness.working import is_going, running_worker, until

pytestmark = pytest.mark.kube_apiserver

GUIDE = Path(__file__).parents[2] / "docs" / "switching-over.md"
ADMISSION = ("admissionregistration.k8s.io", "v1")
KINDS = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}
ACCOUNTS = Resource("", "v1", "serviceaccounts", dict)
IN_TREE = "node-controller"


async def log_in(bench, server):
    """As the in-tree controller does, where it has an account of its own."""
    body = object_of("ServiceAccount", IN_TREE)
    with contextlib.suppress(AlreadyExistsError):
        await bench.cluster.create(ACCOUNTS, body, "kube-system")
    path = ACCOUNTS.path("kube-system", IN_TREE, "token")
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    answer = await bench.cluster.send(Request("POST", path, body=json.dumps(body).encode()))
    token = json.loads(answer)["status"]["token"]
    return await connect(server.write_kubeconfig(IN_TREE, {"token": token}))


@pytest.fixture
async def policy(bench, kube_apiserver):
    """What the guide says to apply, in force."""
    block = re.search(r"<!-- policy: .*? -->\n```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert block is not None
    objects = list(yaml.safe_load_all(block[1]))
    kinds = [Resource(*ADMISSION, KINDS[obj["kind"]], dict, namespaced=False) for obj in objects]
    for kind, obj in zip(kinds, objects, strict=True):
        await bench.cluster.create(kind, obj)
    probe = await bench.pod("probe")
    async with await log_in(bench, kube_apiserver) as in_tree:

        async def in_force():
            try:
                await in_tree.delete(PODS, name_of(probe), bench.namespace, dry_run=True)
            except (ForbiddenError, InvalidError) as refusal:
                return "Bailiff evicts" in str(refusal)
            return False

        await until(in_force)
    yield
    for kind, obj in zip(kinds, objects, strict=True):
        await bench.cluster.delete(kind, name_of(obj))


async def test_by_the_policy_bailiff_alone_evicts(api, bench, as_worker, policy, tmp_path):
    node = await bench.node()
    await bench.pod("plain", node=node)
    done = await bench.finished_pod(node=node)
    await bench.taint(node, taint(KEY))
    flag = "--use-service-account-credentials"
    async with kube_controller_manager(api, tmp_path, flag) as in_tree:
        # It says so when all its tries are over.
        await until(lambda: in_tree.exited or refused(in_tree, "plain"))
        assert in_tree.running, in_tree.tail()
        found = await bench.get("plain")
        assert "deletionTimestamp" not in found["metadata"]
        assert "DisruptionTarget" not in str(found["status"])
        async with running_worker(as_worker):
            await until(lambda: is_going(bench, "plain"))
        assert not await is_going(bench, name_of(done))
        assert in_tree.running


def refused(in_tree, pod):
    lines = in_tree.log.read_text().splitlines()
    return any("Bailiff evicts" in line and pod in line for line in lines)
