"""The reference has every option, metric, Event and annotation of the code, and no other."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from bailiff.cli.errors import ExitCode
from bailiff.cluster import Restart
from bailiff.cluster.kubelets import KubeletError
from bailiff.decisions import (
    cancellation_event,
    denial_event,
    device_taints,
    eviction_event,
    node_taints,
)
from bailiff.decisions.decision import ObjectReference
from bailiff.decisions.device_taints import EVICTION_IN_PROGRESS, RuleEffect, rule_status
from bailiff.decisions.policies import Cause, Hold
from bailiff.decisions.pressure import findings as pressure
from bailiff.decisions.pressure.conditions import CONDITION_EVENTS, node_conditions
from bailiff.decisions.pressure.signals import CONDITIONS
from bailiff.kinds import DeviceTaint, DeviceTaintRule, DeviceTaintRuleSpec, ObjectMeta, Pod
from bailiff.kinds.meta import Annotations
from bailiff.worker.execute.outcomes import Outcome
from bailiff.worker.observe.policy_events import blocked_event, held_event
from bailiff.worker.shadow.comparison import Result
from bailiff.worker.systems.device_taints.devices import State
from handbook.__main__ import FOLDER, PAGES
from handbook.metrics import PROCESSES, families
from tests.harness.written_words import given, metric_names, reasons, unresolved

HOLD = Hold(cause=Cause.PAUSED, message="why")
POD = Pod(metadata=ObjectMeta(namespace="NS", name="NAME"))


def page(name: str) -> str:
    return (FOLDER / name).read_text()


def rows(name: str, heading: str = "") -> list[list[str]]:
    """The cells of all tables of a page, or of those under one of its headings."""
    text = page(name)
    if heading:
        _, _, rest = text.partition(f"\n## {heading}\n")
        assert rest, heading
        text = rest.partition("\n## ")[0]
    lines = re.findall(r"^\| (.*) \|$", text, re.MULTILINE)
    return [re.split(r" ?\| ", line) for line in lines]


def words(cells: list[str]) -> set[str]:
    """What stands in them as code."""
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def firsts(name: str, heading: str = "") -> set[str]:
    return words([cells[0] for cells in rows(name, heading)])


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_generated_page_is_what_the_code_says(name: str) -> None:
    assert page(name) == PAGES[name](), "run `make reference`"


def test_every_metric_of_the_code_belongs_to_a_process() -> None:
    """So that the generated page, which goes by processes, has them all."""
    known = {one.name for process in PROCESSES for one in families(process)}
    plain = {name.removesuffix("_total") for name in known}
    assert {name.removesuffix("_total") for name in metric_names()} <= plain
    assert len(plain) > 70


def test_every_metric_says_what_it_counts() -> None:
    every = [one for process in PROCESSES for one in families(process)]
    assert [one.name for one in every if len(one.text) < 15] == []


def test_every_event_is_there_and_no_other() -> None:
    # Reasons that are chosen while the code runs, each with where its words are.
    assert unresolved("EventNote") == {
        "bailiff.decisions.events",  # those of the terms of evictions, given by keyword
        "bailiff.decisions.pressure.conditions",  # CONDITION_EVENTS
        "bailiff.worker.policy.news",  # both are written out in its calls of _tell
    }
    of_code = reasons("EventNote") | CONDITION_EVENTS | {"PoliciesWeakened", "PauseDeleted"}
    of_code |= given("event_reason") | given("cancellation_reason")
    told = words([cells[1] for cells in rows("events.md")])
    assert told == of_code


@pytest.mark.parametrize(
    "note",
    [
        eviction_event(POD, node_taints.TERMS, "why"),
        cancellation_event(POD, "why", node_taints.TERMS),
        denial_event(POD, "why"),
        blocked_event(POD, "why"),
        held_event(POD, HOLD),
        eviction_event(POD, device_taints.TERMS, "why"),
        cancellation_event(POD, "why", device_taints.TERMS),
        cancellation_event(POD, "why", pressure.TERMS),
    ],
    ids=lambda note: f"{note.reason} {note.message.split(' ')[0]}",
)
def test_an_event_begins_as_the_page_says(note) -> None:
    begins = note.message.removesuffix(" why").removesuffix(" (paused):")
    assert f"| {note.type} | `{note.reason}` | `{begins}` |" in page("events.md")


def test_every_condition_of_a_pod_is_there_and_no_other() -> None:
    assert unresolved("PodCondition") == set()
    assert firsts("conditions.md", "DisruptionTarget on a pod") == reasons("PodCondition")


def test_every_condition_of_a_node_is_there_and_no_other() -> None:
    both = (*node_conditions(CONDITIONS), *node_conditions(()))
    table = rows("conditions.md", "Pressure on a node")
    assert words([cell for cells in table for cell in cells]) == {
        word for one in both for word in (one.type, one.reason)
    }


@pytest.mark.parametrize(
    ("effect", "pods", "evicted"),
    [
        ("NoExecute", 1, 0),
        ("NoExecute", 0, 1),
        ("NoExecute", 0, 0),
        ("None", 0, 0),
        ("Other", 0, 0),
    ],
)
def test_every_condition_of_a_rule_is_there(effect: str, pods: int, evicted: int) -> None:
    rule = DeviceTaintRule(spec=DeviceTaintRuleSpec(taint=DeviceTaint(key="k", effect=effect)))
    doomed = RuleEffect(pods=(ObjectReference(namespace="NS", name="NAME"),) * pods)
    condition = rule_status(rule, lambda: doomed, evicted, datetime.now(UTC)).condition
    assert condition is not None
    heading = f"{EVICTION_IN_PROGRESS} on a DeviceTaintRule"
    pairs = {(cells[0], cells[1].strip("`")) for cells in rows("conditions.md", heading)}
    assert (condition.status, condition.reason) in pairs


def test_every_annotation_is_there_and_no_other() -> None:
    assert firsts("annotations.md") == {*Annotations.__struct_encode_fields__}


def test_every_exit_code_is_there_and_no_other() -> None:
    numbers = [int(cells[0]) for cells in rows("exit-codes.md") if cells[0].isdigit()]
    assert numbers == [code.value for code in ExitCode]


@pytest.mark.parametrize(
    ("heading", "values"),
    [
        ("Outcomes of an attempt to evict", {one.value for one in Outcome}),
        ("Causes that hold an eviction", {*Cause, "waiting", "due"}),
        ("Why a watch started again", {*Restart}),
        ("Results of the shadow", {*Result}),
        ("State of device taints", {*State}),
    ],
)
def test_every_value_of_a_label_is_there_and_no_other(heading: str, values: set[str]) -> None:
    assert firsts("outcomes.md", heading) == values


def test_causes_stand_in_the_order_of_the_rules() -> None:
    table = rows("outcomes.md", "Causes that hold an eviction")
    told = [cells[0].strip("`") for cells in table]
    assert [cause for cause in told if cause in [*Cause]] == [*Cause]


def test_every_reason_why_a_summary_is_not_read_is_there_and_no_other() -> None:
    kinds: list[type[KubeletError]] = [KubeletError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    # `failed` is not the kubelet's: the round that the summary was read for could not be planned.
    expected = {kind.reason for kind in kinds} | {"failed"}
    assert firsts("outcomes.md", "Why the summary of a node was not read") == expected
    assert len(kinds) > 5
