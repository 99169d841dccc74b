"""One limit: what a token bucket lets through, also while its rate and size change."""

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.policies import (
    BreakerLevel,
    BreakerState,
    Limit,
    free_at,
    retune,
    slowed,
    spend,
)

SLACK = 1e-6
RATED = st.builds(Limit, per_second=st.floats(0.05, 50), burst=st.integers(1, 10))


def emptied(limit: Limit, at: float) -> float:
    """When the bucket is full again of which all was taken at an instant."""
    full_at = -math.inf
    while free_at(limit, 0, full_at) <= at:
        full_at = spend(limit, full_at, at)
    return full_at


@given(RATED, st.lists(st.floats(0, 3), max_size=60))
def test_no_span_lets_more_through_than_burst_and_rate_allow(limit, waits):
    full_at, now, through = -math.inf, 0.0, []
    for wait in waits:
        now += wait
        while free_at(limit, 0, full_at) <= now:
            full_at = spend(limit, full_at, now)
            through.append(now)
    for first, last in itertools.combinations(range(len(through)), 2):
        span = through[last] - through[first]
        assert last - first + 1 <= limit.burst + limit.per_second * span + SLACK


@given(RATED, RATED, st.floats(0, 100))
def test_a_bucket_that_is_changed_forgets_nothing_and_holds_no_grudge(limit, new, at):
    full_at = retune(new, emptied(limit, at), at)
    # Empty at worst: within its own time it is full.
    assert full_at <= at + new.burst / new.per_second + SLACK
    if new.per_second <= limit.per_second and new.burst <= limit.burst:
        assert free_at(new, 0, full_at) > at or full_at < at + new.burst / new.per_second


def test_so_many_at_a_time():
    limit = Limit(concurrency=2)
    assert free_at(limit, 1, -math.inf) == -math.inf
    assert free_at(limit, 2, -math.inf) == math.inf


def test_a_limit_that_is_slowed_down_is_no_faster_than_either_and_evenly_spaced():
    slow = BreakerState(level=BreakerLevel.SLOW, slow_per_second=0.1)
    limit = Limit(per_second=5.0, burst=3, concurrency=2)
    assert slowed(limit, slow) == Limit(per_second=0.1, concurrency=2)
    assert slowed(Limit(per_second=0.05, burst=3), slow) == Limit(per_second=0.05)
    assert slowed(Limit(), slow) == Limit(per_second=0.1)
    assert slowed(limit, BreakerState()) is limit
