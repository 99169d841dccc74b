"""The nodes of a cluster are listed once for all of a process, whoever looks at them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import aiohttp
from structlog.testing import capture_logs

from bailiff.bootstrap.choices import AdmissionChoice, ClusterChoice, ProbeChoice
from bailiff.bootstrap.serve import ServeSettings, serve
from tests.harness.admission import request_of
from tests.harness.gating import EVICTION
from tests.harness.lookups import Server
from tests.harness.scripted_server import kubeconfig, serving
from tests.unit.test_serve_systems import LIMIT, until_it_starts

if TYPE_CHECKING:
    from pathlib import Path

POD = {"metadata": {"name": "web", "namespace": "shop", "uid": "u"}, "spec": {"nodeName": "n1"}}
EVICTED = {"metadata": {"name": "web", "namespace": "shop"}}
BREAKERS = "apiVersion: bailiff.dev/v1\nkind: WorkerPolicies\nbreakers:\n  cluster: {}\n"


async def post(url: str, body: object) -> Any:
    async with aiohttp.ClientSession() as client, client.post(url, json=body) as answer:
        return await answer.json()


async def ask(rest: str) -> None:
    """kube-scheduler's extender, then the gate."""
    asked = {"Pod": POD, "NodeNames": ["n1"]}
    assert (await post(f"{rest}/scheduler/extender/v1/filter", asked))["NodeNames"] == ["n1"]
    request = request_of(**EVICTION, object=EVICTED)
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    said = await post(f"{rest}/admission/v1/validate/evictions", review)
    assert said["response"]["allowed"], said


async def test_extender_and_gate_go_by_the_same_list(tmp_path: Path) -> None:
    server, stop = Server(), asyncio.Event()
    server.objects = {"nodes": [{"metadata": {"name": "n1"}}], "pods": [POD]}
    policies = tmp_path / "policies.yaml"
    policies.write_text(BREAKERS)
    async with serving(server.answer) as port, asyncio.timeout(LIMIT):
        settings = ServeSettings(
            cluster=ClusterChoice(kubeconfig(tmp_path, port)),
            rest_port=0,
            grpc_port=0,
            probes=ProbeChoice(0),
            admission=AdmissionChoice(policies=policies),
        )
        with capture_logs() as logs:
            serving_it = asyncio.ensure_future(serve(settings)(stop))
            try:
                await ask((await until_it_starts(logs))["rest"])
            finally:
                stop.set()
                await serving_it
    assert server.asked.count("/api/v1/nodes") == 1
