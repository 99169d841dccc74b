"""How fast nodes of a zone are given up: never faster than its rate, whatever happens between."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.node_loss.pace import ZonePacer


def test_the_first_goes_at_once_and_each_other_after_its_time():
    pacer = ZonePacer()
    pacer.set_rate("a", 0.1, 0)
    assert pacer.take("a", 0)
    assert pacer.wait("a", 9) == pytest.approx(1)
    assert not pacer.take("a", 9.9)
    assert pacer.take("a", 10)


def test_a_zone_that_was_quiet_for_long_has_no_more_than_one():
    pacer = ZonePacer()
    pacer.set_rate("a", 0.1, 0)
    assert [pacer.take("a", 10_000) for _ in range(3)] == [True, False, False]


def test_zones_do_not_wait_for_each_other():
    pacer = ZonePacer()
    for zone in "ab":
        pacer.set_rate(zone, 0.1, 0)
    assert pacer.take("a", 0)
    assert pacer.take("b", 0)


def test_a_rate_of_nothing_is_never():
    pacer = ZonePacer()
    pacer.set_rate("a", 0, 0)
    assert pacer.wait("a", 1e9) == math.inf
    assert not pacer.take("a", 1e9)
    assert pacer.wait("unknown", 0) == math.inf


def test_a_zone_that_has_no_token_has_none_at_a_new_rate_either():
    pacer = ZonePacer()
    pacer.set_rate("a", 0.01, 0)
    assert pacer.take("a", 0)
    pacer.set_rate("a", 0.1, 90)
    assert not pacer.take("a", 95)
    assert pacer.take("a", 100)


@pytest.mark.parametrize("is_paced", [True, False])
def test_what_was_given_up_before_a_restart_counts(is_paced):
    """Whether the zone's rate is known yet or not."""
    pacer = ZonePacer()
    if is_paced:
        pacer.set_rate("a", 0.1, 0)
    pacer.spent("a", 4, 0)
    pacer.spent("a", 50, 0)
    pacer.set_rate("a", 0.1, 0)
    assert not pacer.take("a", 5.9)
    assert pacer.take("a", 6)


def test_it_counts_by_the_rate_that_the_zone_has():
    pacer = ZonePacer()
    pacer.spent("a", 60, 0)
    pacer.set_rate("a", 0.01, 0)
    assert not pacer.take("a", 39)
    assert pacer.take("a", 40)


@given(st.floats(0.01, 5.0), st.lists(st.floats(0, 30), min_size=1, max_size=60))
def test_never_more_than_one_and_the_rate_times_the_time(rate, pauses):
    pacer = ZonePacer()
    second, taken = 0.0, []
    for pause in pauses:
        second += pause
        pacer.set_rate("a", rate, second)
        if pacer.take("a", second):
            taken.append(second)
    for index, start in enumerate(taken):
        for number, end in enumerate(taken[index:], start=1):
            assert number <= 1 + rate * (end - start) + 1e-6


@given(st.lists(st.tuples(st.floats(0, 30), st.booleans()), min_size=1, max_size=60))
def test_nor_with_restarts_in_between(happenings):
    """Who is started anew knows only when the last node was given up."""
    pacer, rate = ZonePacer(), 0.1
    second = 0.0
    taken: list[float] = []
    for pause, restarts in happenings:
        second += pause
        if restarts:
            pacer = ZonePacer()
            for one in taken:
                pacer.spent("a", second - one, second)
        pacer.set_rate("a", rate, second)
        if pacer.take("a", second):
            taken.append(second)
    for index, start in enumerate(taken):
        for number, end in enumerate(taken[index:], start=1):
            assert number <= 1 + rate * (end - start) + 1e-6


@given(st.floats(0.05, 2.0), st.integers(1, 30))
def test_nobody_is_forgotten(rate, nodes):
    """All have gone after the time that the rate gives them, looked at once a second."""
    pacer, waiting = ZonePacer(), nodes
    for second in range(math.ceil(nodes / rate) + nodes + 2):
        pacer.set_rate("a", rate, second)
        waiting -= waiting > 0 and pacer.take("a", second)
    assert waiting == 0
