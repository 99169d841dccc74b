"""Decisions as people read them: one in full, many in a table."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from bailiff.cli.output import Format, coloured, dumped, printable, table
from bailiff.decisions import ObjectReference, Verdict
from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.decisions import Decision, PodAnswer, PodsAnswer, Subject, TraceStep

COLOURS: dict[str, str] = {
    Verdict.KEEP: "green",
    Verdict.EVICT_AT: "yellow",
    Verdict.EVICT_NOW: "red",
}
_NAMES = ("namespace", "name")
_REFERENCE = frozenset(ObjectReference.__struct_encode_fields__)
_HEADS = ("NAMESPACE", "NAME", "VERDICT", "WHEN", "WHY")
_WIDE_HEADS = ("NAMESPACE", "NAME", "VERDICT", "WHEN", "NODE", "REASON", "BY", "WHY")


def way(answer: PodAnswer | PodsAnswer, how: Format | None) -> Format:
    """How to print answers: as asked for, by default one in full, more in a table."""
    return how or (Format.TEXT if len(answer.counted()) == 1 else Format.TABLE)


def shown(answer: PodAnswer | PodsAnswer, how: Format | None) -> str:
    """The answers, printed that way."""
    decisions = answer.counted()
    match way(answer, how):
        case Format.JSON | Format.YAML as data:
            return dumped(msgspec.to_builtins(answer), data)
        case Format.TEXT:
            return "\n\n".join((*map(describe, decisions), *reported(answer)))
        case Format.TABLE:
            return table(_HEADS, (_row(one) for one in decisions), COLOURS)
        case Format.WIDE:
            return table(_WIDE_HEADS, (_wide_row(one) for one in decisions), COLOURS)


def reported(answer: PodAnswer | PodsAnswer) -> Iterator[str]:
    """What each system says of anything but the pods: a head, and lines of NAME=VALUE.

    What a list has is told one by one; lists within those are left to json and yaml, but for texts.
    """
    for system, report in (msgspec.to_builtins(answer.reports) or {}).items():
        yield "\n".join((f"{system} reports", *(f"  {printable(one)}" for one in _lines(report))))


def _lines(report: dict[str, Any]) -> Iterator[str]:
    lists = {name: found for name, found in report.items() if isinstance(found, list | tuple)}
    told = " ".join(_pairs({name: one for name, one in report.items() if name not in lists}))
    if told:
        yield told
    for name, found in lists.items():
        for one in found:
            yield f"{name}: {' '.join(_pairs(one)) if isinstance(one, dict) else one}"


def _pairs(fields: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, value in fields.items():
        if isinstance(value, dict) and "name" in value and value.keys() <= _REFERENCE:
            yield f"{path}{name}={'/'.join(value[part] for part in _NAMES if part in value)}"
        elif isinstance(value, dict):
            yield from _pairs(value, f"{path}{name}.")
        elif not isinstance(value, list | tuple):
            yield f"{path}{name}={value if isinstance(value, str) else json.dumps(value)}"
        elif value and isinstance(value[0], str):
            yield f"{path}{name}={', '.join(value)}"


def _why(decision: Decision) -> str:
    """Of who stays, what every system says: each of them may have had a reason to evict it."""
    if decision.verdict is not Verdict.KEEP:
        return decision.message
    return "; ".join(dict.fromkeys((decision.message, *(one.message for one in decision.findings))))


def _row(decision: Decision) -> tuple[str, ...]:
    return (*head(decision), _why(decision))


def _wide_row(decision: Decision) -> tuple[str, ...]:
    return (*head(decision), decision.node, decision.reason, decision.decided_by, _why(decision))


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
    lines.append(f"  {decision.reason}: {printable(_why(decision))}")
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
    built_in = getattr(step.subject, "built_in", None)
    if built_in is not None:
        yield from (f"  {line}" for line in built_in.told())


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
