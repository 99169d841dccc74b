"""The node whose memory a person can fill, and questions about it."""

from __future__ import annotations

from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.report import PressureReport
from bailiff.kinds import Node, Pod, decode, decode_yaml_value
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.stats import Summary
from bailiff_demo import DemoCluster, Fleet
from tests.harness.asking import ask
from tests.unit.demo.api import Client, HandClock, Json, put, seen

SMALL = "/api/v1/nodes/small-1"
PODS = "/api/v1/namespaces/demo/pods"
MEMORY = "demo.bailiff.dev/memory"
SYSTEM = "demo.bailiff.dev/system-memory"
CONFIGURATION = "demo.bailiff.dev/kubelet-configuration"
MI, GI = 2**20, 2**30
THREE = ("ledger", "report", "search")


def still_fleet(clock: HandClock) -> DemoCluster:
    """The demo fleet in which only the three pods run, and nothing happens by itself."""
    cluster = DemoCluster(clock=clock, fleet=Fleet.demo(), lively=False)
    for one in seen(cluster, "pods", "demo"):
        if one["metadata"]["name"] in THREE:
            put(cluster, "pods", one | {"status": {"phase": "Running"}})
    return cluster


async def asked_summary(api: Client) -> Summary:
    reply = await api.send("GET", f"{SMALL}/proxy/stats/summary")
    assert reply.status == 200, reply.raw
    return decode(reply.raw, Summary)


async def round_of(api: Client) -> PressureReport:
    """What the kubelet's eviction manager would do by all that the API tells."""
    configured = await api.get(f"{SMALL}/proxy/configz")
    facts = PressureFacts(
        summary=await asked_summary(api),
        configuration=decode_yaml_value(configured["kubeletconfig"], KubeletConfiguration),
        kubelet_version="v1.37.1",
    )
    listed = await api.get("/api/v1/pods", fieldSelector="spec.nodeName=small-1")
    pods = tuple(decode_yaml_value(one, Pod) for one in listed["items"])
    found = decode_yaml_value(await api.get(SMALL), Node)
    answer = ask("planPressureRound", node=found, pods=pods, pressure=facts)
    report: PressureReport = answer.report
    return report


async def annotate(api: Client, path: str, **told: str | None) -> Json:
    return await api.patch(path, {"metadata": {"annotations": told}})


async def use(api: Client, name: str, memory: str | None) -> Json:
    return await annotate(api, f"{PODS}/{name}", **{MEMORY: memory})


def victims(report: PressureReport) -> list[str]:
    return [one.pod.name for one in report.victims]
