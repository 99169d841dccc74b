"""Live answers about pods with devices, the same on both API servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from bailiff.clock import SystemClock
from bailiff.decisions import Options
from bailiff.lookup import ClusterSource
from bailiff.rest_api import RestSettings, create_app
from tests.harness.device_objects import RULES, device_taint
from tests.harness.faces.asgi import call
from tests.harness.objects import KEY, taint

if TYPE_CHECKING:
    from fastapi import FastAPI

    from tests.harness.api import Bench
    from tests.harness.gpus import Gpus
    from tests.harness.objects import Object

PATIENCE = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 600}


def app_of(bench: Bench, *, device_taint_eviction: bool = True) -> FastAPI:
    clock = SystemClock()
    options = Options(device_taint_eviction=device_taint_eviction)
    source = ClusterSource(bench.cluster, clock)
    return create_app(RestSettings(), clock, CollectorRegistry(), options, source)


async def ask(bench: Bench, app: FastAPI, name: str) -> Object:
    path = f"/v1/namespaces/{bench.namespace}/pods/{name}/decision"
    answer = await call(app, "GET", path)
    assert answer.status == 200, answer.json
    decision: Object = answer.json["decision"]
    return decision


def told(decision: Object) -> dict[str, tuple[str, str]]:
    return {one["system"]: (one["verdict"], one["reason"]) for one in decision["findings"]}


async def test_a_slice_s_taint_evicts_and_both_systems_are_told(bench: Bench, gpus: Gpus) -> None:
    await gpus.pod("plain")
    await gpus.taint(device_taint())
    decision = await ask(bench, app_of(bench), "plain")
    assert (decision["verdict"], decision["decidedBy"]) == ("EVICT_NOW", "device-taints")
    assert told(decision) == {
        "node-taints": ("KEEP", "NoTaint"),
        "device-taints": ("EVICT_NOW", "TaintNotTolerated"),
    }
    claim, met = decision["findings"][1]["trace"]
    assert (claim["rule"], claim["outcome"]) == ("ResourceClaim", "Used")
    device = met["subject"]["device"]
    assert (device["device"], device["resourceSlice"]["name"]) == ("gpu-0", gpus.name)


async def test_a_rule_counts_where_no_slice_has_a_taint(bench: Bench, gpus: Gpus) -> None:
    await gpus.pod("patient", PATIENCE)
    made = await gpus.rule()
    decision = await ask(bench, app_of(bench), "patient")
    assert (decision["verdict"], decision["reason"]) == ("EVICT_AT", "ToleratedUntil")
    assert f"DeviceTaintRule /{gpus.name}:{made['metadata']['uid']}" in decision["message"]
    await bench.cluster.delete(RULES, gpus.name, "")
    assert (await ask(bench, app_of(bench), "patient"))["verdict"] == "KEEP"


async def test_many_claims_are_listed_and_none_is_missed(bench: Bench, gpus: Gpus) -> None:
    for number in range(10):
        await gpus.pod(f"plain-{number}")
    await gpus.taint(device_taint())
    answer = await call(app_of(bench), "GET", f"/v1/nodes/{gpus.node}/decisions")
    assert [one["decidedBy"] for one in answer.json["decisions"]] == ["device-taints"] * 10


async def test_the_earliest_of_both_systems_wins(bench: Bench, gpus: Gpus) -> None:
    await gpus.pod("patient", PATIENCE)
    await gpus.taint(device_taint())
    await bench.taint(gpus.node, taint(KEY))
    app = app_of(bench)
    decision = await ask(bench, app, "patient")
    assert (decision["verdict"], decision["decidedBy"]) == ("EVICT_NOW", "node-taints")
    assert {system: verdict for system, (verdict, _) in told(decision).items()} == {
        "node-taints": "EVICT_NOW",
        "device-taints": "EVICT_AT",
    }
    answer = await call(app, "GET", f"/v1/nodes/{gpus.node}/decisions")
    (same,) = answer.json["decisions"]
    assert told(same) == told(decision)


async def test_with_the_gate_off_only_the_node_s_taints_count(bench: Bench, gpus: Gpus) -> None:
    await gpus.pod("plain")
    await gpus.taint(device_taint())
    app = app_of(bench, device_taint_eviction=False)
    decision = await ask(bench, app, "plain")
    assert (decision["verdict"], decision["reason"]) == ("KEEP", "DeviceTaintEvictionOff")
    await bench.taint(gpus.node, taint(KEY))
    assert (await ask(bench, app, "plain"))["decidedBy"] == "node-taints"
