"""What it costs to judge a lost node, counted from the lengths of what is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import Cost
from bailiff.decisions.lengths import CHARACTER, ROUGH_BYTES, length
from bailiff.kinds.names import MAX_LABEL, MAX_SUBDOMAIN

if TYPE_CHECKING:
    from bailiff.decisions.node_loss.facts import NodeLossFacts
    from bailiff.decisions.system import Scene

# A pod is looked at in the round and for the report: its owners, its volumes, and each DaemonSet of
# the question where it has no controller.
_NODE_STEPS, _POD_STEPS = 50, 10
# Bytes: of the report without pods; of a pod's places there; of a finding; of its trace.
_REPORT, _POD, _FINDING, _TRACE = 6000, 700, 3000, 1500
# A pod is named in the report up to three times, the node in the messages of a finding.
_NAMED = 3
_LONGEST_NAMES = CHARACTER * (MAX_LABEL + 3 * MAX_SUBDOMAIN)


def weigh(scene: Scene, facts: NodeLossFacts, *, explain: bool) -> Cost:
    """Count what it takes to judge the node and its pods, and what the answer may tell."""
    pods, asked = scene.on_node, len(scene.pods)
    volumes = sum(len(pod.spec.volumes) for pod in pods)
    alone = sum(1 for pod in pods if not pod.metadata.owner_references)
    owners = sum(len(pod.metadata.owner_references) for pod in pods)
    steps = _NODE_STEPS + len(facts.zones) + len(facts.claims)
    steps += 2 * (_POD_STEPS * len(pods) + volumes + owners + alone * len(facts.daemon_sets))
    told = _REPORT + len(pods) * _POD + asked * (_FINDING + _TRACE * explain) + _texts(facts)
    return Cost(steps, told + _names(scene), "$.pods")


def _texts(facts: NodeLossFacts) -> int:
    """What a caller tells in words, which each kind of finding repeats."""
    return 0 if not facts.contradiction else 10 * length(facts.contradiction)


def _names(scene: Scene) -> int:
    pods = scene.on_node
    rough = _NAMED * _LONGEST_NAMES * len(pods)
    if rough <= ROUGH_BYTES:
        return rough
    metas = (pod.metadata for pod in pods)
    return _NAMED * sum(length(meta.namespace, meta.name, meta.uid) for meta in metas)
