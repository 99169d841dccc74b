"""Thresholds as the kubelet's command line takes them, such as `memory.available<100Mi`.

Source: cmd/kubelet/app/options/options.go, and the two kinds of maps in
k8s.io/component-base/cli/flag/langle_separated_map_string_string.go and map_string_string.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from msgspec.structs import replace

from bailiff.decisions.cost import check_number
from bailiff.decisions.pressure.configuration import ConfigurationError, ConfigurationFault
from bailiff.kinds.kubelet_configuration import MAX_STATEMENTS
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration

Flag = Annotated[str, Meta(max_length=2048)]


class EvictionFlags(Value, frozen=True, forbid_unknown_fields=True):
    """Flags of a kubelet; each that is there replaces what the configuration says.

    Attributes:
        eviction_hard: `--eviction-hard`, as `memory.available<100Mi,nodefs.available<10%`.
        eviction_soft: `--eviction-soft`, likewise.
        eviction_soft_grace_period: `--eviction-soft-grace-period`, as `memory.available=1m30s`.
        eviction_minimum_reclaim: `--eviction-minimum-reclaim`, as `nodefs.available=500Mi`.
    """

    eviction_hard: Flag | None = None
    eviction_soft: Flag | None = None
    eviction_soft_grace_period: Flag | None = None
    eviction_minimum_reclaim: Flag | None = None


# By field, and what stands between a signal and its value.
_FIELDS = (
    ("eviction_hard", "evictionHard", "<"),
    ("eviction_soft", "evictionSoft", "<"),
    ("eviction_soft_grace_period", "evictionSoftGracePeriod", "="),
    ("eviction_minimum_reclaim", "evictionMinimumReclaim", "="),
)


def with_flags(
    configuration: KubeletConfiguration, flags: EvictionFlags | None
) -> tuple[KubeletConfiguration, tuple[ConfigurationError, ...]]:
    """The configuration as these flags make it, and which of them cannot be read."""
    errors: list[ConfigurationError] = []
    found: dict[str, dict[str, str]] = {}
    told = texts_of(flags)
    for field, written, between in _FIELDS:
        if written in told:
            found[field], wrong = _pairs(told[written], between, f"flags.{written}")
            errors += wrong
    return (replace(configuration, **found) if found else configuration), tuple(errors)


def texts_of(flags: EvictionFlags | None) -> dict[str, str]:
    """The flags that are there, by the name of the field that each replaces."""
    told = ((written, getattr(flags, field, None)) for field, written, _ in _FIELDS)
    return {written: text for written, text in told if text is not None}


def check_flags(flags: EvictionFlags | None, path: str) -> None:
    """Whether no flag has more statements than the configuration may have.

    Raises:
        FactsError: one has.
    """
    for written, text in texts_of(flags).items():
        check_number(f"{path}.{written}", len(_parts(text)), MAX_STATEMENTS)


def _parts(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def _pairs(text: str, between: str, path: str) -> tuple[dict[str, str], list[ConfigurationError]]:
    pairs: dict[str, str] = {}
    errors = []
    for part in _parts(text):
        signal, found, value = part.partition(between)
        if found:
            pairs[signal.strip()] = value.strip()
        else:
            why = f"must be SIGNAL{between}VALUE, is {part[:64]!r}"
            code = ConfigurationFault.MALFORMED_PAIR
            errors.append(ConfigurationError(path=path, code=code, reason=why))
    return pairs, errors
