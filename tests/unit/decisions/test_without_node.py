"""Pods of a real cluster whose node is not there."""

from __future__ import annotations

import pytest

from bailiff.decisions import SYSTEMS, Options, Scene, Verdict
from bailiff.decisions.device_taints import DEVICE_TAINTS, DeviceTaintFacts
from bailiff.decisions.node_taints import NODE_TAINTS, NodeTaintFacts
from bailiff.decisions.registry import Part
from bailiff.kinds import Pod, PodSpec
from tests.harness.asking import NOW
from tests.harness.device_kinds import claim, rule, using


@pytest.mark.parametrize(("node", "reason"), [("", "PodNotBound"), ("node-1", "NodeGone")])
@pytest.mark.parametrize("explain", [True, False])
def test_a_pod_without_its_node_stays(node: str, reason: str, explain: bool) -> None:
    scene = Scene((Pod(spec=PodSpec(node_name=node)),), NOW, without_node=True)
    parts: list[Part] = [(NODE_TAINTS, NodeTaintFacts()), (DEVICE_TAINTS, DeviceTaintFacts())]
    answer = SYSTEMS.weigh_seen_pod(scene, parts, Options(explain=explain)).answer()
    decision = answer.decision
    assert (decision.verdict, decision.reason, decision.node) == (Verdict.KEEP, reason, node)
    assert decision.decided_at == NOW
    assert [finding.system for finding in decision.findings] == ["node-taints"]


def test_a_pod_whose_without_node_may_be_evicted_by_its_devices() -> None:
    devices = DeviceTaintFacts(resource_claims=(claim(),), device_taint_rules=(rule(),))
    scene = Scene((using("c"),), NOW, without_node=True)
    parts: list[Part] = [(NODE_TAINTS, NodeTaintFacts()), (DEVICE_TAINTS, devices)]
    decision = SYSTEMS.weigh_seen_pod(scene, parts, Options()).answer().decision
    assert decision.verdict is Verdict.EVICT_NOW
    assert [finding.reason for finding in decision.findings] == ["NodeGone", "TaintNotTolerated"]
