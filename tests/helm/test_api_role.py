"""The API under the chart's own rules: it reads what it answers from, and nothing else."""

from __future__ import annotations

import contextlib
import json

import pytest
from prometheus_client import CollectorRegistry

from bailiff.clock import SystemClock
from bailiff.cluster import PODS, ForbiddenError, connect
from bailiff.decisions import Options
from bailiff.lookup import ClusterSource
from bailiff.rest_api import RestSettings, create_app
from tests.harness.api import PODS as OBJECTS
from tests.harness.device_objects import device_taint
from tests.harness.faces.asgi import call
from tests.harness.gpus import gpus_of
from tests.harness.helm.accounts import Permission, log_in, permissions
from tests.harness.objects import KEY, pod_object, taint

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver]

POD, NODE = "/v1/namespaces/{namespace}/pods/plain/decision", "/v1/nodes/{node}/decisions"
# Asked by POST, about nodes by their names.
EXTENDER = "/scheduler/extender/v1/prioritize"
TRAINER = "/v1/namespaces/{namespace}/pods/trainer/decision"
# Names as many claims as are listed rather than got one by one.
GREEDY = "/v1/namespaces/{namespace}/pods/greedy/decision"
# Which question each verb is for; the question fails without it, and says so.
FAILS = {
    Permission("pods", "get"): POD,
    Permission("nodes", "get"): POD,
    Permission("pods", "list"): NODE,
    Permission("nodes", "list"): EXTENDER,
}
# Without these the node's taints are still answered for, and what was not read is said.
UNTOLD = {
    Permission("resourceclaims", "get"): TRAINER,
    Permission("resourceclaims", "list"): GREEDY,
    Permission("resourceslices", "list"): TRAINER,
    Permission("devicetaintrules", "list"): TRAINER,
}


@contextlib.asynccontextmanager
async def asking(server, bench, without=None):
    path = await log_in(server, "api", bench.namespace, without)
    node = await bench.node(taint(KEY))
    await bench.pod("plain", node=node)
    async with await connect(path) as own:
        source = ClusterSource(own, SystemClock())
        app = create_app(RestSettings(), SystemClock(), CollectorRegistry(), Options(), source)

        async def ask(question):
            target = question.format(namespace=bench.namespace, node=node)
            body = {"Pod": {}, "NodeNames": [node]} if question == EXTENDER else b""
            answer = await call(app, "POST" if body else "GET", target, body)
            found = answer.json
            return answer.status, found.get("decision", found) if isinstance(found, dict) else found

        yield ask


async def train(bench, gpus):
    """A pod whose device is tainted, and one whose many claims do not exist."""
    await gpus.taint(device_taint())
    await gpus.pod("trainer")
    named = [{"name": f"gpu-{i}", "resourceClaimName": f"absent-{i}"} for i in range(9)]
    body = pod_object("greedy", nodeName=gpus.node, resourceClaims=named)
    await bench.cluster.create(OBJECTS, body, bench.namespace)


async def test_under_the_chart_s_rules_every_live_question_is_answered(kube_apiserver, bench):
    async with asking(kube_apiserver, bench) as ask:
        status, decision = await ask(POD)
        assert (status, decision["verdict"]) == (200, "EVICT_NOW")
        status, answer = await ask(NODE)
        assert status == 200
        assert "plain" in json.dumps(answer)
        status, answer = await ask(EXTENDER)
        assert (status, answer[0]["Score"]) == (200, 0)


async def test_under_the_chart_s_rules_devices_are_read(kube_apiserver, bench):
    async with gpus_of(bench) as gpus, asking(kube_apiserver, bench) as ask:
        await train(bench, gpus)
        status, decision = await ask(TRAINER)
        assert (status, decision["verdict"]) == (200, "EVICT_NOW")
        assert decision["decidedBy"] == "device-taints"
        status, decision = await ask(GREEDY)
        assert (status, decision["verdict"]) == (200, "KEEP")
        assert "DevicesNotRead" not in json.dumps(decision)


def test_the_tables_name_every_permission_of_the_api():
    assert FAILS.keys() | UNTOLD.keys() == permissions("api")


@pytest.mark.parametrize("without", FAILS, ids=str)
async def test_with_one_verb_less_a_question_fails(kube_apiserver, bench, without):
    async with asking(kube_apiserver, bench, without) as ask:
        status, problem = await ask(FAILS[without])
        assert problem["code"] == "cluster_forbidden"
        assert status == problem["status"] >= 400
        assert f"permission to {without}" in problem["detail"]


@pytest.mark.parametrize("without", UNTOLD, ids=str)
async def test_with_one_verb_less_devices_are_not_known(kube_apiserver, bench, without):
    async with gpus_of(bench) as gpus, asking(kube_apiserver, bench, without) as ask:
        await train(bench, gpus)
        status, decision = await ask(UNTOLD[without])
        assert (status, decision["verdict"]) == (200, "KEEP")
        assert decision["reason"] == "DevicesNotRead"
        assert str(without) in decision["message"].partition("permission to ")[2]


async def test_the_api_cannot_write(kube_apiserver, bench):
    path = await log_in(kube_apiserver, "api", bench.namespace)
    await bench.pod("plain")
    async with await connect(path) as own:
        with pytest.raises(ForbiddenError, match="cannot delete"):
            await own.delete(PODS, "plain", bench.namespace)
    assert {p.verb for p in permissions("api")} <= {"get", "list", "watch"}
