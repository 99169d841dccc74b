"""The taints that Kubernetes itself sets are known to the trace, and cost nothing without one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
import pytest

from bailiff.decisions import Options
from bailiff.decisions.node_taints import (
    BUILT_IN_TAINTS,
    NodeTaints,
    NodeTaintSubject,
    built_in_taint,
    findings,
    other_taints,
)
from bailiff.decisions.node_taints.weighing import weigh
from bailiff.kinds import Taint
from bailiff.kinds.names import is_label_key
from tests.harness.kinds import node_of, pod_of

if TYPE_CHECKING:
    from bailiff.decisions import Finding
    from bailiff.decisions.node_taints import BuiltInTaint

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PREFIX, CLOUD = "node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"
# k8s.io/api/core/v1/well_known_taints.go and k8s.io/cloud-provider/api/well_known_taints.go.
OF_TODAY = {
    *(PREFIX + name for name in ("not-ready", "unreachable", "unschedulable", "out-of-service")),
    *(PREFIX + name for name in ("memory-pressure", "disk-pressure", "pid-pressure")),
    PREFIX + "network-unavailable",
    CLOUD + "uninitialized",
    CLOUD + "shutdown",
}
ALL = [pytest.param(one, id=f"{one.key}:{one.effect}") for one in BUILT_IN_TAINTS]


def finding(*taints: Taint, explain: bool = True) -> Finding:
    asked = NodeTaints(node_of("n", *taints), NOW, options=Options(explain=explain))
    return asked.decide(pod_of("p", "n"))


def test_every_key_of_kubernetes_is_there() -> None:
    assert {one.key for one in BUILT_IN_TAINTS if not one.until} >= OF_TODAY


def test_a_row_is_found_by_its_name_and_names_are_unique() -> None:
    names = [(one.key, one.effect) for one in BUILT_IN_TAINTS]
    assert len(set(names)) == len(names)
    for one in BUILT_IN_TAINTS:
        assert built_in_taint(Taint(key=one.key, effect=one.effect)) is one


@pytest.mark.parametrize("one", ALL)
def test_a_row_says_all_that_it_is_asked(one: BuiltInTaint) -> None:
    assert is_label_key(one.key)
    assert one.effect in ("NoSchedule", "NoExecute")
    assert all((one.condition, one.set_by, one.removed_by, one.since))
    # What is set no longer says when that ended, and what took its place is a key of today.
    replacing = [row for row in BUILT_IN_TAINTS if row.key == one.replaced_by]
    assert bool(one.until) == bool(replacing)
    assert not any(row.until for row in replacing)


@pytest.mark.parametrize("one", ALL)
def test_every_one_is_known_to_the_trace(one: BuiltInTaint) -> None:
    trace = finding(Taint(key="a", effect="NoExecute"), Taint(key=one.key, effect=one.effect)).trace
    step = trace[-1]
    assert isinstance(step.subject, NodeTaintSubject)
    assert (step.subject.built_in, step.subject.taint_index) == (one, 1)
    said = ("NoExecuteTaint", "NotTolerated"), ("BuiltInTaint", "EvictsNobody")
    assert (step.rule, step.outcome) == said[one.effect != "NoExecute"]


def test_with_an_effect_that_kubernetes_never_gives_it() -> None:
    [step] = finding(Taint(key=PREFIX + "out-of-disk", effect="NoExecute")).trace
    assert isinstance(step.subject, NodeTaintSubject)
    assert step.subject.built_in is not None
    assert step.subject.built_in.effect == "NoSchedule"
    assert built_in_taint(Taint(key=PREFIX + "not-ready", effect="?")) is BUILT_IN_TAINTS[0]


def test_other_taints_have_no_step_where_they_do_not_evict() -> None:
    assert [step.rule for step in finding(Taint(key="a", effect="NoSchedule")).trace] == [
        "NoExecuteTaint"
    ]


def test_without_a_trace_nothing_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Taint] = []
    for module in (findings, other_taints):
        monkeypatch.setattr(module, "built_in_taint", asked.append)
    taints = [Taint(key=one.key, effect=one.effect) for one in BUILT_IN_TAINTS]
    assert finding(*taints, explain=False).trace == ()
    assert asked == []


def test_what_a_trace_tells_of_them_is_counted() -> None:
    taints = [Taint(key=one.key, effect=one.effect) for one in BUILT_IN_TAINTS] * 20
    pods = [pod_of("p", "n")] * 10
    answers = [finding(*taints) for _ in pods]
    cost = weigh(taints, pods, explain=True)
    assert sum(len(msgspec.json.encode(one)) for one in answers) <= cost.told
    assert cost.steps >= len(pods) * len(taints)
