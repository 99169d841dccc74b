"""Off: nothing is loaded, nothing is asked. On: what is set wrong ends the process with 2."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bailiff.tracing import NO_TRACER, Parent

LOADED = "print([m for m in sys.modules if m.split('.')[0] in ('opentelemetry', 'requests')])"
# FastAPI imports OpenTelemetry's API itself, whatever its settings; it is small.
OF_FASTAPI = "opentelemetry.sdk", "opentelemetry.exporter", "opentelemetry.proto", "requests"


def python(code, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "module", ["bailiff.cli", "bailiff.bootstrap.work", "bailiff.bootstrap.agent"]
)
def test_without_an_endpoint_opentelemetry_is_not_loaded(module):
    assert python(f"import sys, {module}; {LOADED}").stdout == "[]\n"


def test_nor_is_more_of_it_by_the_decision_api_than_fastapi_takes():
    found = python(f"import sys, bailiff.bootstrap.serve; {LOADED}").stdout
    assert not [name for name in OF_FASTAPI if name in found]


def test_a_process_that_runs_without_an_endpoint_loads_none():
    code = """
import asyncio, sys
from prometheus_client import CollectorRegistry
from bailiff.bootstrap.tracing import traced
from bailiff.tracing.settings import OFF
async def main():
    async with traced(OFF, "x", CollectorRegistry(), print) as tracer:
        assert not tracer.enabled
asyncio.run(main())
"""
    assert python(f"{code}{LOADED}").stdout == "[]\n"


def test_what_does_nothing_does_nothing():
    with NO_TRACER.span("a") as span, NO_TRACER.call("b", {}), NO_TRACER.under(Parent("c")):
        span.set({"a": 1})
        span.name("b")
        span.fail("c")
        assert not span.is_kept
    assert NO_TRACER.here() is None
    assert NO_TRACER.headers() == NO_TRACER.ids() == {}
    assert NO_TRACER.reserve() == ""
    NO_TRACER.write("", "a", 1.0, {})
    NO_TRACER.past("a", "", 1.0, {})


@pytest.mark.parametrize("command", [("serve",), ("worker", "--in-cluster"), ("agent", "--node=a")])
@pytest.mark.parametrize(
    ("options", "environment", "named"),
    [
        (("--tracing-endpoint", "collector:4317"), {}, "--tracing-endpoint"),
        (("--tracing-sampling-rate-per-million", "1000001"), {}, "--tracing-sampling-rate"),
        ((), {"BAILIFF_TRACING_ENDPOINT": "ftp://x"}, "--tracing-endpoint"),
        ((), {"OTEL_EXPORTER_OTLP_ENDPOINT": "nowhere"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
    ],
)
def test_what_is_set_wrong_ends_the_process_with_2(command, options, environment, named):
    ended = python("from bailiff.cli import main; main()", *command, *options, **environment)
    assert ended.returncode == 2
    assert named in " ".join(ended.stderr.split()).replace("│", "")
