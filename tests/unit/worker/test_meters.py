"""What limits let begin as they change, and what is kept of what has begun."""

import math

from bailiff.decisions.policies import BreakerLevel, BreakerState, Limit, Limits
from bailiff.worker.gate.meters import TOTAL, Key, Meters, Scope

EU = Key(Scope.ZONE, "eu")
SLOW = BreakerState(level=BreakerLevel.SLOW, slow_per_second=0.1)
ONE_AT_A_TIME = Limits(per_node=Limit(concurrency=1))


def node(name: str) -> Key:
    return Key(Scope.NODE, name)


def test_a_zone_without_a_limit_is_slowed_down_and_then_no_longer():
    meters = Meters()
    meters.set_limits(Limits(), {EU: SLOW}, now=0.0)
    meters.start((EU,), now=100.0)
    assert meters.free_at(EU) == 110.0
    assert meters.free_at(Key(Scope.ZONE, "us")) <= 100.0
    meters.set_limits(Limits(), {}, now=100.0)
    assert (meters.limit(EU), meters.free_at(EU) <= 100.0) == (None, True)


def test_what_was_spent_by_other_limits_stays_spent():
    meters = Meters()
    meters.set_limits(Limits(total=Limit(per_second=0.1)), {}, now=0.0)
    meters.start((TOTAL,), now=0.0)
    meters.set_limits(Limits(total=Limit(per_second=0.5)), {}, now=1.0)
    assert meters.free_at(TOTAL) == 3.0


def test_what_ran_before_there_was_a_limit_counts():
    meters = Meters()
    meters.start((TOTAL, node("n1")), now=0.0)
    meters.set_limits(ONE_AT_A_TIME, {}, now=1.0)
    assert meters.free_at(node("n1")) == math.inf
    meters.finish((TOTAL, node("n1")))
    assert meters.free_at(node("n1")) <= 1.0


def test_keys_that_rest_are_forgotten():
    meters = Meters()
    meters.set_limits(Limits(per_node=Limit(per_second=1.0, burst=2)), {}, now=0.0)
    for number in range(20_000):
        keys = (TOTAL, node(f"n{number}"))
        meters.start(keys, float(number))
        meters.finish(keys)
        assert len(meters) <= 1100


def test_a_key_that_does_not_rest_is_kept():
    meters = Meters()
    meters.set_limits(ONE_AT_A_TIME, {}, now=0.0)
    meters.start((TOTAL, node("busy")), 0.0)
    for number in range(3_000):
        meters.start((TOTAL, node(f"m{number}")), 1.0 + number)
    assert meters.free_at(node("busy")) == math.inf
    assert len(meters) == 3_002
