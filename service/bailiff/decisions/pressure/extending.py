"""Extensions as the settings of a round: thresholds of their own, and what they make of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.pressure.configuration import (
    LIKE,
    ConfigurationError,
    ConfigurationFault,
    DryRuns,
    ThresholdReader,
)
from bailiff.decisions.pressure.signals import EXTRA_SIGNALS, Signal
from bailiff.kinds.durations import parse_go_duration

if TYPE_CHECKING:
    from bailiff.decisions.pressure.extensions import PressureExtensions
    from bailiff.decisions.pressure.settings import PressureSettings
    from bailiff.decisions.pressure.thresholds import Threshold, ThresholdValue

_UNDER = "extensions."
_COOL_DOWN = "coolDown"


def extended(
    settings: PressureSettings, extensions: PressureExtensions
) -> tuple[PressureSettings, tuple[ConfigurationError, ...]]:
    """The settings with these extensions, and what is wrong in them."""
    reader = ThresholdReader(EXTRA_SIGNALS, _UNDER, dry_runs_of(extensions))
    own = reader.read(
        extensions.eviction_hard,
        extensions.eviction_soft,
        extensions.eviction_soft_grace_period,
        {},
        (),
    )
    stops = ThresholdReader(frozenset(Signal), _UNDER)
    stop_at = stops.amounts("stopAt", extensions.stop_at)
    cool_down, wrong = _cool_down(extensions.cool_down)
    thresholds = [_stopping(one, stop_at) for one in (*settings.thresholds, *own)]
    found = replace(
        settings,
        thresholds=tuple(thresholds),
        extensions=extensions,
        cool_down_nanoseconds=cool_down,
    )
    return found, (*reader.errors, *stops.errors, *wrong)


def dry_runs_of(extensions: PressureExtensions) -> DryRuns:
    """The thresholds that only tell; the kubelet's own have to be read with them."""
    return DryRuns(hard=extensions.dry_run_hard, soft=extensions.dry_run_soft)


def _stopping(one: Threshold, stop_at: dict[Signal, ThresholdValue | None]) -> Threshold:
    named = (one.signal, LIKE.get(one.signal, one.signal))
    at = next((stop_at[signal] for signal in named if signal in stop_at), None)
    return replace(one, stop_at=at)


def _cool_down(text: str | None) -> tuple[int, tuple[ConfigurationError, ...]]:
    """Nanoseconds; of one that is none 0."""
    try:
        period = parse_go_duration(text or "0")
    except ValueError as error:
        code = ConfigurationFault.MALFORMED_DURATION
        return 0, (ConfigurationError(path=_UNDER + _COOL_DOWN, code=code, reason=str(error)),)
    if period < 0:
        code, why = ConfigurationFault.NEGATIVE_DURATION, f"must not be negative, is {text!r}"
        return 0, (ConfigurationError(path=_UNDER + _COOL_DOWN, code=code, reason=why),)
    return period, ()
