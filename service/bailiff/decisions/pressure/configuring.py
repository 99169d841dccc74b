"""A kubelet's configuration as the settings of a round, with the defaults where it is silent.

Source: pkg/kubelet/eviction/defaults_linux.go and defaults_windows.go,
pkg/kubelet/apis/config/v1beta1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from bailiff.decisions.cost import Cost, FactsError, check_cost
from bailiff.decisions.pressure.configuration import (
    PODS,
    ConfigurationError,
    ConfigurationFault,
    ThresholdReader,
)
from bailiff.decisions.pressure.extending import dry_runs_of, extended
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, PressureExtensions
from bailiff.decisions.pressure.flags import EvictionFlags, with_flags
from bailiff.decisions.pressure.settings import FIVE_MINUTES, PressureSettings
from bailiff.decisions.pressure.thresholds import Threshold
from bailiff.decisions.pressure.versions import check_version, minor_of
from bailiff.decisions.question import Asked, Plan, Question, Size, Undecided
from bailiff.kinds.durations import parse_go_duration
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.meta import Int64, Value
from bailiff.kinds.texts import Word

if TYPE_CHECKING:
    from bailiff.decisions.pressure.facts import PressureFacts
    from bailiff.decisions.question import QuestionTerms

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
# Bytes of an answer, at most: of each statement a threshold or an error, which quotes it.
_ANSWER = 300_000
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


# Configurations are frozen, so the same is read once: a worker's nodes share a few.
NO_CONFIGURATION = KubeletConfiguration()


def settings_of(facts: PressureFacts) -> PressureSettings:
    """The settings of a round.

    Raises:
        FactsError: names the first thing that is wrong in the configuration or beside it.
    """
    check_version(facts.kubelet_version, "$.pressure.kubeletVersion")
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
    configuration, malformed = with_flags(configuration, flags)
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
        limits_sidecars=minor_of(version) >= _LIMITS_SIDECARS,
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


class ReadEvictionConfigurationRequest(Asked, frozen=True, kw_only=True):
    """A kubelet's configuration: is it right, and what does it come to?

    Attributes:
        configuration: a KubeletConfiguration; of the whole object the eviction's fields are read.
        kubelet_version: as `v1.36.2`, since behaviour changed with 1.37; absent: 1.36.
        operating_system: `linux` or `windows`, which have other defaults; absent: linux.
        flags: of the kubelet's command line; each replaces what the configuration says.
        extensions: what no kubelet does.
    """

    configuration: KubeletConfiguration
    kubelet_version: Word = ""
    operating_system: Word = ""
    flags: EvictionFlags | None = None
    extensions: PressureExtensions = NO_EXTENSIONS


class ReadEvictionConfigurationResponse(Undecided, frozen=True, kw_only=True):
    """What a configuration comes to.

    Attributes:
        thresholds: those that can be read; those of containerfs are derived in each round.
        errors: all that no kubelet would start with.
        defaults: the statements of evictionHard that nobody has made, and that count.
        transition_period_nanoseconds: for so long a condition of the node is reported after there
            was last reason for it.
        max_pod_grace_period_seconds: at most so long a pod may take for a soft threshold; never
            less than 1 s is given.
        local_storage_capacity_isolation: pods' own limits on the node's disk count.
    """

    thresholds: tuple[Threshold, ...]
    errors: tuple[ConfigurationError, ...] = ()
    defaults: Mapping[str, str] = {}
    transition_period_nanoseconds: Int64 = 0
    max_pod_grace_period_seconds: Int64 = 0
    local_storage_capacity_isolation: bool = False


def _weigh_configuration(
    facts: ReadEvictionConfigurationRequest,
    terms: QuestionTerms,  # noqa: ARG001 - no instant, no option counts
) -> Plan[ReadEvictionConfigurationResponse]:
    is_windows(facts.operating_system, "$.operatingSystem")
    check_version(facts.kubelet_version, "$.kubeletVersion")
    cost = check_cost((Cost(1000, _ANSWER, "$.configuration"),))
    return Plan(cost.steps, cost.told, partial(_read, facts))


def _read(facts: ReadEvictionConfigurationRequest) -> ReadEvictionConfigurationResponse:
    windows = is_windows(facts.operating_system, "$.operatingSystem")
    found = read_configuration(
        facts.configuration,
        facts.kubelet_version,
        windows=windows,
        flags=facts.flags,
        extensions=facts.extensions,
    )
    settings = found.settings
    return ReadEvictionConfigurationResponse(
        thresholds=settings.thresholds,
        errors=found.errors,
        defaults=found.defaults,
        transition_period_nanoseconds=settings.transition_period_nanoseconds,
        max_pod_grace_period_seconds=settings.max_pod_grace_period_seconds,
        local_storage_capacity_isolation=settings.local_storage_capacity_isolation,
    )


READ_EVICTION_CONFIGURATION = Question(
    name="readEvictionConfiguration",
    path="pressure/configuration",
    summary="Is this kubelet's eviction configuration right, and what does it come to?",
    description="Every error with its field, the thresholds, and the defaults that count.",
    facts=ReadEvictionConfigurationRequest,
    answer=ReadEvictionConfigurationResponse,
    weigh=_weigh_configuration,
    explains=False,
    size=Size.ONE,
)
