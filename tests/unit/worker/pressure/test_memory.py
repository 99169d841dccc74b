"""What a node's annotation remembers, and what is made of one that somebody else has written."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.state import (
    ConditionState,
    PressureState,
    SignalState,
    ThresholdState,
)
from bailiff.decisions.pressure.thresholds import Threshold, ThresholdValue
from bailiff.worker.systems.pressure.memory import NOTHING, memory_of, note_of
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
    assert note_of(START, PressureState(started=True), publishes=False, evicting=False) == NOTHING


def test_what_changes_with_each_round_needs_no_write():
    moved = replace(STATE, signals=(SignalState(signal=Signal.MEMORY_AVAILABLE, time=later(10)),))
    moved = replace(moved, conditions=(replace(HELD, last_observed_at=later(10)),))
    first = note_of(START, STATE, publishes=True, evicting=False)
    assert note_of(later(10), moved, publishes=True, evicting=False).key == first.key


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
    first = note_of(START, STATE, publishes=True, evicting=False)
    assert note_of(START, changed, publishes=True, evicting=False).key != first.key


def test_so_is_a_minute_in_which_a_threshold_is_met_and_an_eviction():
    first = note_of(START, STATE, publishes=True, evicting=False)
    assert note_of(later(60), STATE, publishes=True, evicting=False).key != first.key
    assert note_of(START, STATE, publishes=True, evicting=True).key != first.key


def test_what_is_written_is_read():
    note = note_of(START, STATE, publishes=True, evicting=True)
    found = memory_of(note.text, later(30))
    assert found is not None
    assert found.publishes
    assert found.state.thresholds == STATE.thresholds
    assert found.state.signals == STATE.signals


def test_a_condition_whose_threshold_is_met_counts_as_seen_now():
    found = memory_of(note_of(START, STATE, publishes=True, evicting=False).text, later(60))
    assert found is not None
    assert found.state.conditions[0].last_observed_at == later(60)


def test_after_a_long_break_thresholds_are_new_and_conditions_hold_from_when_they_were_seen():
    found = memory_of(note_of(START, STATE, publishes=True, evicting=False).text, later(181))
    assert found is not None
    assert found.state.thresholds == ()
    assert found.state.conditions == STATE.conditions


def test_one_that_was_written_in_the_future_is_no_long_break():
    found = memory_of(note_of(later(3600), STATE, publishes=True, evicting=False).text, START)
    assert found is not None
    assert found.state.thresholds == STATE.thresholds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"at": "yesterday"}',
        '{"at": "2026-01-01T00:00:00Z", "state": {"thresholds": [{}]}}',
        '{"at": "2026-01-01T00:00:00Z", "surprise": 1}',
        '{"at": "2026-01-01T00:00:00Z", "state": {"signals": 7}}',
        '{"at": "2026-01-01T00:00:00Z"' + " " * 20_000 + "}",
    ],
    ids=["empty", "cut", "list", "null", "no time", "no threshold", "unknown", "type", "long"],
)
def test_what_cannot_be_read_is_nothing(text):
    assert memory_of(text, START) is None


def test_the_note_is_short():
    many = replace(STATE, thresholds=(MET,) * 20)
    assert len(note_of(START, many, publishes=True, evicting=True).text) < 8 * 1024


def test_a_cool_down_is_remembered_for_itself():
    cooling = PressureState(started=True, last_eviction_at=START)
    note = note_of(later(1), cooling, publishes=False, evicting=False)
    found = memory_of(note.text, later(2))
    assert found is not None
    assert found.state.last_eviction_at == START
    again = replace(cooling, last_eviction_at=later(1))
    assert note_of(later(1), again, publishes=False, evicting=False).key != note.key
