"""The tally of requests reads as the library's own counter and histogram would."""

import random

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from bailiff.face_metrics import RequestTally

BUCKETS = (0.25, 0.5, 10.0)


def text(registry: CollectorRegistry) -> list[str]:
    """All lines but the instants at which the library made its own metrics."""
    lines = generate_latest(registry).decode().splitlines()
    return [line for line in lines if "_created" not in line]


@pytest.mark.parametrize("number", [0, 1, 200])
def test_it_reads_as_metrics_of_the_library_do(number: int) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    tally = RequestTally("port", ("method", "route"), "status", BUCKETS)
    ours.register(tally)
    told = "Requests answered, by method, route and status."
    counter = Counter("port_requests", told, ("method", "route", "status"), registry=theirs)
    told = "Time from a request to its answer, by method, route."
    name = "port_request_duration_seconds"
    histogram = Histogram(name, told, ("method", "route"), buckets=BUCKETS, registry=theirs)
    lots = random.Random(number)
    for _ in range(number):
        method, route = lots.choice(["GET", "POST"]), lots.choice(["", "/a"])
        status, seconds = lots.choice([200, 404]), lots.choice([0.125, *BUCKETS, 64.0])
        tally.observe((method, route, status), seconds)
        counter.labels(method, route, status).inc()
        histogram.labels(method, route).observe(seconds)
    assert sorted(text(ours)) == sorted(text(theirs))
