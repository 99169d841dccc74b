"""Where traces go, and which: options of ours, and OpenTelemetry's own environment."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

# Of OTLP over HTTP, where an endpoint names no path.
_PATH = "/v1/traces"
_PROTOCOL = "http/protobuf"
_ALL = 1_000_000
_SAMPLERS = frozenset(
    f"{base}{kind}"
    for base in ("", "parentbased_")
    for kind in ("always_on", "always_off", "traceidratio")
)
# In this order; the first is the whole URL, the second has the path put behind it.
_OF_TRACES, _OF_ALL = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HEADERS = ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
# Numbers that OpenTelemetry would put right in silence; the least that each may be.
_FILES = tuple(
    f"OTEL_EXPORTER_OTLP_{of}{kind}"
    for of in ("", "TRACES_")
    for kind in ("CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE")
)
# Of a header (RFC 9110, 5.1).
_KEY = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_NUMBERS = {
    "OTEL_BSP_MAX_QUEUE_SIZE": 1,
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": 1,
    "OTEL_BSP_SCHEDULE_DELAY": 1,
    "OTEL_EXPORTER_OTLP_TIMEOUT": 0.001,
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": 0.001,
}


class TracingUnusableError(ValueError):
    """Tracing is set to something that cannot be; the message names the option or variable."""


@dataclass(frozen=True, kw_only=True)
class TracingSettings:
    """Where a process sends its spans.

    Attributes:
        endpoint: URL of the collector, OTLP over HTTP; empty: nothing is traced.
        per_million: so many of a million traces that begin here are kept, 0 to 1,000,000; None:
            as OTEL_TRACES_SAMPLER says, else all. Of a trace that a caller began it decides.
    """

    endpoint: str = ""
    per_million: int | None = None


OFF = TracingSettings()


def tracing_settings(
    endpoint: str | None,
    per_million: int | None,
    environment: Mapping[str, str] = os.environ,
) -> TracingSettings:
    """What options and environment come to; options count before the environment.

    Args:
        endpoint: the option; None or empty: it is not set.
        per_million: the option; None: it is not set.
        environment: see there.

    Raises:
        TracingUnusableError: see there.
    """
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return OFF
    url = _endpoint(endpoint, environment)
    if not url:
        return OFF
    if per_million is not None and not 0 <= per_million <= _ALL:
        raise TracingUnusableError(f"--tracing-sampling-rate-per-million: 0 to {_ALL}")
    _check_environment(environment)
    return TracingSettings(endpoint=url, per_million=per_million)


def _endpoint(option: str | None, environment: Mapping[str, str]) -> str:
    if option:
        return _url("--tracing-endpoint", option, _PATH)
    if environment.get("OTEL_TRACES_EXPORTER", "").strip() == "none":
        return ""
    if environment.get(_OF_TRACES):
        return _url(_OF_TRACES, environment[_OF_TRACES], "")
    base = environment.get(_OF_ALL, "")
    return _url(_OF_ALL, base.removesuffix("/") + _PATH, "") if base else ""


def _url(name: str, text: str, path: str) -> str:
    """The URL; raises TracingUnusableError, which does not repeat it where it has a password."""
    try:
        url = urlsplit(text)
        is_url = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        raise TracingUnusableError(f"{name}: must be a URL such as http://collector:4318")
    if url.username is not None or url.query or url.fragment:
        raise TracingUnusableError(
            f"{name}: has a user, a query or a fragment, and a log would show them: put secrets "
            "into OTEL_EXPORTER_OTLP_HEADERS"
        )
    return text if url.path.strip("/") else f"{text.rstrip('/')}{path}"


def _check_environment(environment: Mapping[str, str]) -> None:
    for name in _PROTOCOLS:
        if environment.get(name, _PROTOCOL) not in ("", _PROTOCOL):
            raise TracingUnusableError(f"{name}: only {_PROTOCOL} is spoken")
    if environment.get("OTEL_TRACES_SAMPLER", "always_on").lower() not in _SAMPLERS:
        raise TracingUnusableError(f"OTEL_TRACES_SAMPLER: one of {', '.join(sorted(_SAMPLERS))}")
    for name in _FILES:
        if environment.get(name) and not Path(environment[name]).is_file():
            raise TracingUnusableError(f"{name}: there is no such file")
    for name in _HEADERS:
        _check_headers(name, environment.get(name, ""))
    for name in _NUMBERS.keys() & {name for name, text in environment.items() if text}:
        _check_number(name, environment[name], _NUMBERS[name])


def _check_headers(name: str, text: str) -> None:
    for pair in text.split(","):
        key, separator, value = pair.partition("=")
        is_fit = bool(separator) and _KEY.fullmatch(key.strip()) and value.isprintable()
        if pair.strip() and not is_fit:
            # Without the value, which is mostly a token.
            raise TracingUnusableError(f"{name}: must be name=value, more of them after commas")


def _check_number(name: str, text: str, least: float) -> None:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    is_whole = number.is_integer() or least < 1
    if not (least <= number < math.inf and is_whole):
        raise TracingUnusableError(f"{name}: must be a number of at least {least:g}")
