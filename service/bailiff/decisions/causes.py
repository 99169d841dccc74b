"""Which taint it is that evicts, and since when, read from a finding's trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.decision import Verdict
from bailiff.decisions.instants import START_OF_TIME
from bailiff.decisions.node_taints import FOR_NO_TIME, FOR_SECONDS, NOT_TOLERATED, SYSTEM

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.decision import Finding, TraceStep
    from bailiff.kinds import Taint

_AT_ONCE = frozenset({NOT_TOLERATED, FOR_NO_TIME})
_EVICTING = _AT_ONCE | {FOR_SECONDS}


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


def due_since(finding: Finding, bound_at: datetime | None) -> datetime | None:
    """Since when a pod is due that does not tolerate a taint at all.

    That is since the taint was added, or since the pod came to it, if that was later: a deadline of
    no seconds. None: the finding names an instant of its own, or does not tell when taints were
    added; it must have been asked for with its trace.

    Args:
        finding: why the pod goes.
        bound_at: when it came to its node; None: not known.
    """
    added = [step.added_at for step in finding.trace if step.outcome in _AT_ONCE]
    known = [at for at in added if at is not None]
    if finding.evict_at is not None or not known:
        return None
    return max(min(known), bound_at or min(known))


def _deadline_of(step: TraceStep) -> datetime:
    return step.deadline or START_OF_TIME
