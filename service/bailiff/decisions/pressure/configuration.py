"""From a kubelet's configuration to thresholds: everything that is wrong in it is told at once.

Source: ParseThresholdConfig in pkg/kubelet/eviction/helpers.go, defaults in
pkg/kubelet/eviction/defaults_linux.go and pkg/kubelet/apis/config/v1beta1/defaults.go.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec.structs import replace

from bailiff.decisions.pressure.percentage import parse_percentage
from bailiff.decisions.pressure.signals import KUBELET_SIGNALS, ORDER, STALLS, Signal
from bailiff.decisions.pressure.thresholds import Threshold, ThresholdValue
from bailiff.kinds.durations import parse_go_duration
from bailiff.kinds.meta import Value
from bailiff.kinds.quantity import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

T = TypeVar("T")

# Of thresholds that are as good as none, literally.
_IGNORED = ("0%", "100%")
# An entry of enforceNodeAllocatable.
PODS = "pods"


class ConfigurationFault(StrEnum):
    """What is wrong with a statement."""

    UNKNOWN_SIGNAL = "UnknownSignal"
    MALFORMED_PERCENTAGE = "MalformedPercentage"
    PERCENTAGE_OUT_OF_RANGE = "PercentageOutOfRange"
    MALFORMED_QUANTITY = "MalformedQuantity"
    NOT_POSITIVE = "NotPositive"
    MALFORMED_DURATION = "MalformedDuration"
    NEGATIVE_DURATION = "NegativeDuration"
    GRACE_PERIOD_MISSING = "GracePeriodMissing"
    MALFORMED_PAIR = "MalformedPair"


class ConfigurationError(Value, frozen=True):
    """Something that no kubelet would start with.

    Attributes:
        path: of the field, as `evictionHard["memory.available"]`.
        code: what is wrong.
        reason: the same for people, with what is allowed.
    """

    path: str
    code: ConfigurationFault
    reason: str


class DryRuns(NamedTuple):
    """Signals whose thresholds only tell, by where those are written.

    A soft threshold whose grace period is 0 evicts as a hard one does, but who wrote it under
    evictionSoft looks for it among the soft ones.

    Attributes:
        hard: of evictionHard.
        soft: of evictionSoft.
    """

    hard: Collection[Signal] = ()
    soft: Collection[Signal] = ()


NO_DRY_RUNS = DryRuns()
# What is said of the memory of a node holds for that of its pods together, which has no threshold
# of its own but that (addAllocatableThresholds in pkg/kubelet/eviction/helpers.go).
LIKE = {Signal.ALLOCATABLE_MEMORY_AVAILABLE: Signal.MEMORY_AVAILABLE}


class _WrongError(Exception):
    def __init__(self, code: ConfigurationFault, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class ThresholdReader:
    """Reads the maps of one configuration.

    Attributes:
        errors: all that was found wrong so far, in the order of the fields.
    """

    def __init__(
        self,
        signals: Collection[Signal] = KUBELET_SIGNALS,
        under: str = "",
        dry_runs: DryRuns = NO_DRY_RUNS,
    ) -> None:
        """Start without errors.

        Args:
            signals: that may be named.
            under: where the fields stand, as `extensions.`.
            dry_runs: thresholds that only tell.
        """
        self._dry_runs = dry_runs
        self.errors: list[ConfigurationError] = []
        self._signals = {signal.value: signal for signal in sorted(signals, key=ORDER.__getitem__)}
        self._under = under

    def read(
        self,
        hard: Mapping[str, str],
        soft: Mapping[str, str],
        grace_periods: Mapping[str, str],
        minimum_reclaims: Mapping[str, str],
        enforced: Sequence[str],
    ) -> tuple[Threshold, ...]:
        """The thresholds, hard ones first, in the order of Signal.

        Args:
            hard: amounts by signal.
            soft: amounts by signal.
            grace_periods: of the soft ones; those of signals without one are of no effect.
            minimum_reclaims: by signal.
            enforced: enforceNodeAllocatable.
        """
        found = self._thresholds("evictionHard", hard, self._dry_runs.hard)
        softs = self._thresholds("evictionSoft", soft, self._dry_runs.soft)
        graces = dict(self._each("evictionSoftGracePeriod", grace_periods, _grace_period))
        reclaims = dict(self._each("evictionMinimumReclaim", minimum_reclaims, _minimum_reclaim))
        for one in softs:
            found += self._with_grace(one, graces, grace_periods)
        if reclaims:
            found = [replace(one, min_reclaim=reclaims.get(one.signal)) for one in found]
        if PODS in enforced:
            found += [
                self._of_pods(one)
                for one in found
                if one.signal is Signal.MEMORY_AVAILABLE and one.is_hard
            ]
        return tuple(found)

    def _of_pods(self, one: Threshold) -> Threshold:
        signal = Signal.ALLOCATABLE_MEMORY_AVAILABLE
        dry = one.dry_run or signal in self._dry_runs.hard
        return replace(one, signal=signal, dry_run=dry)

    def amounts(
        self, field: str, statements: Mapping[str, str]
    ) -> dict[Signal, ThresholdValue | None]:
        """The amount that is told of each signal; None: as good as none."""
        found = dict(self._each(field, statements, _amount))
        for signal, amount in found.items():
            if signal in STALLS and amount is not None and amount.percentage is None:
                why = f"must be a percentage of the time, is {statements[signal]!r}"
                self._wrong(f'{field}["{signal}"]', ConfigurationFault.MALFORMED_PERCENTAGE, why)
        return found

    def _thresholds(
        self, field: str, statements: Mapping[str, str], dry: Collection[Signal]
    ) -> list[Threshold]:
        return [
            Threshold(signal=signal, value=value, dry_run=_is_named(signal, dry))
            for signal, value in self.amounts(field, statements).items()
            if value is not None
        ]

    def _with_grace(
        self, one: Threshold, graces: Mapping[Signal, int], told: Mapping[str, str]
    ) -> list[Threshold]:
        if one.signal in graces:
            return [replace(one, grace_period_nanoseconds=graces[one.signal])]
        if one.signal not in told:
            path = f'evictionSoftGracePeriod["{one.signal}"]'
            why = f"required: evictionSoft has a threshold for {one.signal}"
            self._wrong(path, ConfigurationFault.GRACE_PERIOD_MISSING, why)
        return []

    def _each(
        self, field: str, statements: Mapping[str, str], read: Callable[[str], T]
    ) -> Iterator[tuple[Signal, T]]:
        """Each statement that can be read, in the order of Signal."""
        for name in sorted(statements, key=_place):
            path = f'{field}["{name}"]'
            signal = self._signals.get(name)
            if signal is None:
                known = ", ".join(self._signals)
                self._wrong(path, ConfigurationFault.UNKNOWN_SIGNAL, f"must be one of {known}")
                continue
            try:
                yield signal, read(statements[name])
            except _WrongError as wrong:
                self._wrong(path, wrong.code, wrong.reason)

    def _wrong(self, path: str, code: ConfigurationFault, reason: str) -> None:
        at = self._under + path
        self.errors.append(ConfigurationError(path=at, code=code, reason=reason))


_PLACES: Mapping[str, int] = {signal.value: place for signal, place in ORDER.items()}


def _place(name: str) -> tuple[int, str]:
    return _PLACES.get(name, len(_PLACES)), name


def _is_named(signal: Signal, among: Collection[Signal]) -> bool:
    return signal in among or LIKE.get(signal, signal) in among


def _amount(text: str) -> ThresholdValue | None:
    """None: as good as no threshold (parseThresholdStatement)."""
    if not text.endswith("%"):
        return ThresholdValue(quantity=_quantity(text, least=1))
    if text in _IGNORED:
        return None
    part = _percentage(text)
    if not 0 <= part <= 1:
        why = f"must be from 0% to 100%, is {text!r}"
        raise _WrongError(ConfigurationFault.PERCENTAGE_OUT_OF_RANGE, why)
    return ThresholdValue(percentage=part)


def _minimum_reclaim(text: str) -> ThresholdValue:
    """As parseMinimumReclaims: more than the whole may be wanted."""
    if not text.endswith("%"):
        return ThresholdValue(quantity=_quantity(text, least=0))
    part = _percentage(text)
    if part <= 0:
        raise _WrongError(ConfigurationFault.NOT_POSITIVE, f"must be above 0%, is {text!r}")
    return ThresholdValue(percentage=part)


def _grace_period(text: str) -> int:
    try:
        period = parse_go_duration(text)
    except ValueError as error:
        raise _WrongError(ConfigurationFault.MALFORMED_DURATION, str(error)) from error
    if period < 0:
        raise _WrongError(
            ConfigurationFault.NEGATIVE_DURATION, f"must not be negative, is {text!r}"
        )
    return period


def _quantity(text: str, *, least: int) -> str:
    """The text of a quantity of at least so many nanos."""
    try:
        found = parse_quantity(text)
    except ValueError as error:
        raise _WrongError(ConfigurationFault.MALFORMED_QUANTITY, str(error)) from error
    if found.nano < least:
        what = "must be above 0" if least else "must not be negative"
        raise _WrongError(ConfigurationFault.NOT_POSITIVE, f"{what}, is {text!r}")
    return found.text


def _percentage(text: str) -> float:
    try:
        return parse_percentage(text)
    except ValueError as error:
        raise _WrongError(ConfigurationFault.MALFORMED_PERCENTAGE, str(error)) from error
