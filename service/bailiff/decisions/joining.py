"""What several systems say of one pod, as one answer: the earliest eviction wins, all are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.decision import Decision, EvictionTerms, Finding, Verdict, reference_to
from bailiff.decisions.events import eviction_event
from bailiff.decisions.instants import START_OF_TIME

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.kinds import Pod


class _Joined(Finding, frozen=True, kw_only=True):
    """A finding whose terms are put together from its words, with those of others beside them.

    Attributes:
        own_terms: as they were before.
    """

    own_terms: EvictionTerms

    @property
    def terms(self) -> EvictionTerms:
        return self.own_terms


_ORDER = (Verdict.EVICT_NOW, Verdict.EVICT_AT, Verdict.KEEP)


def combine(
    pod: Pod,
    node: str,
    findings: tuple[Finding, ...],
    now: datetime,
    until: datetime | None = None,
) -> Decision:
    """One decision out of what the systems found.

    Args:
        pod: whom it concerns.
        node: the node it was decided for.
        findings: of all systems that say something; the earliest eviction counts, or the first
            KEEP.
        now: the instant it was decided for.
        until: when what a system says may differ for all pods alike.
    """
    if not findings:
        return _nothing_said(pod, node, now, until)
    finding, holds_until = findings[0], findings[0].holds_until
    if len(findings) > 1 or until is not None:
        # Seldom, so that for every pod of a batch nothing is weighed that need not be.
        finding = earliest(findings)
        holds_until = _holds_until(finding, findings, until)
    terms = finding.terms
    if terms is not None:
        terms = terms.filled(pod, node)
    return Decision(
        pod=reference_to(pod),
        node=node,
        verdict=finding.verdict,
        evict_at=finding.evict_at,
        holds_until=holds_until,
        counted_from_now=finding.counted_from_now,
        decided_at=now,
        decided_by="" if finding.verdict is Verdict.KEEP else finding.system,
        reason=finding.reason,
        message=finding.message,
        eviction=terms,
        event=None if terms is None else eviction_event(pod, terms, finding.message),
        findings=findings,
    )


def combine_alike(pod: Pod, like: Decision) -> Decision:
    """As `combine`, for a pod of which one system alone says the very same as of another.

    Args:
        pod: whom it concerns.
        like: the decision for the other, on the same node.
    """
    # Not those of `like`, which may name the other pod.
    terms = like.findings[0].terms
    if terms is not None:
        terms = terms.filled(pod, like.node)
    event = None if terms is None else eviction_event(pod, terms, like.message)
    return replace(like, pod=reference_to(pod), eviction=terms, event=event)


def earliest(findings: tuple[Finding, ...]) -> Finding:
    """The finding that counts: the earliest eviction, or the first KEEP.

    Of two evictions that are due, one that has no instant of its own goes before one that has; of
    two at the same instant one that stays there before one that moves with the question.
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
    told = "; ".join(dict.fromkeys((counts.message, *alike)))
    trace = sum((one.trace for one in others), counts.trace)
    if type(counts).terms is Finding.terms or counts.terms is None:
        return replace(counts, message=told, trace=trace)
    fields = {name: getattr(counts, name) for name in Finding.__struct_fields__}
    return _Joined(**fields | {"message": told, "trace": trace}, own_terms=counts.terms)


def _urgency(finding: Finding) -> tuple[int, bool, datetime, bool]:
    instant, moves = finding.evict_at, finding.counted_from_now
    return _ORDER.index(finding.verdict), instant is not None, instant or START_OF_TIME, moves


def _holds_until(
    counts: Finding, findings: tuple[Finding, ...], until: datetime | None
) -> datetime | None:
    """Until when the decision holds: as long as every finding, unless the pod goes now anyway."""
    if counts.counted_from_now:
        return None
    if len(findings) > 1 and counts.verdict is not Verdict.EVICT_NOW:
        ends = (one.holds_until for one in findings if one.holds_until is not None)
        return _sooner(min(ends, default=None), until)
    return _sooner(counts.holds_until, until)


def _sooner(one: datetime | None, other: datetime | None) -> datetime | None:
    if one is None or other is None:
        return one or other
    return min(one, other)


def _nothing_said(pod: Pod, node: str, now: datetime, until: datetime | None) -> Decision:
    return Decision(
        pod=reference_to(pod),
        node=node,
        verdict=Verdict.KEEP,
        holds_until=until,
        decided_at=now,
        reason="NothingSaid",
        message="no system that was asked says anything of this pod",
    )
