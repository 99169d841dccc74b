"""Which priority level the API server gives the worker's requests."""

from __future__ import annotations

from functools import partial

import aiohttp
import pytest
import yaml

from bailiff.cluster import LEASES, PODS, Request, Resource
from tests.harness.helm.accounts import log_in
from tests.harness.helm.chart import render, the
from tests.harness.working import until

pytestmark = pytest.mark.helm

FLOW_SCHEMAS = Resource("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", dict, namespaced=False)
LEVELS = {"-leases": "leader-election", "-requests": "workload-high"}
# apiserver pkg/server/filters/priority-and-fairness.go: by which schema a request was taken.
TAKEN_BY = "X-Kubernetes-PF-FlowSchema-UID"


def test_the_schemas_are_for_the_worker_s_account_alone():
    objects = render()
    for suffix, level in LEVELS.items():
        spec = the(objects, "FlowSchema", "worker", suffix)["spec"]
        assert spec["priorityLevelConfiguration"] == {"name": level}
        [rule] = spec["rules"]
        account = {"name": "bailiff-worker", "namespace": "bailiff"}
        assert rule["subjects"] == [{"kind": "ServiceAccount", "serviceAccount": account}]


def test_switched_off_there_are_none():
    objects = render(values={"worker": {"flowSchemas": {"enabled": False}}})
    assert "FlowSchema" not in {obj["kind"] for obj in objects}


@pytest.mark.kube_apiserver
async def test_leases_are_taken_for_leader_election_and_all_else_for_workload_high(
    kube_apiserver, cluster, bench
):
    objects = render(namespace=bench.namespace)
    made = {}
    for suffix in LEVELS:
        schema = the(objects, "FlowSchema", "worker", suffix)
        made[suffix] = (await cluster.create(FLOW_SCHEMAS, schema))["metadata"]
    path = await log_in(kube_apiserver, "worker", bench.namespace)
    leases = LEASES.path(bench.namespace, "bailiff-worker-0-of-1")
    try:
        # The API server comes to know a schema by a watch, as others do.
        for asked, suffix in ((leases, "-leases"), (PODS.path(), "-requests")):
            await until(partial(taken_by, path, asked, made[suffix]["uid"]))
    finally:
        for metadata in made.values():
            await cluster.send(Request("DELETE", FLOW_SCHEMAS.path("", metadata["name"])))


async def taken_by(path, asked, uid):
    """Whether a request of this account is taken by the schema of this UID."""
    config = yaml.safe_load(path.read_text())
    token = config["users"][0]["user"]["token"]
    url = config["clusters"][0]["cluster"]["server"] + asked
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.get(url, ssl=False) as response,
    ):
        # The Lease is not there yet: a 404 has been taken by a schema as well as any answer.
        return response.headers[TAKEN_BY] == uid
