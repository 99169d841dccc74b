"""What several systems say of one pod, as one answer: the earliest eviction wins, all are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.decision import Verdict
from bailiff.decisions.instants import START_OF_TIME

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.decision import Finding

_ORDER = (Verdict.EVICT_NOW, Verdict.EVICT_AT, Verdict.KEEP)


def earliest(findings: tuple[Finding, ...]) -> Finding:
    """The finding that counts: the earliest eviction, or the first KEEP.

    Of two evictions that are due, one that has no instant of its own goes before one that has.
    """
    return min(findings, key=_urgency) if len(findings) > 1 else findings[0]


def join(findings: tuple[Finding, ...]) -> Finding:
    """The finding that counts, with the messages of all that say the same and all traces.

    So whoever carries it out tells both reasons of a pod that two systems evict, and both why a
    pod may stay. A system that would keep a pod that another evicts is told by the trace alone.
    """
    counts = earliest(findings)
    others = [one for one in findings if one is not counts]
    evicts = counts.verdict is not Verdict.KEEP
    alike = [one.message for one in others if (one.verdict is not Verdict.KEEP) is evicts]
    if not alike and not any(one.trace for one in others):
        return counts
    told = dict.fromkeys((counts.message, *alike))
    trace = sum((one.trace for one in others), counts.trace)
    return replace(counts, message="; ".join(told), trace=trace)


def _urgency(finding: Finding) -> tuple[int, bool, datetime]:
    instant = finding.evict_at
    return _ORDER.index(finding.verdict), instant is not None, instant or START_OF_TIME
