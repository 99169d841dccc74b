"""Which taint it is that evicts, read from a finding's trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.decision import Verdict
from bailiff.decisions.instants import START_OF_TIME
from bailiff.decisions.node_taints import FOR_NO_TIME, FOR_SECONDS, NOT_TOLERATED, SYSTEM

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.decision import Finding, TraceStep
    from bailiff.kinds import Taint

_EVICTING = frozenset({NOT_TOLERATED, FOR_NO_TIME, FOR_SECONDS})


def causing_taint(finding: Finding) -> Taint | None:
    """The node's taint that evicts; None: another system does, or nothing.

    The finding must have been asked for with its trace (Options.explain). Of several taints it is
    the first that is not tolerated at all, else the one whose deadline comes first.
    """
    if finding.system != SYSTEM or finding.verdict is Verdict.KEEP:
        return None
    # A joined finding tells of devices too.
    steps = (step for step in finding.trace if step.device is None)
    evicting = [step for step in steps if step.outcome in _EVICTING]
    return min(evicting, key=_deadline_of).taint if evicting else None


def _deadline_of(step: TraceStep) -> datetime:
    return step.deadline or START_OF_TIME
