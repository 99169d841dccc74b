"""What options and environment come to."""

from __future__ import annotations

import pytest

from bailiff.tracing.environment import VARIABLES, forget_empty
from bailiff.tracing.settings import OFF, TracingUnusableError, tracing_settings

URL = "http://collector:4318"


@pytest.mark.parametrize(
    ("option", "environment", "endpoint"),
    [
        (None, {}, ""),
        ("", {}, ""),
        (URL, {}, f"{URL}/v1/traces"),
        (f"{URL}/", {}, f"{URL}/v1/traces"),
        (f"{URL}/otlp/traces", {}, f"{URL}/otlp/traces"),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": f"{URL}/base"}, f"{URL}/base/v1/traces"),
        (None, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": URL}, URL),
        (URL, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://other"}, f"{URL}/v1/traces"),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": URL, "OTEL_TRACES_EXPORTER": "none"}, ""),
        (URL, {"OTEL_SDK_DISABLED": "true"}, ""),
    ],
)
def test_an_endpoint_is_the_option_s_or_else_the_environment_s(option, environment, endpoint):
    assert tracing_settings(option, None, environment).endpoint == endpoint


def test_off_is_off_whatever_the_rate():
    assert tracing_settings(None, 5, {}) == OFF


@pytest.mark.parametrize(
    ("option", "environment", "named"),
    [
        ("collector:4317", {}, "--tracing-endpoint"),
        ("ftp://collector", {}, "--tracing-endpoint"),
        ("http://", {}, "--tracing-endpoint"),
        ("http://h:99999", {}, "--tracing-endpoint"),
        ("http://[::1", {}, "--tracing-endpoint"),
        ("http://me:s3cret@collector", {}, "--tracing-endpoint"),
        ("http://collector?key=s3cret", {}, "--tracing-endpoint"),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        (URL, {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL"),
        (URL, {"OTEL_EXPORTER_OTLP_HEADERS": "s3cret"}, "OTEL_EXPORTER_OTLP_HEADERS"),
        (URL, {"OTEL_EXPORTER_OTLP_HEADERS": "a b=s3cret"}, "OTEL_EXPORTER_OTLP_HEADERS"),
        (URL, {"OTEL_EXPORTER_OTLP_HEADERS": "a=s3cret\n"}, "OTEL_EXPORTER_OTLP_HEADERS"),
        (URL, {"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere"}, "OTEL_EXPORTER_OTLP_CERTIFICATE"),
        (URL, {"OTEL_TRACES_SAMPLER": "often"}, "OTEL_TRACES_SAMPLER"),
        (URL, {"OTEL_BSP_MAX_QUEUE_SIZE": "0"}, "OTEL_BSP_MAX_QUEUE_SIZE"),
        (URL, {"OTEL_BSP_MAX_QUEUE_SIZE": "1.5"}, "OTEL_BSP_MAX_QUEUE_SIZE"),
        (URL, {"OTEL_EXPORTER_OTLP_TIMEOUT": "inf"}, "OTEL_EXPORTER_OTLP_TIMEOUT"),
        (URL, {"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}, "OTEL_EXPORTER_OTLP_TIMEOUT"),
    ],
)
def test_what_cannot_be_is_refused_by_name_and_no_secret_is_repeated(option, environment, named):
    with pytest.raises(TracingUnusableError) as refused:
        tracing_settings(option, None, environment)
    assert str(refused.value).startswith(named)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("rate", [-1, 1_000_001])
def test_a_rate_is_of_a_million(rate):
    with pytest.raises(TracingUnusableError, match="0 to 1000000"):
        tracing_settings(URL, rate, {})


def test_what_opentelemetry_takes_is_taken():
    environment = {
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20x, a=b",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "2.5",
        "OTEL_BSP_SCHEDULE_DELAY": "500",
        "OTEL_BSP_MAX_QUEUE_SIZE": "",
    }
    assert tracing_settings(URL, 10, environment).per_million == 10


# One value for each variable of the table that may be wrong.
WRONG = {
    "ENDPOINT": "collector",
    "PROTOCOL": "grpc",
    "HEADERS": "s3cret",
    "CERTIFICATE": "/nowhere",
    "CLIENT_CERTIFICATE": "/nowhere",
    "CLIENT_KEY": "/nowhere",
    "TIMEOUT": "0",
    "COMPRESSION": "foo",
}
UNFIT = {
    **{
        f"OTEL_EXPORTER_OTLP_{of}{name}": text
        for of in ("", "TRACES_")
        for name, text in WRONG.items()
    },
    "OTEL_TRACES_EXPORTER": "console",
    "OTEL_TRACES_SAMPLER": "often",
    "OTEL_TRACES_SAMPLER_ARG": "0,01",
    "OTEL_BSP_MAX_QUEUE_SIZE": "1e3",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "1e3",
    "OTEL_BSP_SCHEDULE_DELAY": "1e3",
    "OTEL_RESOURCE_ATTRIBUTES": "lonely",
    **{name: "abc" for name in VARIABLES if name.endswith("_LIMIT")},
}
# These may be anything.
FREE = {"OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME"}


def test_each_variable_has_a_value_that_is_wrong_or_none_can_be():
    assert set(UNFIT) | FREE == set(VARIABLES)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *UNFIT.items(),
        ("OTEL_TRACES_SAMPLER_ARG", "5"),
        ("OTEL_TRACES_SAMPLER_ARG", "nan"),
        ("OTEL_SPAN_LINK_COUNT_LIMIT", "-1"),
    ],
)
def test_a_wrong_value_of_any_variable_is_refused_by_name(name, text):
    option = None if name.endswith("ENDPOINT") else URL
    with pytest.raises(TracingUnusableError, match=f"^{name}: ") as refused:
        tracing_settings(option, None, {name: text})
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("name", VARIABLES)
def test_an_empty_variable_is_one_that_is_not_set(name):
    assert tracing_settings(URL, None, {name: ""}) == tracing_settings(URL, None, {})
    environment = {name: "", "PATH": ""}
    forget_empty(environment)
    assert environment == {"PATH": ""}


def test_the_queue_s_numbers_are_settings():
    settings = tracing_settings(URL, None, {"OTEL_BSP_MAX_QUEUE_SIZE": "100"})
    assert (settings.queue, settings.batch, settings.delay) == (100, 100, 5000)
