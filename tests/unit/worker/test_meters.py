"""Rates that a breaker sets outlive a change of the policies that count its zone."""

from bailiff.decisions.policies import Limits
from bailiff.worker.gate.meters import Key, Meters, Scope

EU = Key(Scope.ZONE, "eu")


def test_a_zone_that_was_slowed_down_before_it_was_counted_is_slow():
    meters = Meters()
    meters.slow_down(EU, 0.1, now=0.0)
    meters.set_limits(Limits(), zones=True, now=0.0)
    meters.start((EU,), now=100.0)
    assert meters.of(EU).free_at(100.0) == 110.0
    meters.slow_down(EU, None, now=100.0)
    assert meters.of(EU).free_at(100.0) == 100.0
