"""What the benchmarks measure can be started."""

from __future__ import annotations

import os

import pytest

from benchmarks.rest_face import SERVERS, TRACED, started


@pytest.mark.parametrize("name", [*SERVERS, *TRACED])
def test_a_server_of_the_rest_benchmark_tells_its_port(name: str) -> None:
    with started(name, min(os.sched_getaffinity(0))) as server:
        assert server.port > 0
