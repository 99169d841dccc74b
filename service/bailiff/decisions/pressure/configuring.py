"""A kubelet's configuration as the settings of a round, with the defaults where it is silent.

Source: pkg/kubelet/eviction/defaults_linux.go and defaults_windows.go,
pkg/kubelet/apis/config/v1beta1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from bailiff.decisions.cost import FactsError
from bailiff.decisions.pressure.configuration import (
    PODS,
    ConfigurationError,
    ConfigurationFault,
    ThresholdReader,
)
from bailiff.decisions.pressure.extending import dry_runs_of, extended
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, PressureExtensions
from bailiff.decisions.pressure.flags import EvictionFlags, check_flags, with_flags
from bailiff.decisions.pressure.settings import FIVE_MINUTES, PressureSettings
from bailiff.decisions.pressure.versions import check_version, minor_of
from bailiff.kinds.durations import parse_go_duration
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from bailiff.decisions.pressure.facts import PressureFacts

LINUX_HARD: Mapping[str, str] = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
}
WINDOWS_HARD: Mapping[str, str] = {
    "memory.available": "500Mi",
    "nodefs.available": "10%",
    "imagefs.available": "15%",
}
_PERIOD = "evictionPressureTransitionPeriod"
# From this minor version of Kubernetes 1 on sidecars' limits on the node's disk count.
_LIMITS_SIDECARS = 37
# What stands beside the configuration in a question.
_BESIDE = ("flags.", "extensions.")


class ReadConfiguration(Value, frozen=True):
    """What a configuration comes to.

    Attributes:
        settings: what a round goes by; where there are errors, without what they concern.
        errors: all that no kubelet would start with.
        defaults: the statements of evictionHard that nobody has made, and that count.
    """

    settings: PressureSettings
    errors: tuple[ConfigurationError, ...] = ()
    defaults: Mapping[str, str] = {}


NO_CONFIGURATION = KubeletConfiguration()
# Each round goes by a configuration, and the nodes of a cluster share a few of them. So that
# nobody fills the memory with others, so many are remembered, each of so many bytes as JSON: four
# maps of all signals have 1,500.
_REMEMBERED, _LONGEST = 64, 4096


class _Asking(Value, frozen=True):
    """What a configuration is read from."""

    configuration: KubeletConfiguration
    version: str
    windows: bool
    flags: EvictionFlags | None
    extensions: PressureExtensions


class _Written:
    """The same, to be found again by what it is as JSON: maps have no hash."""

    __slots__ = ("asking", "written")

    def __init__(self, asking: _Asking) -> None:
        self.asking, self.written = asking, msgspec.json.encode(asking)

    def __hash__(self) -> int:
        return hash(self.written)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Written) and self.written == other.written


def settings_of(facts: PressureFacts) -> PressureSettings:
    """The settings of a round.

    Raises:
        FactsError: names the first thing that is wrong in the configuration or beside it.
    """
    check_version(facts.kubelet_version, "$.pressure.kubeletVersion")
    check_flags(facts.flags, "$.pressure.flags")
    read = read_configuration(
        facts.configuration or NO_CONFIGURATION,
        facts.kubelet_version,
        windows=is_windows(facts.operating_system, "$.pressure.operatingSystem"),
        flags=facts.flags,
        extensions=facts.extensions,
    )
    for error in read.errors:
        at = "" if error.path.startswith(_BESIDE) else "configuration."
        raise FactsError(f"$.pressure.{at}{error.path}", error.reason)
    return read.settings


def read_configuration(
    configuration: KubeletConfiguration,
    version: str = "",
    *,
    windows: bool = False,
    flags: EvictionFlags | None = None,
    extensions: PressureExtensions = NO_EXTENSIONS,
) -> ReadConfiguration:
    """Read the eviction's part of a configuration, with all that is wrong in it.

    Args:
        configuration: of a kubelet.
        version: of the kubelet, as `v1.36.2`, since its behaviour changed; empty: 1.36.
        windows: the node's operating system, which has other defaults.
        flags: of the kubelet's command line, which come before the configuration.
        extensions: what no kubelet does.
    """
    asked = _Written(
        _Asking(
            configuration=configuration,
            version=version,
            windows=windows,
            flags=flags,
            extensions=extensions,
        )
    )
    if len(asked.written) > _LONGEST:
        return _read_anew(asked.asking)
    return _read_once(asked)


@lru_cache(maxsize=_REMEMBERED)
def _read_once(asked: _Written) -> ReadConfiguration:
    return _read_anew(asked.asking)


def _read_anew(asked: _Asking) -> ReadConfiguration:
    windows, extensions = asked.windows, asked.extensions
    configuration, malformed = with_flags(asked.configuration, asked.flags)
    given = configuration.eviction_hard
    defaults = WINDOWS_HARD if windows else LINUX_HARD
    if given is not None:
        keeps = configuration.merge_default_eviction_settings
        defaults = {k: v for k, v in defaults.items() if k not in given} if keeps else {}
    reader = ThresholdReader(dry_runs=dry_runs_of(extensions))
    enforced = configuration.enforce_node_allocatable
    thresholds = reader.read(
        {**defaults, **(given or {})},
        configuration.eviction_soft or {},
        configuration.eviction_soft_grace_period or {},
        configuration.eviction_minimum_reclaim or {},
        (PODS,) if enforced is None else enforced,
    )
    period, wrong = _transition_period(configuration.eviction_pressure_transition_period)
    isolation = configuration.local_storage_capacity_isolation
    settings = PressureSettings(
        thresholds=thresholds,
        transition_period_nanoseconds=period,
        max_pod_grace_period_seconds=configuration.eviction_max_pod_grace_period,
        local_storage_capacity_isolation=isolation is not False,
        limits_sidecars=minor_of(asked.version) >= _LIMITS_SIDECARS,
        windows=windows,
    )
    errors = (*malformed, *reader.errors, *wrong)
    if extensions != NO_EXTENSIONS:
        settings, beyond = extended(settings, extensions)
        errors += beyond
    return ReadConfiguration(settings=settings, errors=errors, defaults=dict(defaults))


def is_windows(operating_system: str, path: str) -> bool:
    """Whether a node's operating system is Windows; empty: it is Linux.

    Raises:
        FactsError: it is neither.
    """
    if operating_system not in ("", "linux", "windows"):
        raise FactsError(path, f"must be linux or windows, is {operating_system[:64]!r}")
    return operating_system == "windows"


def _transition_period(text: str | None) -> tuple[int, tuple[ConfigurationError, ...]]:
    try:
        period = parse_go_duration(text or "0")
    except ValueError as error:
        return FIVE_MINUTES, (_wrong(ConfigurationFault.MALFORMED_DURATION, str(error)),)
    if period < 0:
        return FIVE_MINUTES, (
            _wrong(ConfigurationFault.NEGATIVE_DURATION, f"must not be negative, is {text!r}"),
        )
    return period or FIVE_MINUTES, ()


def _wrong(code: ConfigurationFault, reason: str) -> ConfigurationError:
    return ConfigurationError(path=_PERIOD, code=code, reason=reason)
