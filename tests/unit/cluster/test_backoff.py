"""Waits grow, stay bounded, and start small again."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from bailiff.cluster.backoff import Backoff
from tests.harness.clocks import ManualClock


def backoff(clock: ManualClock, seed: int = 0) -> Backoff:
    return Backoff(clock, Random(seed), smallest=0.8, largest=30.0, reset=120.0)


@given(st.integers())
def test_waits_double_up_to_the_largest_and_are_jittered_up_to_twice(seed: int) -> None:
    clock = ManualClock()
    own = backoff(clock, seed)
    for size in (0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0):
        wait = own.next()
        assert size <= wait <= 2 * size
        clock.advance(wait)


def test_a_healthy_stretch_starts_over() -> None:
    clock = ManualClock()
    own = backoff(clock)
    for _ in range(6):
        clock.advance(own.next())
    clock.advance(119)
    assert own.next() > 2
    clock.advance(200)
    assert own.next() <= 1.6


def test_two_clients_wait_differently() -> None:
    assert backoff(ManualClock(), 1).next() != backoff(ManualClock(), 2).next()
