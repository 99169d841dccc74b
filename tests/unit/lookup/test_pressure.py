"""Answers about live pods and nodes where kubelets may be asked: pressure beside the others."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from bailiff.decisions import SYSTEMS, NotRead, Options, Scene, Why
from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.system import PRESSURE
from bailiff.decisions.text import describe_time
from bailiff.kinds import Pod
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.stats import RlimitStats, Summary
from bailiff.lookup import LookUps
from tests.harness.clocks import ManualClock
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating
from tests.harness.lookups import DictSource

CLOCK = ManualClock()
LOW, PLENTY = 10, 10**9
HARD = msgspec.convert({"evictionHard": {"memory.available": "1Mi"}}, KubeletConfiguration)


def measured(available: int, *, ago: float = 5, **used: int) -> Summary:
    at = describe_time(CLOCK.now() - timedelta(seconds=ago))
    memory = {"time": at, "availableBytes": available, "workingSetBytes": 10**9}
    pods = [
        {"podRef": {"name": name, "uid": f"uid-{name}"}, "memory": {"workingSetBytes": amount}}
        for name, amount in used.items()
    ]
    return msgspec.convert({"node": {"nodeName": "n1", "memory": memory}, "pods": pods}, Summary)


def running(name: str, *tolerations: Any) -> Pod:
    return pod_of(name, "n1", *tolerations, uid=f"uid-{name}", phase="Running")


@pytest.fixture
def source() -> DictSource:
    found = DictSource.of(node_of("n1"), running("calm"), running("greedy"))
    found.kubelets["n1"] = measured(LOW, calm=1, greedy=9), HARD
    return found


async def of_node(source: DictSource) -> Any:
    plan = await LookUps(source, SYSTEMS, CLOCK, 3.0).node("n1", Options())
    return plan.answer()


async def of_pod(source: DictSource, name: str) -> Any:
    plan = await LookUps(source, SYSTEMS, CLOCK, 3.0).pod("default", name, Options())
    return plan.answer().decision


def said(decision: Any) -> tuple[str, str]:
    return decision.verdict.value, decision.reason


async def test_a_pod_that_goes_first_under_pressure_goes_now(source: DictSource) -> None:
    answer = await of_node(source)
    assert {one.pod.name: said(one) for one in answer.decisions} == {
        "calm": ("KEEP", "NoTaint"),
        "greedy": ("EVICT_NOW", "NodePressure"),
    }
    assert answer.reports.pressure.starved == "memory.available"
    # Asked alone, it is weighed among all of its node.
    assert said(await of_pod(source, "greedy")) == ("EVICT_NOW", "NodePressure")
    calm = await of_pod(source, "calm")
    assert [one.reason for one in calm.findings] == ["NoTaint", "RanksLater"]


async def test_the_earliest_of_all_systems_counts_and_each_is_shown(source: DictSource) -> None:
    source.objects[type(node_of("n1"))] = [node_of("n1", no_execute())]
    source.objects[Pod] = [running("calm", tolerating(seconds=9)), running("greedy")]
    by_name = {one.pod.name: one for one in (await of_node(source)).decisions}
    assert said(by_name["calm"]) == ("EVICT_AT", "ToleratedUntil")
    assert {one.system for one in by_name["calm"].findings} >= {"node-taints", "pressure"}


async def test_stats_are_as_old_as_those_of_memory_and_disks(source: DictSource) -> None:
    summary = measured(LOW, calm=1, greedy=9)
    ago = CLOCK.now() - timedelta(seconds=600)
    rlimit = RlimitStats(time=ago, maxpid=9, curproc=1)
    node = msgspec.structs.replace(summary.node, rlimit=rlimit)
    source.kubelets["n1"] = msgspec.structs.replace(summary, node=node), HARD
    assert said(await of_pod(source, "greedy")) == ("EVICT_NOW", "NodePressure")


async def test_where_kubelets_are_not_asked_nothing_is_said_of_pressure() -> None:
    source = DictSource.of(node_of("n1"), running("calm"))
    (decision,) = (await of_node(source)).decisions
    assert "pressure" not in {one.system for one in decision.findings}
    # Nobody lists neighbours for it, either.
    await of_pod(source, "calm")
    assert [one.kind for one in source.seen].count(Pod) == 1


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (NotRead(Why.NOT_ANSWERED, "it did not answer within 3 s"), "within 3 s"),
        ((measured(LOW, ago=121), HARD), "measured nothing new for 121 s"),
        (
            (
                measured(LOW),
                msgspec.convert({"evictionHard": {"memory": "1"}}, KubeletConfiguration),
            ),
            "tells what cannot be",
        ),
    ],
    ids=["no answer", "old", "no kubelet's configuration"],
)
async def test_what_is_not_known_evicts_nobody_and_the_others_answer_stands(
    source: DictSource, told: Any, why: str
) -> None:
    source.kubelets["n1"] = told
    source.objects[type(node_of("n1"))] = [node_of("n1", no_execute())]
    source.objects[Pod] = [running("calm", tolerating()), running("greedy")]
    by_name = {one.pod.name: one for one in (await of_node(source)).decisions}
    assert said(by_name["greedy"]) == ("EVICT_NOW", "TaintNotTolerated")
    first, *_ = by_name["calm"].findings
    assert (first.system, first.reason) == ("pressure", "StatsUnknown")
    assert why in first.message
    assert said(by_name["calm"]) == ("KEEP", "StatsUnknown")


async def test_with_enough_left_all_stay(source: DictSource) -> None:
    source.kubelets["n1"] = measured(PLENTY), HARD
    reasons = [
        finding.reason
        for one in (await of_node(source)).decisions
        for finding in one.findings
        if finding.system == "pressure"
    ]
    assert reasons == ["NoPressure", "NoPressure"]


def test_without_the_other_pods_no_kubelet_is_asked() -> None:
    looking = PRESSURE.look_up(Scene((running("calm"),), CLOCK.now(), node_of("n1")), Options())
    with pytest.raises(StopIteration) as done:
        next(looking)
    assert done.value.value == PressureFacts()
