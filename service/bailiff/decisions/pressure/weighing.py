"""What a round costs, counted from the lengths of what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import Cost

if TYPE_CHECKING:
    from bailiff.decisions.pressure.facts import PressureFacts
    from bailiff.decisions.system import Scene

# A pod is ranked once, by a few sums over its containers and stats: about 20 us.
_STEPS = 40
# A candidate in the report; a finding, with its trace; the thresholds, the state and the rest.
_CANDIDATE, _FINDING, _TRACE, _REPORT = 1200, 2500, 14_000, 60_000
# A container that is blamed is named in a message, which stands six times in an answer, and in the
# annotations.
_BLAMED = 2000


def weigh(scene: Scene, facts: PressureFacts, *, explain: bool) -> Cost:
    """Count what a round takes, and what its answer may tell."""
    pods = scene.on_node
    parts = sum(len(pod.spec.containers) + len(pod.spec.init_containers) for pod in pods)
    measured = 0
    if facts.summary is not None:
        measured = sum(len(one.containers) + len(one.volume) for one in facts.summary.pods)
    told = _REPORT + _CANDIDATE * len(pods) + (_FINDING + _TRACE * explain) * len(scene.pods)
    return Cost(_STEPS * len(pods) + parts + measured, told + _BLAMED * parts, "$.pods")
