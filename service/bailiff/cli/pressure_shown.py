"""What `bailiff explain pressure` prints of a round."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from bailiff.cli.amounts import binary
from bailiff.cli.output import NONE, Format, dumped, table
from bailiff.decisions.pressure.signals import INODES, PIDS
from bailiff.decisions.pressure.stalls import ALL_OF_THE_TIME
from bailiff.kinds.quantity import NANO, format_decimal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bailiff.decisions.pressure.questions import (
        PlanPressureRoundResponse,
        RankForPressureResponse,
    )
    from bailiff.decisions.pressure.ranking import Candidate
    from bailiff.decisions.pressure.report import PressureReport, ThresholdReport
    from bailiff.decisions.pressure.signals import Signal
    from bailiff.decisions.pressure.thresholds import ThresholdValue

_HEADS = ("PLACE", "NAMESPACE", "NAME", "USED", "REQUESTED", "PRIORITY", "FIRST BY")
_THRESHOLDS = ("SIGNAL", "GRACE", "IF", "UNTIL", "AVAILABLE", "CAPACITY", "MET", "TO FREE")
_UNTIL = _THRESHOLDS.index("UNTIL")

_RANK_ALL_THE_SAME = "; --signal ranks the pods as if one were"


def shown(answer: PlanPressureRoundResponse, output: Format | None) -> str:
    """What a round comes to: thresholds, what is to be said of it, the pods by rank."""
    if output in (Format.JSON, Format.YAML):
        return dumped(msgspec.to_builtins(answer), output)
    report = answer.report
    parts = [
        _thresholds(report.thresholds),
        "\n".join(_summed_up(report)),
    ]
    if report.starved is not None and report.candidates:
        parts.append(_ranking_of_round(report, report.starved))
    return "\n\n".join(parts)


def shown_ranking(answer: RankForPressureResponse, signal: Signal, output: Format | None) -> str:
    """The pods by rank for a signal."""
    if output in (Format.JSON, Format.YAML):
        return dumped(msgspec.to_builtins(answer), output)
    return table(_HEADS, _ranking(signal, answer.candidates))


def _ranking(signal: Signal, candidates: Iterable[Candidate]) -> Iterator[tuple[str, ...]]:
    for place, one in enumerate(candidates, 1):
        yield (
            str(place),
            one.pod.namespace,
            one.pod.name,
            _used(signal, one.used) if one.measured else NONE,
            _requested(signal, one.requested),
            str(one.priority),
            one.decided_by,
        )


def _ranking_of_round(report: PressureReport, starved: Signal) -> str:
    """With who goes: that is decided in a round alone, and not where only the rank is asked for."""
    victims = {one.pod for one in report.victims}
    goes = (
        "now" if one.pod in victims else "never" if one.critical else "no"
        for one in report.candidates
    )
    ranked = _ranking(starved, report.candidates)
    return table((*_HEADS, "GOES"), ((*row, one) for row, one in zip(ranked, goes, strict=True)))


def _used(signal: Signal, amount: int) -> str:
    """In the unit that Candidate.used has for the signal."""
    match signal.resource:
        case "io":
            return f"{amount / ALL_OF_THE_TIME:.2%}"
        case "cpu":
            return f"{amount / NANO:g}"
        case resource:
            return _told(resource, amount)


def _told(resource: str, amount: int) -> str:
    return format_decimal(amount) if resource in (INODES, PIDS) else binary(amount)


def _requested(signal: Signal, amount: int) -> str:
    """The same of Candidate.requested: for inodes upstream looks at bytes."""
    return binary(amount) if signal.resource == INODES else _used(signal, amount)


def _thresholds(reports: Iterable[ThresholdReport]) -> str:
    """Without the column UNTIL where nothing has a minimum reclaim or a `stopAt`."""
    heads: tuple[str, ...] = _THRESHOLDS
    rows = [_threshold_row(one) for one in reports]
    if all(row[_UNTIL] == NONE for row in rows):
        heads = _without_until(heads)
        rows = [_without_until(row) for row in rows]
    return table(heads, rows)


def _without_until(row: tuple[str, ...]) -> tuple[str, ...]:
    return row[:_UNTIL] + row[_UNTIL + 1 :]


def _threshold_row(one: ThresholdReport) -> tuple[str, ...]:
    threshold = one.threshold
    grace = timedelta(microseconds=threshold.grace_period_nanoseconds // 1000)
    return (
        threshold.signal,
        f"{grace.total_seconds():g}s" if grace else "hard",
        f"{'>' if threshold.signal.is_stall else '<'}{_value(threshold.value)}",
        _until(one),
        *_measured(one),
        ("yes, dry run" if threshold.dry_run else "yes") if one.met else "no",
        _amount(threshold.signal, one.to_free) if one.met else NONE,
    )


def _measured(one: ThresholdReport) -> tuple[str, str]:
    """AVAILABLE and CAPACITY; of a stall the time waited, since the threshold is of that."""
    signal = one.threshold.signal
    if signal.is_stall and one.available is not None and one.capacity is not None:
        return f"waited {_amount(signal, one.capacity - one.available)}", NONE
    return _amount(signal, one.available), _amount(signal, one.capacity)


def _value(value: ThresholdValue) -> str:
    """As it was written; a percentage in as many digits as a float32 has."""
    return value.quantity or f"{(value.percentage or 0.0) * 100:.6g}%"


def _until(one: ThresholdReport) -> str:
    """What has to be available until nobody goes any more, once somebody has."""
    threshold = one.threshold
    if threshold.stop_at is not None and threshold.signal.is_stall:
        return _value(threshold.stop_at)
    if one.capacity is None or (threshold.min_reclaim is None and threshold.stop_at is None):
        return NONE
    return _amount(threshold.signal, -(-threshold.amount(one.capacity, reclaimed=True) // NANO))


def _amount(signal: Signal, amount: int | None) -> str:
    if amount is None:
        return NONE
    if signal.is_stall:
        return f"{amount / ALL_OF_THE_TIME:.2%}"
    return _told(signal.resource, amount)


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
        ranks = "" if any(one.met for one in report.thresholds) else _RANK_ALL_THE_SAME
        yield f"nobody goes: {report.message}{ranks}"


def _beyond_the_kubelet(report: PressureReport) -> Iterator[str]:
    for dry in report.dry_runs:
        who = ", ".join(f"{one.pod.namespace}/{one.pod.name}" for one in dry.victims) or "nobody"
        yield f"dry run of {dry.threshold.signal}: it would evict {who}"
    if report.releasing:
        free = str(report.releasing)
        if report.starved is not None:
            free = _used(report.starved, report.releasing)
        yield f"pods that are ending free {free}"
