"""Where traces go, and which: options of ours, and OpenTelemetry's own environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bailiff.tracing.environment import UnfitVariableError, check, set_ones

if TYPE_CHECKING:
    from collections.abc import Mapping

# Of OTLP over HTTP, where an endpoint names no path.
_PATH = "/v1/traces"
_ALL = 1_000_000
# In this order; the first is the whole URL, the second has the path put behind it.
_OF_TRACES, _OF_ALL = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
# Spans of up to 3 KiB each that may wait; so many go in one request, and milliseconds between two:
# the SDK's defaults.
_QUEUE, _BATCH, _DELAY = 2048, 512, 5000


class TracingUnusableError(ValueError):
    """Tracing is set to something that cannot be; the message names the option or variable."""


@dataclass(frozen=True, kw_only=True)
class TracingSettings:
    """Where a process sends its spans.

    Attributes:
        endpoint: URL of the collector, OTLP over HTTP; empty: nothing is traced.
        per_million: so many of a million traces that begin here are kept, 0 to 1,000,000; None:
            as OTEL_TRACES_SAMPLER says, else all. Of a trace that a caller began it decides.
        queue: so many spans wait at most.
        batch: so many are in one request.
        delay: milliseconds between two requests.
    """

    endpoint: str = ""
    per_million: int | None = None
    queue: int = _QUEUE
    batch: int = _BATCH
    delay: int = _DELAY


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
    said = set_ones(environment)
    if said.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return OFF
    url = _endpoint(endpoint, said)
    if not url:
        return OFF
    if per_million is not None and not 0 <= per_million <= _ALL:
        raise TracingUnusableError(f"--tracing-sampling-rate-per-million: 0 to {_ALL}")
    try:
        check(said)
    except UnfitVariableError as error:
        raise TracingUnusableError(str(error)) from error
    return _settings(url, per_million, said)


def _settings(url: str, per_million: int | None, said: Mapping[str, str]) -> TracingSettings:
    """Of variables that are fit. What is not here the libraries read from the environment."""
    queue = int(said.get("OTEL_BSP_MAX_QUEUE_SIZE", _QUEUE))
    return TracingSettings(
        endpoint=url,
        per_million=per_million,
        queue=queue,
        batch=min(int(said.get("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", _BATCH)), queue),
        delay=int(said.get("OTEL_BSP_SCHEDULE_DELAY", _DELAY)),
    )


def _endpoint(option: str | None, said: Mapping[str, str]) -> str:
    if option:
        return _url("--tracing-endpoint", option, _PATH)
    if said.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none":
        return ""
    if _OF_TRACES in said:
        return _url(_OF_TRACES, said[_OF_TRACES], "")
    base = said.get(_OF_ALL, "")
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
