"""Options of where traces go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from bailiff.cli.errors import InputError, told
from bailiff.cli.option_groups import with_options
from bailiff.cli.options import setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.tracing.settings import TracingSettings

TRACING = "Tracing"

_OPTIONS: dict[str, Any] = {
    "tracing_endpoint": Annotated[
        str | None,
        setting(
            "--tracing-endpoint",
            "Send traces to this collector, OTLP over HTTP, as http://collector:4318. A URL with a "
            "path is used as it is, one without gets /v1/traces. Default: "
            "$OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, used as it is, or $OTEL_EXPORTER_OTLP_ENDPOINT "
            "with /v1/traces behind it, else nothing is traced.",
            TRACING,
        ),
    ],
    "tracing_sampling_rate_per_million": Annotated[
        int | None,
        setting(
            "--tracing-sampling-rate-per-million",
            "Keep so many of a million traces that begin here; callers decide for their own. "
            "Default: $OTEL_TRACES_SAMPLER, else all.",
            TRACING,
            min=0,
            max=1_000_000,
        ),
    ],
}


def tracing(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes its parameter `traces` from the command line and the environment."""
    return with_options(command, "traces", _OPTIONS, _gather)


def _gather(said: dict[str, Any]) -> TracingSettings:
    from bailiff.tracing.settings import TracingUnusableError, tracing_settings  # noqa: PLC0415

    with told():
        try:
            return tracing_settings(*(said[name] for name in _OPTIONS))
        except TracingUnusableError as error:
            raise InputError(str(error)) from error
