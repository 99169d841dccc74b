"""What `bailiff explain pressure` prints of a round."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from bailiff.cli.output import NONE, Format, dumped, table
from bailiff.decisions.pressure.messages import observed_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bailiff.decisions.pressure.questions import (
        PlanPressureRoundResponse,
        RankForPressureResponse,
    )
    from bailiff.decisions.pressure.ranking import Candidate
    from bailiff.decisions.pressure.report import PressureReport, ThresholdReport
    from bailiff.decisions.pressure.signals import Signal

_HEADS = ("PLACE", "NAMESPACE", "NAME", "USED", "REQUESTED", "PRIORITY", "FIRST BY", "GOES")
_THRESHOLDS = ("SIGNAL", "GRACE", "AVAILABLE", "CAPACITY", "MET", "TO FREE")

_NOT_MET = "nobody goes: no threshold is met; --signal ranks the pods as if one were"


def shown(answer: PlanPressureRoundResponse, output: Format | None) -> str:
    """What a round comes to: thresholds, what is to be said of it, the pods by rank."""
    if output in (Format.JSON, Format.YAML):
        return dumped(msgspec.to_builtins(answer), output)
    report = answer.report
    parts = [
        table(_THRESHOLDS, map(_threshold_row, report.thresholds)),
        "\n".join(_summed_up(report)),
    ]
    if report.candidates:
        parts.append(_ranking(report.candidates, {one.pod for one in report.victims}))
    return "\n\n".join(parts)


def shown_ranking(answer: RankForPressureResponse, output: Format | None) -> str:
    """The pods by rank."""
    if output in (Format.JSON, Format.YAML):
        return dumped(msgspec.to_builtins(answer), output)
    return _ranking(answer.candidates, set())


def _ranking(candidates: Iterable[Candidate], victims: set[Any]) -> str:
    rows = (
        (
            str(place),
            one.pod.namespace,
            one.pod.name,
            str(one.used) if one.measured else NONE,
            str(one.requested),
            str(one.priority),
            one.decided_by,
            "now" if one.pod in victims else "never" if one.critical else "no",
        )
        for place, one in enumerate(candidates, 1)
    )
    return table(_HEADS, rows)


def _threshold_row(one: ThresholdReport) -> tuple[str, ...]:
    threshold = one.threshold
    grace = timedelta(microseconds=threshold.grace_period_nanoseconds // 1000)
    return (
        threshold.signal,
        f"{grace.total_seconds():g}s" if grace else "hard",
        _amount(threshold.signal, one.available),
        _amount(threshold.signal, one.capacity),
        ("yes, tells only" if threshold.dry_run else "yes") if one.met else "no",
        str(one.to_free) if one.met else NONE,
    )


def _amount(signal: Signal, amount: int | None) -> str:
    if amount is None:
        return NONE
    if signal.is_stall:
        # Of the time, in hundredths of a percent.
        return f"{amount / 10_000:.2%}"
    return observed_text(signal.resource, amount)


def _summed_up(report: PressureReport) -> Iterator[str]:
    held = [one.type for one in report.conditions if one.status == "True"]
    yield f"conditions: {', '.join(held) or 'none'}"
    if report.layout_derived:
        told = "split" if report.layout.split_container_image_fs else "dedicated"
        yield f"file systems: {told if report.layout.dedicated_image_fs else 'one'} (derived)"
    if report.starved is not None:
        yield f"starved: {report.starved}"
    if report.reclaim:
        yield f"first to be freed on the node: {', '.join(report.reclaim)}"
    for one in report.victims:
        why = one.message.rstrip()
        yield f"{one.pod.namespace}/{one.pod.name} goes within {one.grace_period_seconds} s: {why}"
    yield from _beyond_the_kubelet(report)
    if not report.victims:
        yield "nobody goes" if any(one.met for one in report.thresholds) else _NOT_MET


def _beyond_the_kubelet(report: PressureReport) -> Iterator[str]:
    for dry in report.dry_runs:
        who = ", ".join(f"{one.pod.namespace}/{one.pod.name}" for one in dry.victims) or "nobody"
        yield f"{dry.threshold.signal} only tells: it would evict {who}"
    if report.releasing:
        yield f"pods that are ending free {report.releasing}"
    if report.cools_down:
        yield "a pod went less than the cool-down ago"
