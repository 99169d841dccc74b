"""The question what a kubelet's configuration comes to, and whether it is right."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from bailiff.decisions.cost import Cost, check_cost
from bailiff.decisions.pressure.configuration import ConfigurationError
from bailiff.decisions.pressure.configuring import is_windows, read_configuration
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, PressureExtensions
from bailiff.decisions.pressure.flags import EvictionFlags, check_flags, texts_of
from bailiff.decisions.pressure.thresholds import Threshold
from bailiff.decisions.pressure.versions import check_version
from bailiff.decisions.question import Asked, Plan, Question, Size, Undecided
from bailiff.kinds.kubelet_configuration import MAX_STATEMENTS, KubeletConfiguration
from bailiff.kinds.meta import Int64
from bailiff.kinds.texts import Word

if TYPE_CHECKING:
    from bailiff.decisions.question import QuestionTerms

# Bytes of the answer to a configuration without any statement: the thresholds by default.
_ANSWER = 4000
# Of what a statement comes to: a threshold, or an error, which tells all signals that there are and
# quotes name and value, of 64 characters each; and of each character of a flag. A text that is
# quoted twice, as for Python and as JSON, has 11 bytes for a character, as `\\U000e0001` has.
_STATEMENT, _CHARACTER = 2000, 11
# A statement is read, and written as a threshold or an error: 10 us.
_STATEMENT_STEPS = 20


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
    check_flags(facts.flags, "$.flags")
    cost = check_cost((_weigh(facts),))
    return Plan(cost.steps, cost.told, partial(_read, facts))


def _weigh(facts: ReadEvictionConfigurationRequest) -> Cost:
    flags = texts_of(facts.flags).values()
    statements = sum(map(len, _maps(facts))) + MAX_STATEMENTS * len(flags)
    told = _ANSWER + _STATEMENT * statements + _CHARACTER * sum(map(len, flags))
    return Cost(1000 + _STATEMENT_STEPS * statements, told, "$.configuration")


def _maps(facts: ReadEvictionConfigurationRequest) -> tuple[Mapping[str, str], ...]:
    told, extensions = facts.configuration, facts.extensions
    return (
        told.eviction_hard or {},
        told.eviction_soft or {},
        told.eviction_soft_grace_period or {},
        told.eviction_minimum_reclaim or {},
        extensions.eviction_hard,
        extensions.eviction_soft,
        extensions.eviction_soft_grace_period,
        extensions.stop_at,
    )


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
