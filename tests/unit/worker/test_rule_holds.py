"""Whom rules hold back: each is looked at when it is to be, once, and nobody who has left."""

from datetime import timedelta

from bailiff.decisions.policies import Cause, Hold
from bailiff.worker.gate.rule_holds import RuleHolds
from bailiff.worker.timers.eviction import Eviction
from tests.harness.clocks import START
from tests.harness.eviction_table import HOLD, Table

EXCLUDED = Hold(cause=Cause.EXCLUDED, message="excluded")
NOW = START.timestamp()


class Held:
    """Some who are HELD, and what keeps them."""

    def __init__(self, names: str, hold: Hold = HOLD) -> None:
        self.table = Table()
        self.holds = RuleHolds(self.table.pending)
        for name in names:
            self.table.schedule(10, name)
        self.table.clock.advance(10)
        while (eviction := self.table.pending.hand_over()) is not None:
            self.holds.put(eviction, hold)

    def __getitem__(self, name: str) -> Eviction:
        return self.table.entry(name)

    def due(self) -> float | None:
        return self.holds.next_due(100.0, NOW)

    def next(self) -> str | None:
        found = self.holds.next(NOW)
        if found is None:
            return None
        self.holds.drop(found)
        return found.uid

    def rest(self) -> str:
        """Who else is to be looked at, at once."""
        names = ""
        while (name := self.next()) is not None:
            names += name
        return names


def test_nobody_is_looked_at_for_no_reason():
    held = Held("abc")
    assert (held.due(), held.next(), held.holds.counts()) == (None, None, {"paused": 3})


def test_all_are_looked_at_in_the_order_they_came_and_those_that_are_marked_before():
    held = Held("abc")
    held.holds.look_at_all()
    held.holds.look_at(held["b"])
    assert held.due() == 100.0
    assert held.next() == "b"
    assert held.next() == "a"
    # Some are left for the next step.
    assert held.due() == 100.0
    assert (held.rest(), held.due()) == ("bc", None)


def test_who_has_left_since_it_was_listed_is_not_looked_at():
    held = Held("abcd")
    held.holds.look_at_all()
    assert held.next() == "a"
    held.table.pending.forget("b")
    held.table.pending.begin(held["c"])
    assert held.rest() == "d"


def test_a_change_of_one_cause_does_not_make_up_for_one_that_concerns_all():
    held = Held("abc")
    held.holds.look_at_all()
    assert held.next() == "a"
    held.holds.put(held["a"], EXCLUDED)
    held.holds.look_at_held_by(Cause.EXCLUDED)
    held.holds.look_at_held_by(Cause.PAUSED)
    assert held.due() == 100.0
    assert (held.rest(), held.due()) == ("bca", None)


def test_only_those_whom_the_cause_holds_are_looked_at():
    held = Held("abc")
    held.holds.drop(held["b"])
    held.holds.put(held["b"], EXCLUDED)
    held.holds.look_at_held_by(Cause.EXCLUDED)
    assert held.rest() == "b"


def test_a_hold_that_ends_by_itself_and_is_dropped_before_ends_no_more():
    until = START + timedelta(seconds=7)
    held = Held("ab", Hold(cause=Cause.PAUSED, message="", until=until))
    assert (held.due(), held.next()) == (107.0, None)
    held.holds.drop(held["a"])
    found = held.holds.next(NOW + 7)
    assert found is held["b"]
    assert held.holds.next(NOW + 7) is None
