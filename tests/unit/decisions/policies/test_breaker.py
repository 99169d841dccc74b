"""When breakers slow evictions down and stop them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.policies import (
    Breaker,
    BreakerLevel,
    describe_zone,
    is_failing,
    judge,
    zone_of,
)
from bailiff.kinds import LABEL_ZONE, Taint
from tests.harness.kinds import node_of

NORMAL, SLOW, STOPPED = BreakerLevel.NORMAL, BreakerLevel.SLOW, BreakerLevel.STOPPED
DEFAULTS = Breaker()


@pytest.mark.parametrize(
    ("failing", "total", "level"),
    [
        pytest.param(0, 0, NORMAL, id="no nodes"),
        pytest.param(0, 10, NORMAL, id="none fails"),
        pytest.param(2, 3, NORMAL, id="too few fail, whatever their fraction"),
        pytest.param(3, 11, NORMAL, id="27 %"),
        pytest.param(3, 10, SLOW, id="30 %, from there on"),
        pytest.param(10, 19, SLOW, id="53 %"),
        pytest.param(11, 20, STOPPED, id="55 %, from there on"),
        pytest.param(10, 10, STOPPED, id="all"),
    ],
)
def test_level(failing: int, total: int, level: BreakerLevel) -> None:
    assert judge(failing, total, DEFAULTS).level is level


def test_small_zones_never_slow_down() -> None:
    assert judge(9, 9, Breaker(min_nodes=10)).level is NORMAL
    assert judge(10, 10, Breaker(min_nodes=10)).level is STOPPED


def test_messages_tell_the_numbers() -> None:
    assert judge(6, 10, DEFAULTS, describe_zone("eu-1")).message == (
        "zone eu-1: 6 of 10 nodes (60 %) are not ready or unreachable, evictions stop at 55 %"
    )
    assert judge(3, 8, DEFAULTS).message == (
        "cluster: 3 of 8 nodes (37.5 %) are not ready or unreachable, evictions slow down at 30 %"
    )
    assert judge(0, 8, DEFAULTS).message == ""


COUNTS = st.integers(0, 60)
FRACTIONS = st.floats(0.01, 1)


@given(COUNTS, COUNTS, FRACTIONS, FRACTIONS, st.integers(1, 5))
def test_more_failures_never_mean_faster_evictions(
    failing: int, healthy: int, one: float, other: float, least: int
) -> None:
    breaker = Breaker(slow_at=min(one, other), stop_at=max(one, other), min_failing=least)
    order = (NORMAL, SLOW, STOPPED)
    before = judge(failing, failing + healthy + 1, breaker)
    after = judge(failing + 1, failing + healthy + 1, breaker)
    assert order.index(before.level) <= order.index(after.level)


@pytest.mark.parametrize(
    ("key", "effect", "failing"),
    [
        ("node.kubernetes.io/not-ready", "NoExecute", True),
        ("node.kubernetes.io/unreachable", "NoExecute", True),
        ("node.kubernetes.io/unreachable", "NoSchedule", False),
        ("node.kubernetes.io/out-of-service", "NoExecute", False),
        ("maintenance", "NoExecute", False),
    ],
)
def test_which_nodes_fail(key: str, effect: str, failing: bool) -> None:
    assert is_failing(node_of("n", Taint(key="other"), Taint(key=key, effect=effect))) is failing


def test_a_node_without_taints_does_not_fail() -> None:
    assert not is_failing(node_of("n"))


def test_zones() -> None:
    assert zone_of(node_of("n", labels={LABEL_ZONE: "eu-1"})) == "eu-1"
    assert zone_of(node_of("n")) == ""
    assert describe_zone("") == "nodes without a zone"
