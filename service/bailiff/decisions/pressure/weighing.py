"""What a round costs, counted from the lengths of what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import Cost
from bailiff.decisions.lengths import CHARACTER, ROUGH_BYTES, length
from bailiff.kinds.names import MAX_LABEL, MAX_SUBDOMAIN

if TYPE_CHECKING:
    from bailiff.decisions.pressure.facts import PressureFacts
    from bailiff.decisions.system import Scene
    from bailiff.kinds import Pod

# A round looks at the configuration and at each threshold, whoever is on the node.
_ROUND_STEPS = 250
# A pod is ranked once, and once more for each threshold that only tells: by sums over its
# containers, which are looked at for requests, for limits and in messages, over what was measured
# of them, and over its volumes.
_POD_STEPS, _CONTAINER_STEPS, _MEASURED_STEPS, _VOLUME_STEPS = 25, 4, 2, 1
# Hard and soft ones of 16 signals, those of allocatable memory, and those that are derived.
_THRESHOLDS = 40
# Bytes: of a threshold in the report and in the state; of conditions, Events, layout and the rest.
_THRESHOLD, _REST = 1200, 4000
# Of a candidate, of a victim and of a finding, without names and messages.
_CANDIDATE, _VICTIM, _FINDING = 400, 700, 1500
# A trace tells each threshold that is met, and the pod's place as a candidate.
_STEP = 1000
# A message stands in the report, and in a decision in six places; annotations in four.
_REPEATED = 7 + 4
# What is said of a volume, a container or a pod that is over its limit or its request: its name,
# two quantities, and words.
_SAID = CHARACTER * MAX_LABEL + 2 * 64 + 120
_LONGEST_NAMES = CHARACTER * (MAX_LABEL + 2 * MAX_SUBDOMAIN) + 20
# A pod is named as a candidate, as a victim with its own name in a message, and in its trace.
_NAMED = 4


def weigh(scene: Scene, facts: PressureFacts, *, explain: bool) -> Cost:
    """Count what a round takes, and what its answer may tell."""
    pods, asked = scene.on_node, len(scene.pods)
    containers = [len(pod.spec.containers) + len(pod.spec.init_containers) for pod in pods]
    measured = 0
    if facts.summary is not None:
        measured = sum(len(one.containers) + len(one.volume) for one in facts.summary.pods)
    told = _REST + _THRESHOLDS * _THRESHOLD + len(pods) * (_CANDIDATE + _VICTIM)
    told += asked * (_FINDING + _STEP * (_THRESHOLDS + 1) * explain)
    # Each pod may be over a limit of its own, or some may go for what all their containers use.
    extensions = facts.extensions
    most = 1 if extensions.release_target is None else extensions.release_target.at_most
    blamed = sum(sorted(containers, reverse=True)[:most]) + most
    told += _REPEATED * _SAID * (len(pods) + blamed)
    # What would have been is told of each threshold that only tells: in the report, and the pods
    # and their messages once more in an Event.
    dry = min(_THRESHOLDS, 2 * (len(extensions.dry_run_hard) + len(extensions.dry_run_soft)))
    victims = min(most, len(pods))
    told += dry * (_THRESHOLD + victims * (_VICTIM + _LONGEST_NAMES) + 4 * _SAID * blamed)
    each = _POD_STEPS * len(pods) + _CONTAINER_STEPS * sum(containers)
    each += _MEASURED_STEPS * measured + _VOLUME_STEPS * sum(len(one.spec.volumes) for one in pods)
    return Cost(_ROUND_STEPS + each * (1 + dry), told + _names(pods), "$.pods")


def _names(pods: tuple[Pod, ...]) -> int:
    rough = _NAMED * _LONGEST_NAMES * len(pods)
    if rough <= ROUGH_BYTES:
        return rough
    metas = (pod.metadata for pod in pods)
    return _NAMED * sum(length(meta.namespace, meta.name, meta.uid) for meta in metas)
