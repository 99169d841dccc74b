"""Decisions as people read them: one in full, many in a table."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from bailiff.cli.output import Format, coloured, dumped, printable, table
from bailiff.decisions import Verdict
from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.decisions import Decision, PodAnswer, PodsAnswer, Subject, TraceStep

COLOURS: dict[str, str] = {
    Verdict.KEEP: "green",
    Verdict.EVICT_AT: "yellow",
    Verdict.EVICT_NOW: "red",
}
_HEADS = ("NAMESPACE", "NAME", "VERDICT", "WHEN", "WHY")
_WIDE_HEADS = ("NAMESPACE", "NAME", "VERDICT", "WHEN", "NODE", "REASON", "BY", "WHY")


def shown(answer: PodAnswer | PodsAnswer, how: Format | None) -> str:
    """The answers as asked for: by default one in full, more in a table."""
    decisions = answer.counted()
    match how or (Format.TEXT if len(decisions) == 1 else Format.TABLE):
        case Format.JSON | Format.YAML as data:
            return dumped(msgspec.to_builtins(answer), data)
        case Format.TEXT:
            return "\n\n".join(describe(one) for one in decisions)
        case Format.TABLE:
            return table(_HEADS, (_row(one) for one in decisions), COLOURS)
        case Format.WIDE:
            return table(_WIDE_HEADS, (_wide_row(one) for one in decisions), COLOURS)


def _row(decision: Decision) -> tuple[str, ...]:
    return (*head(decision), decision.message)


def _wide_row(decision: Decision) -> tuple[str, ...]:
    told = decision.node, decision.reason, decision.decided_by, decision.message
    return (*head(decision), *told)


def head(decision: Decision) -> tuple[str, ...]:
    """What every table begins with: namespace, name, verdict, when."""
    pod = decision.pod
    return pod.namespace, pod.name, str(decision.verdict), when(decision)


def when(decision: Decision) -> str:
    """The instant to go at; now for who goes at once, and empty for who stays."""
    match decision.verdict:
        case Verdict.KEEP:
            return ""
        case Verdict.EVICT_NOW:
            return "now"
        case Verdict.EVICT_AT:
            assert decision.evict_at is not None  # noqa: S101 - EVICT_AT always names its instant
            return describe_time(decision.evict_at)


def describe(decision: Decision) -> str:
    """The decision and its trace as text for a terminal."""
    name = f"{decision.pod.namespace}/{decision.pod.name}"
    verdict = coloured(_verdict(decision), COLOURS[decision.verdict])
    node = printable(decision.node) or "(unnamed)"
    lines = [f"Pod {printable(name)} on node {node}: {verdict}"]
    lines.append(f"  {decision.reason}: {printable(decision.message)}")
    for finding in decision.findings:
        lines.append(f"{finding.system}: {finding.verdict} ({finding.reason})")
        lines += [f"  {line}" for step in finding.trace for line in _step(step)]
    return "\n".join(lines)


def _verdict(decision: Decision) -> str:
    match decision.verdict:
        case Verdict.KEEP:
            return "keep"
        case Verdict.EVICT_NOW:
            return "evict now"
        case Verdict.EVICT_AT:
            return f"evict at {when(decision)}"


def _step(step: TraceStep) -> Iterator[str]:
    yield f"{step.rule} {step.outcome}: {printable(step.message)}"
    if step.subject is not None:
        yield from _instants(step.subject)
    if step.deadline is not None:
        yield from _start(step, step.deadline)
        yield f"  deadline {describe_time(step.deadline)}"


def _start(step: TraceStep, deadline: datetime) -> Iterator[str]:
    """From when tolerated seconds count, where that is later than what was looked at came about.

    So it is for a pod that was bound after the taint came.
    """
    toleration = getattr(step.subject, "toleration", None)
    seconds = getattr(toleration, "toleration_seconds", None)
    added = getattr(step.subject, "added_at", None)
    if added is None or not seconds or not 0 < seconds <= (deadline - added).total_seconds():
        return
    start = deadline - timedelta(seconds=seconds)
    if start > added:
        yield f"  counted from {describe_time(start)}"


def _instants(subject: Subject) -> Iterator[str]:
    """When what was looked at came about, whatever it is; its message says the rest.

    Such a field is called `added_at`, and one that says from where that is known `added_from`.
    """
    for field in msgspec.structs.fields(subject):
        at = getattr(subject, field.name)
        if isinstance(at, datetime):
            word = field.name.removesuffix("_at")
            source = getattr(subject, f"{word}_from", "")
            yield f"  {word} {describe_time(at)}{f' ({source})' if source else ''}"
