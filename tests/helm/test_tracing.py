"""Where the chart sends traces: what each component is told, and what it may reach."""

from __future__ import annotations

import pytest

from tests.harness.helm.chart import container_of, render, the, try_values

pytestmark = pytest.mark.helm

URL = "http://collector.monitoring:4318"
ALL = ("api", "worker", "agent")
AGENT = {"enabled": True}
each_component = pytest.mark.parametrize("component", ALL)


def rendered(more=None, **tracing):
    return render(values={"tracing": tracing, "agent": AGENT, **(more or {})})


def environment(objects, component):
    return {entry["name"]: entry for entry in container_of(objects, component)["env"]}


@each_component
def test_nothing_is_traced_until_there_is_a_collector(component):
    names = environment(rendered(headersSecret={"name": "token"}), component)
    assert not [name for name in names if "TRACING" in name or name.startswith("OTEL")]


@each_component
def test_each_is_told_where_and_how_many(component):
    rates = {"api": 1, "worker": 2, "agent": 3}
    found = environment(rendered(endpoint=URL, samplingRatePerMillion=rates), component)
    assert found["BAILIFF_TRACING_ENDPOINT"]["value"] == URL
    rate = found["BAILIFF_TRACING_SAMPLING_RATE_PER_MILLION"]["value"]
    assert rate == str(rates[component])
    assert "OTEL_EXPORTER_OTLP_HEADERS" not in found


@each_component
def test_a_million_is_written_as_one(component):
    found = environment(rendered(endpoint=URL), component)
    usual = {"api": "10000", "worker": "1000000", "agent": "1000000"}
    assert found["BAILIFF_TRACING_SAMPLING_RATE_PER_MILLION"]["value"] == usual[component]


@each_component
def test_headers_come_from_a_secret_unless_a_variable_of_ones_own_says_them(component):
    secret = {"name": "token", "key": "value"}
    found = environment(rendered(endpoint=URL, headersSecret=secret), component)
    reference = {"secretKeyRef": {"name": "token", "key": "value"}}
    assert found["OTEL_EXPORTER_OTLP_HEADERS"]["valueFrom"] == reference
    own = {"name": "OTEL_EXPORTER_OTLP_HEADERS", "value": "a=b"}
    values = AGENT if component == "agent" else {}
    more = {component: {**values, "extraEnv": [own]}}
    objects = rendered(more, endpoint=URL, headersSecret=secret)
    entries = container_of(objects, component)["env"]
    assert [one for one in entries if one["name"] == own["name"]] == [own]


@each_component
@pytest.mark.parametrize(
    ("url", "port"),
    [(URL, 4318), ("https://collector", 443), ("http://collector/otlp", 80), ("http://a:9/b", 9)],
)
def test_the_network_policy_lets_spans_out_and_asks_for_names(component, url, port):
    peers = [{"podSelector": {"matchLabels": {"app": "collector"}}}]
    policies = {"networkPolicy": {"enabled": True, "collectors": peers}}
    egress = the(rendered(policies, endpoint=url), "NetworkPolicy", component)["spec"]["egress"]
    without = the(rendered(policies), "NetworkPolicy", component)["spec"]["egress"]
    assert all(rule in egress for rule in without)
    assert [rule for rule in egress if rule not in without] == [
        {"ports": [{"port": port}], "to": peers},
        {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]},
    ]


@pytest.mark.parametrize(
    "tracing",
    [
        {"endpoint": "collector:4317"},
        {"endpoint": "http://me:secret@collector"},
        {"endpoint": "http://collector?key=secret"},
        {"endpoint": URL, "samplingRatePerMillion": {"api": 1_000_001}},
        {"endpoint": URL, "samplingRatePerMillion": 5},
        {"endpoint": URL, "headersSecret": {"name": "No_Name"}},
        {"endpoint": URL, "headers": "authorization=secret"},
    ],
)
def test_what_cannot_be_is_refused(tracing):
    refused = try_values({"tracing": tracing})
    assert refused.returncode != 0
    assert "tracing" in refused.stderr
