"""For whom nobody goes yet, and for how long."""

from __future__ import annotations

import pytest

from bailiff.decisions.pressure.strangers import Stranger, Strangers
from bailiff.kinds.stats import PodReference


@pytest.fixture
def known() -> Strangers:
    return Strangers()


def of(*uids: str, used: int = 1) -> list[Stranger]:
    return [Stranger(PodReference(uid=uid), used) for uid in uids]


def test_one_is_waited_for_two_minutes(known):
    assert known.waited_for(of("u1"), 100.0)
    assert known.waited_for(of("u1"), 219.9)
    assert not known.waited_for(of("u1"), 220.0)
    assert known.waited_for(of("u1", "u2"), 221.0)
    assert not known.waited_for([], 222.0)


def test_a_round_in_which_nobody_goes_forgets_none(known):
    """Nobody is asked about then, as where nothing new was measured."""
    assert known.waited_for(of("u1"), 100.0)
    assert not known.waited_for([], 110.0)
    assert not known.waited_for(of("u1"), 230.0)
    assert known.waited_for(of("u1"), 110.0 + 86400 + 121)


def test_pods_that_come_and_go_keep_nobody_for_longer_than_two_minutes(known):
    for second in range(0, 120, 10):
        assert known.waited_for(of(f"u{second}"), float(second))
    assert not known.waited_for(of("u120"), 120.0)
    # Then for whoever goes next.
    assert known.waited_for(of("u130"), 130.0)


def test_a_round_without_any_ends_the_wait(known):
    assert known.waited_for(of("u1"), 0.0)
    assert not known.waited_for([], 60.0)
    assert known.waited_for(of("u2"), 130.0)


def test_the_largest_is_told_of(known):
    found = [*of("small", used=1), *of("large", used=3), *of("middle", used=2)]
    assert known.waited_for(found, 100.0) == found[1]


def test_so_many_are_kept_and_no_more(known):
    assert known.waited_for(of(*[f"u{number}" for number in range(5000)]), 100.0)
    assert len(known) == 1024


def test_of_those_that_nobody_has_asked_about_nothing_is_kept(known):
    known.waited_for(of("u1"), 100.0)
    known.waited_for([], 86501.0)
    assert len(known) == 0
