"""A kubelet's configuration as the settings of a round, with the defaults where it is silent.

Source: pkg/kubelet/eviction/defaults_linux.go and defaults_windows.go,
pkg/kubelet/apis/config/v1beta1/defaults.go.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from bailiff.decisions.cost import FactsError
from bailiff.decisions.pressure.configuration import PODS, ConfigurationError, ConfigurationFault, ThresholdReader
from bailiff.decisions.pressure.settings import FIVE_MINUTES, PressureSettings
from bailiff.kinds.durations import parse_go_duration
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

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


# Configurations are frozen, so the same is read once: a worker's nodes share a few.
NO_CONFIGURATION = KubeletConfiguration()


def settings_of(facts: PressureFacts) -> PressureSettings:
    """The settings of a round.

    Raises:
        FactsError: names the first thing that is wrong in the configuration.
    """
    read = read_configuration(
        facts.configuration or NO_CONFIGURATION,
        facts.kubelet_version,
        windows=is_windows(facts.operating_system, "$.pressure.operatingSystem"),
    )
    for error in read.errors:
        raise FactsError(f"$.pressure.configuration.{error.path}", error.reason)
    return read.settings


def read_configuration(
    configuration: KubeletConfiguration, version: str = "", *, windows: bool = False
) -> ReadConfiguration:
    """Read the eviction's part of a configuration, with all that is wrong in it.

    Args:
        configuration: of a kubelet.
        version: of the kubelet, as `v1.36.2`, since its behaviour changed; empty: 1.36.
        windows: the node's operating system, which has other defaults.
    """
    given = configuration.eviction_hard
    defaults = WINDOWS_HARD if windows else LINUX_HARD
    if given is not None:
        keeps = configuration.merge_default_eviction_settings
        defaults = {k: v for k, v in defaults.items() if k not in given} if keeps else {}
    reader = ThresholdReader()
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
        limits_sidecars=minor_of(version) >= _LIMITS_SIDECARS,
        windows=windows,
    )
    return ReadConfiguration(
        settings=settings, errors=(*reader.errors, *wrong), defaults=dict(defaults)
    )


def is_windows(operating_system: str, path: str) -> bool:
    """Whether a node's operating system is Windows; empty: it is Linux.

    Raises:
        FactsError: it is neither.
    """
    if operating_system not in ("", "linux", "windows"):
        raise FactsError(path, f"must be linux or windows, is {operating_system!r}")
    return operating_system == "windows"


@lru_cache(maxsize=64)
def minor_of(version: str) -> int:
    """The minor version of `v1.36.2`; 36 where none is told."""
    parts = version.removeprefix("v").split(".")
    digits = parts[1].rstrip("+") if len(parts) > 1 and parts[0] == "1" else ""
    return int(digits) if digits.isdigit() and len(digits) <= 4 else 36  # noqa: PLR2004


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
