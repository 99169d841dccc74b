"""For each file of cases: the question put to our core, answered in the file's terms."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from bailiff.decisions import Finding, Options, Verdict, tolerates
from bailiff.decisions.node_taints import NodeTaints, NodeTaintSubject
from bailiff.kinds import Node, NodeMeta, NodeSpec, Pod, PodSpec, Taint, Toleration
from tests.conformance.admission import (
    answer_daemonset_tolerations,
    answer_default_tolerations,
    answer_extended_resource_toleration,
    comparable_tolerations,
)
from tests.conformance.device_taints import (
    answer_device_rule_status,
    answer_device_sequence,
    answer_device_taint,
    answer_device_toleration,
)
from tests.conformance.node_loss import (
    answer_delete_pods,
    answer_mark_pods_not_ready,
    comparable_marks,
)
from tests.conformance.pods import answer_qos
from tests.conformance.pressure import (
    answer_admit,
    answer_observations,
    answer_pressure_sequence,
    answer_ranking,
    answer_threshold_parse,
    comparable_observations,
    comparable_pressure_sequence,
    comparable_ranking,
    comparable_threshold_parse,
)
from tests.conformance.scheduling import answer_scheduling
from tests.conformance.taint_sequences import answer_taint_sequence, as_observable

Json = dict[str, Any]

# Any instant will do: none of these cases depends on the date.
NOW = datetime(2025, 1, 1, tzinfo=UTC)


def answer_tolerates(case: Json) -> Json:
    return {
        "tolerates": tolerates(
            msgspec.convert(case["toleration"], Toleration),
            msgspec.convert(case["taint"], Taint),
            comparison_operators=case["comparisonOperators"],
        )
    }


def answer_node_taint(case: Json) -> Json:
    taints = tuple(msgspec.convert(case["taints"], list[Taint]))
    tolerations = tuple(msgspec.convert(case["tolerations"], list[Toleration]))
    node = Node(metadata=NodeMeta(name="n"), spec=NodeSpec(taints=taints))
    options = Options(comparison_operators=case["comparisonOperators"])
    finding = NodeTaints(node, NOW, (), options).decide(
        Pod(spec=PodSpec(node_name="n", tolerations=tolerations))
    )
    met = [
        step.subject
        for step in finding.trace
        if step.rule == "NoExecuteTaint" and isinstance(step.subject, NodeTaintSubject)
    ]
    all_tolerated = all(one.toleration is not None for one in met)
    used = [one.toleration for one in met if one.toleration is not None] if all_tolerated else []
    return {
        "noExecuteTaints": [one.taint_index for one in met],
        "allTolerated": all_tolerated,
        "usedTolerations": msgspec.to_builtins(used),
        "minTolerationSeconds": _min_seconds(finding, used),
        "action": _action(finding),
    }


def _action(finding: Finding) -> str:
    if finding.reason == "NoTaint":
        return "none"
    return {
        Verdict.KEEP: "keep",
        Verdict.EVICT_NOW: "evict_now",
        Verdict.EVICT_AT: "evict_after",
    }[finding.verdict]


def _min_seconds(finding: Finding, used: list[Toleration]) -> int:
    """-1 for ever, 0 where nothing is used or the pod goes now."""
    if not used or finding.verdict is Verdict.EVICT_NOW:
        return 0
    seconds = [t.toleration_seconds for t in used if t.toleration_seconds is not None]
    return min(seconds, default=-1)


SYSTEMS: dict[str, Callable[[Json], Json]] = {
    "tolerates": answer_tolerates,
    "node_taint": answer_node_taint,
    "taint_sequence": answer_taint_sequence,
    "device_toleration": answer_device_toleration,
    "device_taint": answer_device_taint,
    "device_rule_status": answer_device_rule_status,
    "device_sequence": answer_device_sequence,
    "scheduling": answer_scheduling,
    "qos": answer_qos,
    "admit": answer_admit,
    "threshold_parse": answer_threshold_parse,
    "observations": answer_observations,
    "ranking": answer_ranking,
    "pressure_sequence": answer_pressure_sequence,
    "default_tolerations": answer_default_tolerations,
    "extended_resource_toleration": answer_extended_resource_toleration,
    "daemonset_tolerations": answer_daemonset_tolerations,
    "delete_pods": answer_delete_pods,
    "mark_pods_not_ready": answer_mark_pods_not_ready,
}

# Where the file tells more than can be compared: what is left of it.
COMPARABLE: dict[str, Callable[[Json], Json]] = {
    "taint_sequence": as_observable,
    "threshold_parse": comparable_threshold_parse,
    "observations": comparable_observations,
    "ranking": comparable_ranking,
    "pressure_sequence": comparable_pressure_sequence,
    "default_tolerations": comparable_tolerations,
    "extended_resource_toleration": comparable_tolerations,
    "daemonset_tolerations": comparable_tolerations,
    "mark_pods_not_ready": comparable_marks,
}
