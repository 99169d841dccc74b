"""OpenTelemetry's own variables: which of them Bailiff obeys, and what each of them may be.

The SDK logs a value that it cannot use and goes on with another; Bailiff silences that log, so
nobody would hear of it. Hence each value is checked here before the SDK is loaded. Headers are
never copied into settings: an agent's settings stand in its command line.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping

# A name of a header (RFC 9110, 5.1).
_KEY = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SAMPLERS = tuple(
    f"{base}{kind}"
    for base in ("", "parentbased_")
    for kind in ("always_on", "always_off", "traceidratio")
)


class UnfitVariableError(ValueError):
    """A variable has a value that cannot be; the message names it, and never repeats the value."""


class Rule(NamedTuple):
    """What a variable may be.

    Attributes:
        is_fit: whether a value may be; it is never empty.
        wanted: the same in words, after "must be".
    """

    is_fit: Callable[[str], bool]
    wanted: str


def _whole(least: int, *words: str) -> Rule:
    """Read by `int`, as the SDK does: it does not take 1e3."""

    def is_fit(text: str) -> bool:
        try:
            return text.strip().lower() in words or int(text) >= least
        except ValueError:
            return False

    also = "".join(f", or {word}" for word in words)
    return Rule(is_fit, f"a whole number of at least {least}{also}")


def _number(least: float, most: float, wanted: str) -> Rule:
    def is_fit(text: str) -> bool:
        try:
            return least <= float(text) <= most and float(text) < math.inf
        except ValueError:
            return False

    return Rule(is_fit, wanted)


def _one_of(*words: str) -> Rule:
    return Rule(lambda text: text.strip().lower() in words, f"one of {', '.join(sorted(words))}")


def _are_headers(text: str) -> bool:
    return all(
        _KEY.fullmatch(key.strip()) and value.isprintable() for key, value in _pairs(text, "")
    )


def _are_attributes(text: str) -> bool:
    return all(key.strip() for key, _ in _pairs(text, ""))


def _pairs(text: str, nameless: str) -> Iterable[tuple[str, str]]:
    """What stands between commas, cut at the first `=`; without one the name is this."""
    for pair in filter(str.strip, text.split(",")):
        key, separator, value = pair.partition("=")
        yield (key if separator else nameless), value


_ANY = Rule(lambda _: True, "anything")
_PAIRS = "name=value, more of them after commas"
_LIMIT = _whole(0, "unset")
_SECONDS = _number(0.001, math.inf, "a number of at least 0.001")
_FILE = Rule(lambda text: Path(text).is_file(), "the path of a file that is there")
# Each has a second name, for traces alone, which counts before it. The endpoints, and what is no
# traces' business, have their own place: bailiff.tracing.settings.
_OF_EXPORTER = {
    "ENDPOINT": _ANY,
    "PROTOCOL": _one_of("http/protobuf"),
    "HEADERS": Rule(_are_headers, _PAIRS),
    "CERTIFICATE": _FILE,
    "CLIENT_CERTIFICATE": _FILE,
    "CLIENT_KEY": _FILE,
    "TIMEOUT": _SECONDS,
    "COMPRESSION": _one_of("none", "gzip", "deflate"),
}
VARIABLES: Mapping[str, Rule] = {
    **{
        f"OTEL_EXPORTER_OTLP_{of}{name}": rule
        for of in ("TRACES_", "")
        for name, rule in _OF_EXPORTER.items()
    },
    "OTEL_TRACES_EXPORTER": _one_of("otlp", "none"),
    # Anything but `true` is false (OpenTelemetry's specification, of booleans).
    "OTEL_SDK_DISABLED": _ANY,
    "OTEL_TRACES_SAMPLER": _one_of(*_SAMPLERS),
    "OTEL_TRACES_SAMPLER_ARG": _number(0.0, 1.0, "a number from 0 to 1"),
    "OTEL_BSP_MAX_QUEUE_SIZE": _whole(1),
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": _whole(1),
    "OTEL_BSP_SCHEDULE_DELAY": _whole(1),
    "OTEL_ATTRIBUTE_COUNT_LIMIT": _LIMIT,
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": _LIMIT,
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": _LIMIT,
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": _LIMIT,
    "OTEL_SPAN_EVENT_COUNT_LIMIT": _LIMIT,
    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT": _LIMIT,
    "OTEL_SPAN_LINK_COUNT_LIMIT": _LIMIT,
    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT": _LIMIT,
    "OTEL_SERVICE_NAME": _ANY,
    "OTEL_RESOURCE_ATTRIBUTES": Rule(_are_attributes, _PAIRS),
}


def set_ones(environment: Mapping[str, str]) -> dict[str, str]:
    """Those of the table that are set: an empty one is not (OpenTelemetry's specification)."""
    return {name: environment[name] for name in VARIABLES if environment.get(name)}


def check(variables: Mapping[str, str]) -> None:
    """Look at each of `set_ones`.

    Raises:
        UnfitVariableError: see there; of the first in the order of the table.
    """
    for name, text in variables.items():
        if not VARIABLES[name].is_fit(text):
            raise UnfitVariableError(f"{name}: must be {VARIABLES[name].wanted}")


def forget_empty(environment: MutableMapping[str, str]) -> None:
    """Take the empty ones away: the SDK fails over some of them, already while it is loaded."""
    for name in VARIABLES:
        if environment.get(name) == "":
            del environment[name]
