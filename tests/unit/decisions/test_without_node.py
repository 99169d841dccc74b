"""Pods of a real cluster whose node is not there."""

from datetime import UTC, datetime

import pytest

from bailiff.decisions import Facts, Verdict, decide_without_node
from bailiff.kinds import Pod, PodSpec

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("node", "reason"), [("", "PodNotBound"), ("node-1", "NodeGone")])
def test_a_pod_without_its_node_stays(node: str, reason: str) -> None:
    decision = decide_without_node(Facts(pod=Pod(spec=PodSpec(node_name=node))), NOW)
    assert (decision.verdict, decision.reason, decision.node) == (Verdict.KEEP, reason, node)
    assert decision.decided_at == NOW
