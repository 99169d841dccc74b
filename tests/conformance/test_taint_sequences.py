"""The model that explains differences is upstream's and ours; a broken worker is not explained."""

import gzip
import json
from copy import deepcopy
from dataclasses import asdict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import Options
from bailiff.decisions.instants import later
from bailiff.kinds import Pod
from bailiff.worker.systems.node_taints.first_seen import FirstSeen
from bailiff.worker.timers import evaluator
from bailiff.worker.timers.eviction import Eviction
from bailiff.worker.timers.pending import PendingEvictions
from tests.conformance import taint_sequences
from tests.conformance.__main__ import DATA
from tests.conformance.runner import run_file
from tests.conformance.sequence_strategies import sequences
from tests.conformance.taint_sequences import (
    answer_taint_sequence,
    as_observable,
    explain_taint_sequence,
)
from tests.conformance.upstream_timers import Repair, Sequence, replay

FILE = DATA / "taint_sequence.jsonl.gz"
CASES = [json.loads(line) for line in gzip.decompress(FILE.read_bytes()).splitlines()]
ALL = tuple(Repair)


def model(case, repairs=()):
    sequence = msgspec.convert(case, Sequence)
    return {"steps": [asdict(step) for step in replay(sequence, repairs)]}


def case_of(name):
    return next(case for case in CASES if case["id"].endswith(name))


def test_unrepaired_the_model_is_upstream():
    """In every case, to the nanosecond and the last Event."""
    wrong = [c["id"] for c in CASES if model(c["input"]) != as_observable(c["expect"])]
    assert wrong == []


def test_repaired_the_model_is_the_worker():
    """Also where the worker agrees with upstream: it may not do so where it should differ."""
    wrong = [c["id"] for c in CASES if model(c["input"], ALL) != answer_taint_sequence(c["input"])]
    assert wrong == []


@given(case=sequences())
def test_repaired_the_model_is_the_worker_in_cases_never_seen(case):
    ours = answer_taint_sequence(case)
    assert ours == model(case, ALL)
    theirs = model(case)
    assert bool(explain_taint_sequence(case, ours, theirs)) == (ours != theirs)


@given(case=sequences(), data=st.data())
def test_no_answer_but_the_workers_is_explained(case, data):
    ours, theirs = answer_taint_sequence(case), model(case)
    wrong = deepcopy(ours)
    step = data.draw(st.sampled_from(wrong["steps"]))
    match data.draw(st.sampled_from(["scheduled", "deleted", "cancelled"])):
        case "scheduled":
            step["scheduled"]["default/p1"] = "2026-01-01T00:00:01.5Z"
        case field:
            step[field].append("default/p9")
    assert explain_taint_sequence(case, wrong, theirs) == []


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("shortened", ["deadline-moves"]),
        ("swap_taint_keeps_clock", ["deadline-from-timeAdded", "deadline-moves"]),
        ("time_added_ignored", ["deadline-from-timeAdded", "deadline-moves"]),
        ("infinite_to_finite", ["deadline-from-timeAdded"]),
        ("recreated_coalesced_same_tolerations", ["uid-guard"]),
        ("moved_to_clean_node", ["uid-guard"]),
        ("node_deleted_timer_lives", ["node-gone"]),
        ("terminated_and_terminating", ["ended-pods"]),
        ("ovf", ["toleration-seconds-overflow"]),
        ("untolerated_second", ["no-false-cancel"]),
        ("pod_deleted", ["no-false-cancel"]),
    ],
)
def test_a_case_made_for_one_quirk_is_explained_by_that_quirk(name, names):
    case = case_of(name)
    answer = answer_taint_sequence(case["input"])
    assert explain_taint_sequence(case["input"], answer, as_observable(case["expect"])) == names


def timed_cases():
    """The cases in which the worker sets a timer; the last instant there is cannot be moved."""
    for case in CASES:
        steps = answer_taint_sequence(case["input"])["steps"]
        if any(at < "9999" for step in steps for at in step["scheduled"].values()):
            yield case["id"]


@pytest.mark.parametrize("seconds", [1, -1], ids=["late", "early"])
def test_a_deadline_off_by_one_second_fails_every_case_with_a_timer(seconds, monkeypatch):
    timed = set(timed_cases())
    monkeypatch.setattr(
        "bailiff.decisions.node_taints.findings.later",
        lambda start, span: later(start, span + seconds),
    )
    assert set(run_file(FILE).failed) >= timed
    assert len(timed) > 100


def without_bound_at(monkeypatch):
    monkeypatch.setattr(Pod, "bound_at", None)


def observing_anew(monkeypatch):
    right = FirstSeen._take_in
    monkeypatch.setattr(FirstSeen, "_take_in", lambda self, node, known: right(self, node, None))


def never_moving(monkeypatch):
    monkeypatch.setattr(Eviction, "waits_for_other_than", lambda *_: False)


def never_cancelling(monkeypatch):
    monkeypatch.setattr(PendingEvictions, "revoke", lambda *_: None)


def never_forgetting(monkeypatch):
    monkeypatch.setattr(PendingEvictions, "forget", lambda *_: None)


def announcing_what_leaves(monkeypatch):
    right = evaluator.Evaluator._forget

    def announce_as_it_goes(self, pod, outcome):
        self._revoke(pod, "the pod is gone")
        right(self, pod, outcome)

    monkeypatch.setattr(evaluator.Evaluator, "_forget", announce_as_it_goes)


def evicting_ended_pods(monkeypatch):
    options = Options(explain=False, evict_ended_pods=True)
    monkeypatch.setattr(taint_sequences, "OPTIONS", options)


def silent_cancelling(monkeypatch):
    monkeypatch.setattr(
        evaluator.Evaluator,
        "_revoke",
        lambda self, pod, why: self._pending.revoke(pod.metadata.uid, why),
    )


@pytest.mark.parametrize(
    "breaking",
    [
        without_bound_at,
        observing_anew,
        never_moving,
        never_cancelling,
        never_forgetting,
        announcing_what_leaves,
        evicting_ended_pods,
        silent_cancelling,
    ],
    ids=lambda breaking: breaking.__name__,
)
def test_a_broken_worker_fails(breaking, monkeypatch):
    breaking(monkeypatch)
    answers = {case["id"]: answer_taint_sequence(case["input"]) for case in CASES}
    wrong = {case["id"] for case in CASES if answers[case["id"]] != model(case["input"], ALL)}
    assert wrong, "no case notices"
    # Where it now does what upstream does the run cannot know better: that is for
    # test_repaired_the_model_is_the_worker. Nothing else may get through, by whatever name.
    as_upstream = {c["id"] for c in CASES if answers[c["id"]] == as_observable(c["expect"])}
    assert set(run_file(FILE).failed) == wrong - as_upstream
