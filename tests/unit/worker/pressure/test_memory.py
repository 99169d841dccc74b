"""What a node's annotation remembers, and what is made of one that somebody else has written."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.decisions.pressure.memory import NOTHING, Memory, Noted, memory_of, note_of
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.state import (
    ConditionState,
    PressureState,
    SignalState,
    ThresholdState,
)
from bailiff.decisions.pressure.thresholds import Threshold, ThresholdValue
from tests.harness.clocks import START

SOFT = Threshold(
    signal=Signal.MEMORY_AVAILABLE,
    value=ThresholdValue(quantity="1Gi"),
    grace_period_nanoseconds=60 * 10**9,
)
MET = ThresholdState(threshold=SOFT, first_observed_at=START)
HELD = ConditionState(type="MemoryPressure", last_observed_at=START, held=True)
STATE = PressureState(
    thresholds=(MET,),
    conditions=(HELD,),
    signals=(SignalState(signal=Signal.MEMORY_AVAILABLE, time=START),),
    started=True,
)


def later(seconds: float):
    return START + timedelta(seconds=seconds)


def test_a_calm_node_has_nothing_to_remember():
    assert note_of(START, PressureState(started=True), Noted(None, publishes=False)) == NOTHING


def test_what_changes_with_each_round_needs_no_write():
    moved = replace(STATE, signals=(SignalState(signal=Signal.MEMORY_AVAILABLE, time=later(10)),))
    moved = replace(moved, conditions=(replace(HELD, last_observed_at=later(10)),))
    first = note_of(START, STATE, Noted(None, publishes=True))
    assert note_of(later(10), moved, Noted(None, publishes=True)).key == first.key


@pytest.mark.parametrize(
    "changed",
    [
        replace(STATE, thresholds=()),
        replace(STATE, thresholds=(replace(MET, acted_upon=True),)),
        replace(STATE, conditions=()),
    ],
    ids=["over", "acted upon", "no condition"],
)
def test_what_a_restart_must_know_is_a_new_note(changed):
    first = note_of(START, STATE, Noted(None, publishes=True))
    assert note_of(START, changed, Noted(None, publishes=True)).key != first.key


def test_so_is_a_minute_in_which_a_threshold_is_met_and_an_eviction():
    first = note_of(START, STATE, Noted(None, publishes=True))
    assert note_of(later(60), STATE, Noted(None, publishes=True)).key != first.key
    assert (
        note_of(START, STATE, Noted(None, publishes=True, acted_on=STATE.signals)).key != first.key
    )


def memory(state: PressureState = STATE, at: float = 0, measured: float | None = None) -> Memory:
    """What is read of a note that was written at that second."""
    seen = None if measured is None else later(measured)
    note = note_of(later(at), state, Noted(seen, publishes=True, acted_on=state.signals))
    found = memory_of(note.text)
    assert found is not None
    return found


def test_what_is_written_is_read():
    found = memory(measured=-3)
    assert (found.at, found.measured, found.publishes) == (START, later(-3), True)
    resumed = found.resumed(later(30), later(27))
    assert resumed.thresholds == STATE.thresholds
    assert resumed.signals == STATE.signals


def test_what_a_later_release_has_added_is_passed_over():
    """After it was rolled back the conditions are still ours to write."""
    found = memory_of('{"at": "2026-01-01T00:00:00Z", "publishes": true, "surprise": 1}')
    assert found is not None
    assert found.publishes


def test_a_condition_whose_threshold_is_met_counts_as_seen_now():
    assert memory().resumed(later(60), None).conditions[0].last_observed_at == later(60)


def test_after_a_long_break_thresholds_are_new_and_conditions_hold_from_when_they_were_seen():
    resumed = memory().resumed(later(181), None)
    assert resumed.thresholds == ()
    assert resumed.conditions == STATE.conditions
    assert memory().resumed(later(181), None, longest_break=600).thresholds == STATE.thresholds


def test_one_that_was_written_in_the_future_is_no_long_break():
    """By a clock an hour ahead: as much of the grace period is over as it was then."""
    (met,) = memory(replace(STATE, thresholds=(MET,)), at=10).resumed(later(-3600), None).thresholds
    assert met.first_observed_at == later(-3610)


@pytest.mark.parametrize(
    ("ahead", "begun"), [(0, 0), (100, 100), (-100, -90)], ids=["right", "ahead", "behind"]
)
def test_a_clock_that_differs_takes_nothing_off_a_grace_period(ahead, begun):
    """Ten seconds have passed, by the node's own clock; ours has been set, or is another's."""
    (met,) = memory(at=30, measured=28).resumed(later(40 + ahead), later(38)).thresholds
    assert met.first_observed_at == later(begun)


def test_nor_does_a_nodes_clock():
    (met,) = memory(at=30, measured=28).resumed(later(40), later(138)).thresholds
    assert met.first_observed_at == START


def test_a_break_that_one_of_the_clocks_calls_long_is_long():
    assert memory(at=30, measured=28).resumed(later(40), later(238)).thresholds == ()


def test_a_cool_down_is_counted_likewise():
    cooling = PressureState(started=True, last_eviction_at=START)
    resumed = memory(cooling, at=10, measured=8).resumed(later(3620), later(18))
    assert resumed.last_eviction_at == later(3600)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"at": "yesterday"}',
        '{"at": "2026-01-01T00:00:00Z", "state": {"thresholds": [{}]}}',
        '{"at": "2026-01-01T00:00:00Z", "state": {"signals": 7}}',
        '{"at": "2026-01-01T00:00:00Z"' + " " * 20_000 + "}",
        '{"x": ' + "[" * 8000 + "]" * 8000 + "}",
    ],
    ids=["empty", "cut", "list", "null", "no time", "no threshold", "type", "long", "deep"],
)
def test_what_cannot_be_read_is_nothing(text):
    assert memory_of(text) is None


def test_the_note_is_short():
    many = replace(STATE, thresholds=(MET,) * 20)
    assert (
        len(note_of(START, many, Noted(None, publishes=True, acted_on=STATE.signals)).text)
        < 8 * 1024
    )


def test_a_cool_down_is_remembered_for_itself():
    cooling = PressureState(started=True, last_eviction_at=START)
    note = note_of(later(1), cooling, Noted(None, publishes=False))
    found = memory_of(note.text)
    assert found is not None
    assert found.state.last_eviction_at == START
    again = replace(cooling, last_eviction_at=later(1))
    assert note_of(later(1), again, Noted(None, publishes=False)).key != note.key
