"""Decisions as people read them: one in full, many in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bailiff.cli.output import Format, coloured, dumped, printable, table
from bailiff.decisions import Verdict
from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.decisions import Decision, TraceStep

COLOURS: dict[str, str] = {
    Verdict.KEEP: "green",
    Verdict.EVICT_AT: "yellow",
    Verdict.EVICT_NOW: "red",
}
_HEADS = ("NAMESPACE", "NAME", "VERDICT", "WHEN", "WHY")
_WIDE_HEADS = ("NAMESPACE", "NAME", "VERDICT", "WHEN", "NODE", "REASON", "BY", "WHY")


def shown(decisions: Sequence[Decision], how: Format | None) -> str:
    """The answers as asked for: by default one in full, more in a table."""
    how = how or (Format.TEXT if len(decisions) == 1 else Format.TABLE)
    match how:
        case Format.JSON | Format.YAML:
            return dumped(_as_data(decisions), how)
        case Format.TEXT:
            return "\n\n".join(describe(one) for one in decisions)
        case Format.TABLE:
            return table(_HEADS, (row(one) for one in decisions), COLOURS)
        case Format.WIDE:
            return table(_WIDE_HEADS, (_wide_row(one) for one in decisions), COLOURS)


def _as_data(decisions: Sequence[Decision]) -> Any:  # noqa: ANN401 - what JSON is made from
    """As the decision API answers: one alone as it is, more under `decisions`."""
    if len(decisions) == 1:
        return msgspec.to_builtins(decisions[0])
    return {"decisions": [msgspec.to_builtins(one) for one in decisions]}


def row(decision: Decision) -> tuple[str, ...]:
    """Namespace, name, verdict, when, why."""
    return (*_head(decision), decision.message)


def _wide_row(decision: Decision) -> tuple[str, ...]:
    told = decision.node, decision.reason, decision.decided_by, decision.message
    return (*_head(decision), *told)


def _head(decision: Decision) -> tuple[str, ...]:
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
    lines = [f"Pod {printable(name)} on node {printable(decision.node) or '(unnamed)'}: {verdict}"]
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


def _step(step: TraceStep) -> list[str]:
    lines = [f"{step.rule} {step.outcome}: {printable(step.message)}"]
    if step.added_at is not None:
        lines.append(f"  added {describe_time(step.added_at)} ({step.added_from})")
    if step.deadline is not None:
        lines.append(f"  deadline {describe_time(step.deadline)}")
    return lines
